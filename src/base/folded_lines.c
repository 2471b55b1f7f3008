/*
 * Lines of folded stacks.  See folded_lines.h; docs/formats/folded.md defines the output exactly.
 */
#include "base/folded_lines.h"

#include <inttypes.h>

#include "base/escape.h"

void folded_lines_init(struct folded_lines *l)
{
	*l = (struct folded_lines){.arena = arena_create()};
	str_table_init(&l->texts, l->arena);
	child_table_init(&l->stacks, 1);
	vec_push(&l->weights, 0);
}

void folded_lines_deinit(struct folded_lines *l)
{
	vec_deinit(&l->path);
	vec_deinit(&l->weights);
	child_table_deinit(&l->stacks);
	str_table_deinit(&l->texts);
	arena_destroy(l->arena);
}

uint32_t folded_lines_text(struct folded_lines *l, struct str text)
{
	return str_table_intern(&l->texts, text);
}

uint32_t folded_lines_stack(struct folded_lines *l, uint32_t parent, uint32_t text)
{
	bool is_new;
	uint32_t stack = child_table_at(&l->stacks, parent, text, &is_new);

	if (is_new)
		vec_push(&l->weights, 0);
	return stack;
}

void folded_lines_add(struct folded_lines *l, uint32_t stack, int64_t weight)
{
	l->weights.data[stack] += weight;
}

static void write_path(struct folded_lines *l, uint32_t stack, struct strbuf *out)
{
	l->path.count = 0;
	for (; stack; stack = l->stacks.nodes.data[stack].parent)
		vec_push(&l->path, l->stacks.nodes.data[stack].key);
	if (l->path.count == 0) {
		strbuf_add(out, STR("[unknown]"));
		return;
	}
	escape_folded_first(out, l->texts.strings[l->path.data[l->path.count - 1]]);
	for (size_t i = l->path.count - 1; i-- > 0;) {
		strbuf_add_char(out, ';');
		strbuf_add(out, l->texts.strings[l->path.data[i]]);
	}
}

void folded_lines_write(struct folded_lines *l, struct sink *sink)
{
	for (uint32_t i = 0; i < l->weights.count; i++) {
		if (l->weights.data[i] == 0)
			continue;
		write_path(l, i, &sink->text);
		strbuf_printf(&sink->text, " %" PRId64 "\n", l->weights.data[i]);
		if (!sink_settle(sink))
			break;
	}
}
