/*
 * Entries of call graphs as text.  See text_callgraph.h.
 */
#include "text_callgraph.h"

#include <inttypes.h>

static void text_name(
	const struct callgraph *g, uint32_t entity, uint32_t cycle, struct strbuf *out)
{
	if (entity != NO_ID)
		strbuf_add(out, g->entities[entity].name);
	if (cycle != 0)
		strbuf_printf(out, "<%" PRIu32 ">", cycle);
}

static void text_lines(
	const struct callgraph *g, const struct callgraph_range *r, struct strbuf *out)
{
	for (uint32_t i = r->first; i < r->end; i++) {
		const struct callgraph_line *l = &g->lines[i];

		strbuf_add_char(out, ' ');
		if (l->entity == NO_ID)
			strbuf_add(out, STR("*"));
		else
			text_name(g, l->entity, g->entries[l->entry].cycle, out);
		if (l->has_times)
			strbuf_printf(out, ":%" PRId64 "/%" PRId64, l->self, l->children);
		if (l->calls.is_known)
			strbuf_printf(out, "(%" PRIu64, l->calls.count);
		if (l->of.is_known)
			strbuf_printf(out, "/%" PRIu64, l->of.count);
		if (l->calls.is_known)
			strbuf_add_char(out, ')');
	}
}

const char *text_callgraph_entry(const struct callgraph *g, size_t i, struct strbuf *out)
{
	const struct callgraph_entry *e = &g->entries[i];

	strbuf_clear(out);
	text_name(g, e->entity, e->cycle, out);
	strbuf_printf(out, ":%" PRId64 "/%" PRId64, e->self, e->children);
	if (e->outside.is_known)
		strbuf_printf(out, "(%" PRIu64 "+%" PRIu64 ")", e->outside.count, e->inside.count);
	strbuf_add(out, STR(" <"));
	text_lines(g, &e->parts[CALLGRAPH_CALLERS], out);
	strbuf_add(out, STR(" |"));
	text_lines(g, &e->parts[CALLGRAPH_MEMBERS], out);
	strbuf_add(out, STR(" >"));
	text_lines(g, &e->parts[CALLGRAPH_CALLEES], out);
	return strbuf_str(out).data;
}
