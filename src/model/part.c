/*
 * A part of a profile, rebuilt from its samples.
 */
#include "model/part.h"

#include "model/import.h"

static void copy_samples(struct import *im, const bool *kept)
{
	for (size_t i = 0; i < im->from->samples.count; i++) {
		if (kept == NULL || kept[i])
			import_sample(im, i, import_sample_labels(im, i));
	}
}

static void copy_ticks(struct import *im, const bool *kept)
{
	const struct profile *p = im->from;

	for (size_t i = 0; i < p->tick_count; i++) {
		const struct tick *t = &p->ticks[i];

		if (kept == NULL || kept[i])
			builder_tick(im->to, &(struct tick){.process = im->processes[t->process.i],
						     .stream = import_string(im, t->stream),
						     .number = t->number,
						     .start_ns = t->start_ns,
						     .end_ns = t->end_ns,
						     .thread = import_tick_thread(im, t)});
	}
}

static void forget_whole(struct profile_stats *stats)
{
	stats->expected = stats->foreign = stats->critical = stats->guessed = UINT64_MAX;
	stats->cpu_ns = UINT64_MAX;
}

struct error *profile_part(const struct profile *p, const bool *sample_kept, const bool *tick_kept,
	const char *note, struct profile **part)
{
	struct import im;

	if (p->samples.count == 0)
		return error_new(ERROR_UNSUPPORTED,
			"%.*s has totals only, and no samples that a part could be made of",
			STR_ARG(profile_string(p, p->source)));
	struct arena *scratch = arena_create();
	struct builder *to = builder_create();

	import_init(&im, p, to, scratch);
	import_metrics(&im);
	import_frames(&im);
	import_stacks(&im);
	import_threads(&im);
	import_labels(&im);
	copy_samples(&im, sample_kept);
	copy_ticks(&im, tick_kept);
	import_notes(&im);
	builder_note(to, NOTE_INFO, 1, "%s", note);
	import_header(&im);
	forget_whole(&builder_header(to)->stats);
	arena_destroy(scratch);
	return builder_finish(to, part);
}
