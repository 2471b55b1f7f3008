/*
 * Lanes of threads over time: the timeline that a page draws.  Which part of the CPU time is the
 * kernel's follows from the load object of a stack's leaf.
 */
#include "analysis/lanes.h"

#include <stdlib.h>

#include "base/alloc.h"

const char *const lane_kind_names[LANE_KIND_COUNT + 1] = {
	"user", "kernel", "blocked", "preempted", NULL};

struct weighing {
	const struct selection *selection;
	struct time_slices slices;
	struct time_lasting lasting;
	const int64_t *cpu, *blocked, *preempted; /* [sample]; NULL: there is no such metric */
	struct lane *lane;			  /* [thread] */
	struct arena *arena;
};

static const int64_t *column(const struct profile *p, struct str name)
{
	metric_id metric;

	return profile_find_metric(p, name, &metric) ? p->samples.weight[metric.i] : NULL;
}

static bool is_in_kernel(const struct profile *p, uint32_t stack)
{
	object_id object;

	if (stack == 0)
		return false;
	object = p->functions[p->frames[p->stack_frame[stack].i].function.i].object;
	return object.i != NO_ID && p->objects[object.i].kind == OBJECT_KERNEL;
}

static void weigh(struct weighing *w, size_t sample, enum lane_kind kind, int64_t weight)
{
	const struct samples *s = &w->selection->profile->samples;
	struct lane *lane = &w->lane[s->thread ? s->thread[sample].i : 0];

	if (weight == 0)
		return;
	if (lane->weight[kind] == NULL)
		lane->weight[kind] = ARENA_ARRAY(w->arena, int64_t, w->slices.count);
	lane->total[kind] += weight;
	time_slices_add(&w->slices, (int64_t *)(uintptr_t)lane->weight[kind], s->time_ns[sample],
		time_lasting_ns(&w->lasting, sample), weight);
}

static void weigh_sample(struct weighing *w, size_t sample)
{
	const struct profile *p = w->selection->profile;
	bool in_kernel = is_in_kernel(p, p->samples.stack[sample].i);

	weigh(w, sample, in_kernel ? LANE_KERNEL : LANE_USER, w->cpu[sample]);
	if (w->blocked)
		weigh(w, sample, LANE_BLOCKED, w->blocked[sample]);
	if (w->preempted)
		weigh(w, sample, LANE_PREEMPTED, w->preempted[sample]);
}

static bool is_empty(const struct lane *lane)
{
	for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++)
		if (lane->weight[kind])
			return false;
	return true;
}

static int64_t busy(const struct lane *lane)
{
	return lane->total[LANE_USER] + lane->total[LANE_KERNEL];
}

struct ordering {
	const struct profile *profile;
	const int64_t *of_process;
};

static int lanes_compare(const void *a, const void *b, void *context)
{
	const struct lane *x = a, *y = b;
	const struct ordering *o = context;

	if (x->thread != NO_ID && y->thread != NO_ID) {
		uint32_t i = o->profile->threads[x->thread].process.i,
			 k = o->profile->threads[y->thread].process.i;

		if (i != k && o->of_process[i] != o->of_process[k])
			return o->of_process[i] < o->of_process[k] ? 1 : -1;
		if (i != k)
			return i < k ? -1 : 1;
	}
	if (busy(x) != busy(y))
		return busy(x) < busy(y) ? 1 : -1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void order(const struct profile *p, struct lane *lanes, size_t count)
{
	int64_t *of_process = xcalloc(p->process_count + 1, sizeof(*of_process));
	struct ordering o = {p, of_process};

	for (size_t i = 0; i < count; i++)
		if (lanes[i].thread != NO_ID)
			of_process[p->threads[lanes[i].thread].process.i] += busy(&lanes[i]);
	qsort_r(lanes, count, sizeof(*lanes), lanes_compare, &o);
	free(of_process);
}

metric_id lanes_metric(const struct profile *profile, metric_id metric)
{
	(void)profile_find_metric(profile, STR("cpu-time"), &metric);
	return metric;
}

struct time_slices lanes_span(const struct selection *selection, uint32_t count)
{
	const struct samples *s = &selection->profile->samples;
	struct time_lasting lasting = time_lasting_of(selection->profile);
	uint64_t begin_ns = UINT64_MAX, end_ns = 0;

	for (size_t i = 0; i < s->count; i++) {
		uint64_t last_ns;

		if (!selection_shows_sample(selection, i))
			continue;
		last_ns = s->time_ns[i] + time_lasting_ns(&lasting, i);
		begin_ns = s->time_ns[i] < begin_ns ? s->time_ns[i] : begin_ns;
		end_ns = last_ns > end_ns ? last_ns : end_ns;
	}
	if (begin_ns > end_ns)
		return (struct time_slices){.slice_ns = 1};
	return (struct time_slices){begin_ns, (end_ns - begin_ns) / count + 1, count};
}

struct lanes *lanes_analyse(const struct selection *selection, metric_id metric,
	struct time_slices slices, struct arena *arena)
{
	const struct profile *p = selection->profile;
	size_t threads = p->samples.thread ? p->thread_count : 1;
	struct lanes *lanes = ARENA_NEW(arena, struct lanes);
	struct lane *lane = ARENA_ARRAY(arena, struct lane, threads);
	struct weighing w = {.selection = selection,
		.slices = slices,
		.lasting = time_lasting_of(p),
		.cpu = p->samples.weight[lanes_metric(p, metric).i],
		.blocked = column(p, STR("blocked-time")),
		.preempted = column(p, STR("preempted-time")),
		.lane = lane,
		.arena = arena};

	for (size_t i = 0; i < threads; i++)
		lane[i].thread = p->samples.thread ? (uint32_t)i : NO_ID;
	for (size_t i = 0; i < p->samples.count; i++)
		if (selection_shows_sample(selection, i))
			weigh_sample(&w, i);
	for (size_t i = 0; i < threads; i++)
		if (!is_empty(&lane[i]))
			lane[lanes->count++] = lane[i];
	order(p, lane, lanes->count);
	lanes->slices = slices;
	lanes->lanes = lane;
	return lanes;
}
