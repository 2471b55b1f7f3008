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

/* Where a frame's last word begins, if it is a number such as a weight; 0: it is not. */
static size_t last_number(struct str text)
{
	size_t i = text.size;

	while (i && (char_is_digit(text.data[i - 1]) || strchr("-.", text.data[i - 1])))
		i--;
	return i && i < text.size && text.data[i - 1] == ' ' ? i : 0;
}

/* Readers look at so many lines to see whether all have two weights. */
#define DIFFERENCE_LINES 1000

/* The first of several lines that would all look like those of a difference; 0: there are none. */
static uint32_t find_misleading(const struct folded_lines *l)
{
	uint32_t first = 0;
	size_t count = 0;

	for (uint32_t i = 1; i < l->weights.count && count < DIFFERENCE_LINES; i++) {
		if (l->weights.data[i] == 0)
			continue;
		if (last_number(l->texts.strings[l->stacks.nodes.data[i].key]) == 0)
			return 0;
		first = first ? first : i;
		count++;
	}
	return count > 1 && l->weights.data[0] == 0 ? first : 0;
}

/* Escapes the blank before the number at the end of the text. */
static void join_last_number(struct strbuf *text)
{
	size_t at = last_number(strbuf_str(text)), size = text->size - at;

	strbuf_add(text, STR("\\x2"));
	memmove(text->data + at + 3, text->data + at, size);
	memcpy(text->data + at - 1, "\\x20", 4);
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
	uint32_t misleading = find_misleading(l);

	for (uint32_t i = 0; i < l->weights.count; i++) {
		if (l->weights.data[i] == 0)
			continue;
		write_path(l, i, &sink->text);
		if (misleading && i == misleading)
			join_last_number(&sink->text);
		strbuf_printf(&sink->text, " %" PRId64 "\n", l->weights.data[i]);
		if (!sink_settle(sink))
			break;
	}
}
