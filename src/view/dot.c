/*
 * The call graph as a drawing in Graphviz's DOT language ("The DOT Language", graphviz.org).  See
 * dot.h.  Functions that the report leaves out have no boxes, and calls to them no arrows; the
 * label shows how many.
 */
#include "view/dot.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "view/graph_rows.h"
#include "view/text/heading.h"
#include "view/text/place.h"
#include "view/text/units.h"

/* Arrows of less than a thousandth of the total are left out, unless they are within a cycle. */
#define ARROW_PARTS 1000

struct dot {
	struct strbuf *out;
	struct sink *sink;
	const struct report *report;
	const struct callgraph *graph;
	const struct scale *scale;
	bool *is_shown; /* [entry] */
	size_t shown, hidden, arrows_hidden;
};

/* Adds the inside of a quoted string: no quotes, DOT escapes or HTML entities. */
static void escape_dot(struct strbuf *out, struct str s)
{
	struct strbuf safe = {0};

	escape_text(&safe, s);
	for (size_t i = 0; i < safe.size; i++) {
		char c = safe.data[i];

		if (c == '"' || c == '\\')
			strbuf_add_char(out, '\\');
		if (c == '&')
			strbuf_add(out, STR("&amp;"));
		else
			strbuf_add_char(out, c);
	}
	strbuf_deinit(&safe);
}

static void dot_init(struct dot *d, struct sink *sink, const struct report *report)
{
	const struct callgraph *graph = report->callgraph;
	struct str unit = profile_string(report->profile, report_metric(report).unit);
	uint64_t total = graph->total < 0 ? -(uint64_t)graph->total : (uint64_t)graph->total;

	*d = (struct dot){.out = &sink->text,
		.sink = sink,
		.report = report,
		.graph = graph,
		.scale = scale_for(unit, total)};
	d->is_shown = xcalloc(graph->entry_count, sizeof(*d->is_shown));
	for (size_t place = 0; place < report->count; place++) {
		struct graph_row row = graph_row(report, report_row(report, place));

		if (row.line == NULL && row.entry->entity != NO_ID)
			d->is_shown[row.index] = true;
	}
	for (size_t i = 0; i < graph->entry_count; i++) {
		d->shown += d->is_shown[i];
		d->hidden += graph->entries[i].entity != NO_ID && !d->is_shown[i];
	}
}

/* Describes the picture: the lines of the text report's heading, and its notes. */
static void put_heading(struct dot *d)
{
	const struct profile *p = d->report->profile;
	struct text_style style = {.utf8 = true};
	struct sink sink = {.fd = -1};
	struct text text = {.sink = &sink, .style = &style};

	heading_draw(&text, d->report);
	struct str rest = strbuf_str(&sink.text);
	strbuf_add(d->out, STR("  label=\""));
	while (rest.size) {
		escape_dot(d->out, str_take_line(&rest));
		strbuf_add(d->out, STR("\\l"));
	}
	strbuf_deinit(&sink.text);
	for (size_t i = 0; i < p->note_count; i++) {
		strbuf_add(d->out, STR("note: "));
		if (note_shows_count(&p->notes[i]))
			strbuf_printf(d->out, "%" PRIu64 " ", p->notes[i].count);
		escape_dot(d->out, profile_string(p, p->notes[i].text));
		strbuf_add(d->out, STR("\\l"));
	}
	if (d->graph->is_estimated)
		strbuf_add(d->out, STR("arrows are estimated from counts of calls\\l"));
	if (d->hidden)
		strbuf_printf(d->out, "%zu more functions (--limit 0 shows all)\\l", d->hidden);
	strbuf_add(d->out, STR("\";\n"));
}

/* White is nothing, red is the whole total. */
static uint32_t colour_of(const struct dot *d, int64_t weight)
{
	__int128 size = weight < 0 ? -(__int128)weight : weight;
	__int128 total = d->graph->total < 0 ? -(__int128)d->graph->total : d->graph->total;
	uint32_t rest = total == 0 || size > total ? 0 : (uint32_t)((total - size) * 170 / total);

	/* In a difference, blue is less. */
	if (weight < 0)
		return (85 + rest) << 16 | (85 + rest) << 8 | 255;
	return 255u << 16 | (85 + rest) << 8 | (85 + rest);
}

static void put_weight(struct dot *d, int64_t weight)
{
	struct strbuf text = {0};

	scale_put(&text, d->scale, weight);
	strbuf_add(&text, STR(" ("));
	percent_put(&text, weight, d->graph->total);
	strbuf_add_char(&text, ')');
	escape_dot(d->out, strbuf_str(&text));
	strbuf_deinit(&text);
}

