/*
 * The time outside zones of threads that end no frames.
 *
 * Such threads mostly wait for work: with fifteen of them, a frame's own zones are 6 % of all time,
 * however slow.  So that time is in no zone's figures and in no share (semantics.md, "Zones and
 * ticks"); prof.h's own displays and `sonde live` do the same (zonereport/history.c).
 */
#include <stdlib.h>

#include "analysis/ticks.h"
#include "analysis/zones.h"
#include "base/alloc.h"

struct ending {
	const struct selection *selection;
	metric_id time;
	bool *is_shown;	     /* [thread] some sample of it is */
	bool *ends_frames;   /* [thread] */
	bool *process_shows; /* [process] some shown thread of it ends frames */
};

static bool is_shown_tick(const struct selection *s, uint32_t tick)
{
	return s->profile->ticks[tick].thread.i != NO_ID &&
	       (s->tick_kept == NULL || s->tick_kept[tick]);
}

static void ending_init(struct ending *e, const struct selection *selection,
	const struct tick_runs *runs, metric_id time)
{
	const struct profile *p = selection->profile;

	*e = (struct ending){.selection = selection,
		.time = time,
		.is_shown = xcalloc(p->thread_count + 1, sizeof(*e->is_shown)),
		.ends_frames = xcalloc(p->thread_count + 1, sizeof(*e->ends_frames)),
		.process_shows = xcalloc(p->process_count + 1, sizeof(*e->process_shows))};
	for (size_t i = 0; i < p->samples.count; i++)
		if (selection_shows_sample(selection, i))
			e->is_shown[p->samples.thread[i].i] = true;
	for (size_t k = 0; k < p->process_count; k++)
		for (uint32_t i = runs->first[k]; i < runs->end[k]; i++) {
			if (!is_shown_tick(selection, i))
				continue;
			thread_id thread = p->ticks[i].thread;

			e->ends_frames[thread.i] = true;
			e->process_shows[p->threads[thread.i].process.i] |= e->is_shown[thread.i];
		}
}

static void ending_deinit(struct ending *e)
{
	free(e->is_shown);
	free(e->ends_frames);
	free(e->process_shows);
}

/* A row of a thread's outermost zone, which stands for its whole life. */
static bool is_frameless(const struct ending *e, size_t sample)
{
	const struct profile *p = e->selection->profile;
	const struct samples *s = &p->samples;
	uint32_t thread = s->thread[sample].i, zone = s->zone[sample].i;

	return s->weight[e->time.i][sample] != 0 && !e->ends_frames[thread] &&
	       e->process_shows[p->threads[thread].process.i] && zone != 0 &&
	       profile_stack_parent(p, zone) == 0 && selection_shows_sample(e->selection, sample);
}

const struct selection *zones_without_frameless(
	const struct selection *selection, struct arena *arena, struct zones_frameless *frameless)
{
	const struct profile *p = selection->profile;
	struct ending ending;
	struct tick_runs runs;
	metric_id time;
	bool *dropped, *counted;

	*frameless = (struct zones_frameless){0};
	if (p->samples.thread == NULL || p->samples.zone == NULL || p->tick_count == 0 ||
		!profile_find_metric(p, STR(ZONE_TIME), &time))
		return selection;
	struct error *err = tick_runs_init(&runs, p, selection->tick_stream, arena);
	if (err) {
		error_destroy(err);
		return selection;
	}
	ending_init(&ending, selection, &runs, time);
	dropped = xcalloc(p->samples.count, sizeof(*dropped));
	counted = xcalloc(p->thread_count, sizeof(*counted));
	for (size_t i = 0; i < p->samples.count; i++) {
		if (!is_frameless(&ending, i))
			continue;
		dropped[i] = true;
		frameless->weight += p->samples.weight[time.i][i];
		frameless->threads += !counted[p->samples.thread[i].i];
		counted[p->samples.thread[i].i] = true;
	}
	if (frameless->threads)
		selection = selection_without(selection, dropped, arena);
	free(dropped);
	free(counted);
	ending_deinit(&ending);
	return selection;
}
