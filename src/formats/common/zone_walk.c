/*
 * Walks the zones that threads enter and leave.  See zone_walk.h.
 *
 * An event has a thread's zone stack from that time on.  Between two events, the zones that are
 * only in the first stack are left, and those only in the second are entered.
 */
#include "formats/common/zone_walk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "formats/common/exporter.h"

struct zone_walker {
	const struct profile *profile;
	void *context;
	zone_visit *enter, *leave;
	uint32_t *depth;    /* [stack]: how many frames it has */
	uint64_t *last_ns;  /* [thread]: time of its last zone row */
	uint64_t *total_ns; /* [thread]: sum of the time in its zone rows */
	VEC(uint32_t) path; /* scratch: stacks to enter, innermost first */
};

static void measure_threads(struct zone_walker *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	metric_id zone_time;

	w->last_ns = xcalloc(p->thread_count, sizeof(*w->last_ns));
	w->total_ns = xcalloc(p->thread_count, sizeof(*w->total_ns));
	if (s->thread == NULL || s->time_ns == NULL ||
		!profile_find_metric(p, STR(ZONE_TIME), &zone_time))
		return;
	for (size_t i = 0; i < s->count; i++) {
		uint32_t thread = s->thread[i].i;
		int64_t time = s->weight[zone_time.i][i];

		if (time == 0)
			continue;
		if (s->time_ns[i] > w->last_ns[thread])
			w->last_ns[thread] = s->time_ns[i];
		w->total_ns[thread] += (uint64_t)time;
	}
}

/* Leaves the zones that are only in `from`, innermost first, and enters those only in `to`. */
static void change(
	struct zone_walker *w, uint32_t thread, uint32_t from, uint32_t to, uint64_t time_ns)
{
	w->path.count = 0;
	while (from != to) {
		if (w->depth[to] > w->depth[from]) {
			vec_push(&w->path, to);
			to = profile_stack_parent(w->profile, to);
		} else {
			w->leave(w->context, thread, from, time_ns);
			from = profile_stack_parent(w->profile, from);
		}
	}
	while (w->path.count > 0)
		w->enter(w->context, thread, w->path.data[--w->path.count], time_ns);
}

/* When a thread left the zones that are open after its last event. */
static uint64_t end_of(
	const struct zone_walker *w, uint32_t thread, uint64_t first_ns, uint64_t last_ns)
{
	uint64_t told_ns = last_ns - first_ns, total_ns = w->total_ns[thread];
	uint64_t end_ns = last_ns + (total_ns > told_ns ? total_ns - told_ns : 0);

	if (end_ns > w->last_ns[thread])
		end_ns = w->last_ns[thread];
	return end_ns > last_ns ? end_ns : last_ns;
}

static void walk_events(struct zone_walker *w)
{
	const struct zone_events *e = &w->profile->zone_events;
	uint64_t first_ns = 0;
	uint32_t at = 0;

	for (size_t i = 0; i < e->count; i++) {
		uint32_t thread = e->thread[i].i;
		bool is_first = i == 0 || e->thread[i - 1].i != thread;
		bool is_last = i + 1 == e->count || e->thread[i + 1].i != thread;

		if (is_first)
			first_ns = e->time_ns[i];
		change(w, thread, at, e->stack[i].i, e->time_ns[i]);
		at = e->stack[i].i;
		if (!is_last)
			continue;
		change(w, thread, at, 0, end_of(w, thread, first_ns, e->time_ns[i]));
		at = 0;
	}
}

void zone_walk(const struct profile *p, void *context, zone_visit *enter, zone_visit *leave)
{
	struct zone_walker w = {.profile = p,
		.context = context,
		.enter = enter,
		.leave = leave,
		.depth = exporter_depths(p)};

	measure_threads(&w);
	walk_events(&w);
	free(w.depth);
	free(w.last_ns);
	free(w.total_ns);
	vec_deinit(&w.path);
}

bool is_of_zones(const struct profile *p, metric_id metric)
{
	struct str name = profile_string(p, p->metrics[metric.i].name);

	return str_equal(name, STR(ZONE_TIME)) || str_equal(name, STR(ZONE_ENTRIES));
}
