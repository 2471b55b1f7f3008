/*
 * Writes folded stacks, as formats/folded/reader.c reads them; docs/formats/folded.md defines the
 * output exactly.  Frames are only names, so stacks with the same text are summed.
 */
#include "base/folded_lines.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "formats/writers.h"

/* [function]: the number of its text; the caller frees it. */
static uint32_t *make_texts(struct folded_lines *lines, const struct profile *p, bool with_modules)
{
	uint32_t *text_of = xcalloc(p->function_count ? p->function_count : 1, sizeof(*text_of));
	struct strbuf text = {0};

	for (size_t i = 0; i < p->function_count; i++) {
		const struct function *f = &p->functions[i];
		strbuf_clear(&text);
		escape_folded(&text, profile_string(p, f->name), profile_module(p, f->object),
			with_modules);
		text_of[i] = folded_lines_text(lines, strbuf_str(&text));
	}
	strbuf_deinit(&text);
	return text_of;
}

static struct error *folded_write(
	struct sink *sink, const struct profile *p, const struct writer_options *options)
{
	struct folded_lines lines;
	size_t metric = options->metric.i;

	folded_lines_init(&lines);
	uint32_t *text_of = make_texts(&lines, p, options->with_modules);
	uint32_t *stack_of = xcalloc(p->stack_count, sizeof(*stack_of));
	folded_lines_add(&lines, 0, profile_weight(p, metric, 0));
	for (uint32_t i = 1; i < p->stack_count; i++) {
		const struct frame *frame = &p->frames[p->stack_frame[i].i];
		stack_of[i] = folded_lines_stack(
			&lines, stack_of[profile_stack_parent(p, i)], text_of[frame->function.i]);
		folded_lines_add(&lines, stack_of[i], profile_weight(p, metric, i));
	}
	free(stack_of);
	free(text_of);
	folded_lines_write(&lines, sink);
	folded_lines_deinit(&lines);
	return NULL;
}

const struct writer writer_folded = {
	.name = "folded",
	.extension = ".folded",
	.summary = "folded stacks, one a line; one metric",
	.write = folded_write,
};