static void put_name(struct dot *d, const struct callgraph_entry *entry)
{
	const struct entity *entity = &d->graph->entities[entry->entity];
	struct strbuf label = {0}, name = {0};

	strbuf_add(&name, entity_label_apart(entity, &label));
	place_put(&name, d->report->query.level, entity);
	escape_dot(d->out, strbuf_str(&name));
	strbuf_deinit(&name);
	strbuf_deinit(&label);
	if (entity->module.size && d->report->query.level != LEVEL_MODULE) {
		strbuf_add(d->out, STR("\\n"));
		escape_dot(d->out, entity->module);
	}
}

/* "name, module, self, of self + children". */
static void put_node(struct dot *d, size_t i)
{
	const struct callgraph_entry *entry = &d->graph->entries[i];
	int64_t all = entry->self + entry->children;

	strbuf_printf(d->out, "  n%zu [label=\"", i + 1);
	put_name(d, entry);
	if (entry->cycle)
		strbuf_printf(d->out, "\\ncycle %" PRIu32, entry->cycle);
	strbuf_add(d->out, STR("\\n"));
	put_weight(d, entry->self);
	if (entry->children) {
		strbuf_add(d->out, STR("\\nof "));
		put_weight(d, all);
	}
	strbuf_printf(d->out, "\", fillcolor=\"#%06" PRIx32 "\"];\n", colour_of(d, all));
	(void)sink_settle(d->sink);
}

/* From a pen's width of 1 to 5. */
static double pen_of(const struct dot *d, int64_t weight)
{
	double total = (double)d->graph->total, part = total != 0 ? (double)weight / total : 0;

	part = part < 0 ? -part : part;
	return 1 + 4 * (part > 1 ? 1 : part);
}

static void put_arrow(struct dot *d, size_t from, const struct callgraph_line *line)
{
	int64_t weight = line->self + line->children;
	__int128 size = weight < 0 ? -(__int128)weight : weight;
	__int128 total = d->graph->total < 0 ? -(__int128)d->graph->total : d->graph->total;

	if (line->entry == NO_ID || !d->is_shown[line->entry])
		return;
	if (line->has_times && d->report->query.limit != 0 && size * ARROW_PARTS < total) {
		d->arrows_hidden++;
		return;
	}
	strbuf_printf(d->out, "  n%zu -> n%" PRIu32 " [", from + 1, line->entry + 1);
	if (line->has_times) {
		strbuf_add(d->out, STR("label=\""));
		put_weight(d, weight);
		if (line->calls.is_known)
			strbuf_printf(d->out, "\\n%" PRIu64 "×", line->calls.count);
		strbuf_printf(d->out, "\", penwidth=%.1f", pen_of(d, weight));
	} else {
		if (line->calls.is_known)
			strbuf_printf(d->out, "label=\"%" PRIu64 "×\", ", line->calls.count);
		strbuf_add(d->out, STR("style=dashed"));
	}
	strbuf_add(d->out, STR("];\n"));
	(void)sink_settle(d->sink);
}

static void put_arrows(struct dot *d, size_t i)
{
	const struct callgraph_entry *entry = &d->graph->entries[i];
	struct callgraph_range callees = entry->parts[CALLGRAPH_CALLEES];

	for (uint32_t k = callees.first; k < callees.end; k++)
		put_arrow(d, i, &d->graph->lines[k]);
	if (entry->inside.count > 0)
		strbuf_printf(d->out, "  n%zu -> n%zu [label=\"%" PRIu64 "×\", style=dashed];\n",
			i + 1, i + 1, entry->inside.count);
}

void dot_draw(struct sink *sink, const struct report *report)
{
	struct dot d;

	dot_init(&d, sink, report);
	strbuf_add(d.out, STR("digraph \"call graph\" {\n"));
	put_heading(&d);
	strbuf_add(d.out, STR("  labelloc=t; labeljust=l; fontname=\"Helvetica\";\n"
			      "  node [shape=box, style=filled, fontname=\"Helvetica\"];\n"
			      "  edge [fontname=\"Helvetica\", fontsize=10];\n"));
	for (size_t i = 0; i < d.graph->entry_count; i++)
		if (d.is_shown[i])
			put_node(&d, i);
	for (size_t i = 0; i < d.graph->entry_count; i++)
		if (d.is_shown[i])
			put_arrows(&d, i);
	if (d.arrows_hidden)
		strbuf_printf(d.out, "  // %zu arrows of less than a thousandth are left out\n",
			d.arrows_hidden);
	strbuf_add(d.out, STR("}\n"));
	free(d.is_shown);
}
