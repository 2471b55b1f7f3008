/*
 * Folded stacks, as readers/folded.c reads them; docs/formats/folded.md says what exactly is
 * written.
 *
 * The text knows frames by their names only, so stacks that read the same are summed first, in a
 * tree of their own.  Lines come in the order in which their stacks were first seen, which keeps
 * that order for who reads them.
 */
#include "writers/writers.h"

#include <stdlib.h>

#include "base/escape.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/stack_table.h"

struct folded_writer {
	const struct profile *profile;
	struct sink *sink;
	bool with_modules;
	struct arena *arena;
	struct str_table texts;	   /* of frames, escaped */
	struct stack_table stacks; /* of texts */
	VEC(int64_t) weights;	   /* of stacks */
	VEC(uint32_t) path;	   /* the texts of one stack, leaf first */
};

/* [function]: the number of its text; freed by the caller. */
static uint32_t *intern_texts(struct folded_writer *w)
{
	uint32_t *text_of = xcalloc(w->profile->function_count, sizeof(*text_of));
	struct strbuf text = {0};

	for (size_t i = 0; i < w->profile->function_count; i++) {
		const struct function *f = &w->profile->functions[i];
		strbuf_clear(&text);
		escape_folded(&text, profile_string(w->profile, f->name),
			profile_module(w->profile, f->object), w->with_modules);
		text_of[i] = str_table_intern(&w->texts, strbuf_str(&text));
	}
	strbuf_deinit(&text);
	return text_of;
}

static void merge_stacks(struct folded_writer *w, metric_id metric)
{
	const struct profile *p = w->profile;
	uint32_t *text_of = intern_texts(w);
	stack_id *merged = xcalloc(p->stack_count, sizeof(*merged));

	vec_push(&w->weights, profile_weight(p, metric.i, 0));
	for (size_t i = 1; i < p->stack_count; i++) {
		const struct frame *frame = &p->frames[p->stacks[i].frame.i];
		merged[i] = stack_table_intern(&w->stacks, merged[p->stacks[i].parent.i],
			(frame_id){text_of[frame->function.i]});
		if (merged[i].i == w->weights.count)
			vec_push(&w->weights, 0);
		w->weights.data[merged[i].i] += profile_weight(p, metric.i, i);
	}
	free(merged);
	free(text_of);
}

static void write_path(struct folded_writer *w, uint32_t stack)
{
	struct strbuf *out = &w->sink->text;

	w->path.count = 0;
	while (stack) {
		struct stack s = stack_table_stack(&w->stacks, (stack_id){stack});
		vec_push(&w->path, s.frame.i);
		stack = s.parent.i;
	}
	if (w->path.count == 0) {
		strbuf_add(out, STR("[unknown]"));
		return;
	}
	escape_folded_first(out, w->texts.strings[w->path.data[w->path.count - 1]]);
	for (size_t i = w->path.count - 1; i-- > 0;) {
		strbuf_add_char(out, ';');
		strbuf_add(out, w->texts.strings[w->path.data[i]]);
	}
}

static void write_lines(struct folded_writer *w)
{
	for (uint32_t i = 0; i < w->weights.count; i++) {
		if (w->weights.data[i] == 0)
			continue;
		write_path(w, i);
		strbuf_printf(&w->sink->text, " %lld\n", (long long)w->weights.data[i]);
		if (!sink_settle(w->sink))
			break;
	}
}

static struct error *folded_write(
	struct sink *sink, const struct profile *profile, const struct writer_options *options)
{
	struct folded_writer w = {.profile = profile,
		.sink = sink,
		.with_modules = options->with_modules,
		.arena = arena_create()};

	str_table_init(&w.texts, w.arena);
	stack_table_init(&w.stacks);
	merge_stacks(&w, options->metric);
	write_lines(&w);
	vec_deinit(&w.path);
	vec_deinit(&w.weights);
	stack_table_deinit(&w.stacks);
	str_table_deinit(&w.texts);
	arena_destroy(w.arena);
	return NULL;
}

const struct writer writer_folded = {
	.name = "folded",
	.extension = ".folded",
	.summary = "folded stacks, one a line; one metric",
	.write = folded_write,
};
