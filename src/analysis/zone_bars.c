/*
 * Zones of threads over time.  See zone_bars.h.
 *
 * A thread is walked from zone stack to zone stack.  A zone that was entered stays open until the
 * stack no longer holds it; then it becomes a bar, if it is long enough to be seen.  Shorter ones
 * wait in the bundle of their depth, which is one bar named after the function that had most of its
 * time, as in Perfetto's and Tracy's timelines.
 */
#include "analysis/zone_bars.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/lanes.h"
#include "analysis/time_slices.h"
#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/vec.h"

#define BUNDLE_MAX 4u /* times least_ns */
/* Between samples of a metric other than time, where the interval is unknown. */
#define SAMPLE_GAP_NS 1000000u
#define NO_LEVEL      UINT32_MAX

/* A zone that was entered. */
struct open_zone {
	uint32_t stack;
	uint64_t start_ns;
};

/* Short zones of one depth that wait to be one bar; count 0: none do. */
struct bundle {
	uint64_t start_ns, end_ns, busy_ns;
	uint32_t count, stack;
	uint64_t most_ns;   /* the time of that stack's function */
	uint64_t *function; /* [function] time; only what was touched is not 0 */
	VEC(uint32_t) touched;
};

struct walk {
	const struct profile *profile;
	const struct zone_bars_wanted *wanted;
	uint32_t thread;
	bool is_measured;
	uint32_t *level; /* [stack] zones below _global; NO_LEVEL: not yet known */
	uint32_t *top;	 /* [stack] its caller of level ZONE_BARS_DEPTH, or itself if shallower */
	uint32_t levels_max;
	struct open_zone open[ZONE_BARS_DEPTH];
	uint32_t open_count;
	struct bundle bundles[ZONE_BARS_DEPTH];
	VEC(uint32_t) path;
	VEC(struct zone_bar) bars;
};

static uint32_t function_of(const struct walk *w, uint32_t stack)
{
	return w->profile->frames[w->profile->stack_frame[stack].i].function.i;
}

/* Whether a root is not a zone that the program marked. */
static bool is_base(const struct walk *w, uint32_t stack)
{
	struct str name =
		profile_string(w->profile, w->profile->functions[function_of(w, stack)].name);

	return str_equal(name, STR("_global")) || str_equal(name, STR("[unknown]"));
}

/* Finds level and top of a stack, and of its callers that do not have them yet. */
static void find_level(struct walk *w, uint32_t stack)
{
	w->path.count = 0;
	for (; w->level[stack] == NO_LEVEL; stack = profile_stack_parent(w->profile, stack))
		vec_push(&w->path, stack);
	while (w->path.count) {
		uint32_t at = w->path.data[--w->path.count];
		uint32_t caller = profile_stack_parent(w->profile, at);

		w->level[at] = caller == 0 && is_base(w, at) ? 0 : w->level[caller] + 1;
		w->top[at] = w->level[at] > ZONE_BARS_DEPTH ? w->top[caller] : at;
	}
}

static void flush(struct walk *w, uint32_t depth)
{
	struct bundle *b = &w->bundles[depth];

	if (b->count == 0)
		return;
	vec_push(&w->bars, (struct zone_bar){w->thread, depth, b->stack, b->count, b->start_ns,
				   b->end_ns, b->busy_ns, w->is_measured});
	for (size_t i = 0; i < b->touched.count; i++)
		b->function[b->touched.data[i]] = 0;
	b->touched.count = 0;
	b->count = 0;
	b->busy_ns = b->most_ns = 0;
}

static void bundle(
	struct walk *w, uint32_t depth, uint32_t stack, uint64_t start_ns, uint64_t end_ns)
{
	struct bundle *b = &w->bundles[depth];
	uint64_t least_ns = w->wanted->least_ns;
	uint32_t function = function_of(w, stack);

	if (b->count &&
		(start_ns - b->end_ns > least_ns || end_ns - b->start_ns > BUNDLE_MAX * least_ns))
		flush(w, depth);
	if (b->function == NULL)
		b->function = xcalloc(w->profile->function_count, sizeof(*b->function));
	if (b->count == 0)
		b->start_ns = start_ns;
	if (b->function[function] == 0)
		vec_push(&b->touched, function);
	b->end_ns = end_ns;
	b->busy_ns += end_ns - start_ns;
	b->function[function] += end_ns - start_ns;
	if (b->count == 0 || b->function[function] > b->most_ns) {
		b->most_ns = b->function[function];
		b->stack = stack;
	}
	b->count++;
}

static void leave(struct walk *w, uint32_t depth, uint64_t end_ns)
{
	uint32_t stack = w->open[depth].stack;
	uint64_t start_ns = w->open[depth].start_ns;

	if (end_ns < w->wanted->from_ns || start_ns > w->wanted->to_ns)
		return;
	if (end_ns - start_ns < w->wanted->least_ns) {
		bundle(w, depth, stack, start_ns, end_ns);
		return;
	}
	flush(w, depth);
	vec_push(&w->bars, (struct zone_bar){w->thread, depth, stack, 1, start_ns, end_ns,
				   end_ns - start_ns, w->is_measured});
}

/* The thread changes to another zone stack. */
static void move(struct walk *w, uint32_t stack, uint64_t time_ns)
{
	uint32_t path[ZONE_BARS_DEPTH], count, same = 0;

	find_level(w, stack);
	if (w->level[stack] > w->levels_max)
		w->levels_max = w->level[stack];
	stack = w->top[stack];
	count = w->level[stack];
	for (uint32_t i = count; i-- > 0; stack = profile_stack_parent(w->profile, stack))
		path[i] = stack;
	while (same < count && same < w->open_count && w->open[same].stack == path[same])
		same++;
	while (w->open_count > same)
		leave(w, --w->open_count, time_ns);
	for (; w->open_count < count; w->open_count++)
		w->open[w->open_count] = (struct open_zone){path[w->open_count], time_ns};
}

/* A total order: not every C library's qsort is stable. */
static int compare_bars(const void *a, const void *b)
{
	const struct zone_bar *x = a, *y = b;

	/* Of bars that start together, all but the last are empty. */
	return COMPARE(x->depth, y->depth)
		?: COMPARE(x->start_ns, y->start_ns)
		?: COMPARE(x->end_ns, y->end_ns)
		?: COMPARE(x->stack, y->stack);
}

/* Ends the walk of a thread whose bars begin there. */
static void end_thread(struct walk *w, size_t first, uint64_t time_ns)
{
	move(w, 0, time_ns);
	for (uint32_t depth = 0; depth < ZONE_BARS_DEPTH; depth++)
		flush(w, depth);
	if (w->bars.count > first)
		qsort(w->bars.data + first, w->bars.count - first, sizeof(*w->bars.data),
			compare_bars);
}

/* last_ns: of the thread's samples. */
static bool walk_events(struct walk *w, uint64_t last_ns)
{
	const struct zone_events *e = &w->profile->zone_events;
	size_t start = partition_point(i, (size_t)0, e->count, e->thread[i].i < w->thread);
	size_t at = start, first = w->bars.count;

	w->is_measured = true;
	for (; at < e->count && e->thread[at].i == w->thread; at++)
		move(w, e->stack[at].i, e->time_ns[at]);
	if (at == start)
		return false;
	end_thread(w, first, e->time_ns[at - 1] > last_ns ? e->time_ns[at - 1] : last_ns);
	return true;
}

/* ---- zones as samples saw them ---- */

struct seen {
	const struct selection *selection;
	struct time_lasting lasting;
	const int64_t *weight; /* [sample] on the CPU */
	bool is_time;	       /* in ns */
	/* [thread]: 1 + its place among those asked for; 0: not asked for. */
	uint32_t *place;
	VEC(struct sort_item) items; /* of these threads: by time */
	uint64_t *last_ns;	     /* [place] of any sample */
};

static void collect(struct seen *s, const struct zone_bars_wanted *wanted)
{
	const struct samples *samples = &s->selection->profile->samples;

	s->place = xcalloc(s->selection->profile->thread_count, sizeof(*s->place));
	s->last_ns = xcalloc(wanted->thread_count + 1, sizeof(*s->last_ns));
	for (size_t i = 0; i < wanted->thread_count; i++)
		s->place[wanted->threads[i]] = (uint32_t)i + 1;
	for (size_t i = 0; i < samples->count; i++) {
		uint32_t place = s->place[samples->thread[i].i];

		if (place == 0)
			continue;
		if (samples->time_ns[i] > s->last_ns[place - 1])
			s->last_ns[place - 1] = samples->time_ns[i];
		if (samples->zone && selection_shows_sample(s->selection, i) &&
			(s->weight[i] > 0 || time_lasting_ns(&s->lasting, i) > 0))
			vec_push(&s->items, (struct sort_item){samples->time_ns[i], (uint32_t)i});
	}
	sort_items(s->items.data, s->items.count);
	for (size_t i = 0; i < s->items.count; i++)
		s->items.data[i].key = s->place[samples->thread[s->items.data[i].index].i];
	sort_items(s->items.data, s->items.count);
}

static uint64_t length_of(const struct seen *s, size_t sample)
{
	uint64_t interval_ns = s->selection->profile->stats.interval_ns;

	if (s->is_time)
		return (uint64_t)s->weight[sample];
	return interval_ns == UINT64_MAX ? SAMPLE_GAP_NS : interval_ns;
}

static void walk_samples(
	struct walk *w, const struct seen *s, const struct sort_item *items, size_t count)
{
	const struct samples *samples = &w->profile->samples;
	size_t first = w->bars.count;
	uint64_t end_ns = 0;

	w->is_measured = false;
	for (size_t i = 0; i < count; i++) {
		size_t sample = items[i].index;
		uint64_t time_ns = samples->time_ns[sample],
			 lasts_ns = time_lasting_ns(&s->lasting, sample);
		uint64_t length_ns = lasts_ns ? 0 : length_of(s, sample);
		uint64_t start_ns = time_ns > length_ns ? time_ns - length_ns : 0;

		/* Half an interval is how far a sample may be late. */
		if (start_ns < end_ns || start_ns - end_ns <= length_ns / 2)
			start_ns = end_ns;
		else
			move(w, 0, end_ns);
		move(w, selection_zone(s->selection, sample), start_ns);
		if (time_ns + lasts_ns > end_ns)
			end_ns = time_ns + lasts_ns;
	}
	end_thread(w, first, end_ns);
}

static void walk_threads(struct walk *w, const struct seen *s)
{
	size_t at = 0;

	for (size_t i = 0; i < w->wanted->thread_count; i++) {
		size_t first = at;

		while (at < s->items.count && s->items.data[at].key == i + 1)
			at++;
		w->thread = w->wanted->threads[i];
		if (!walk_events(w, s->last_ns[i]) && at > first)
			walk_samples(w, s, s->items.data + first, at - first);
	}
}

struct zone_bars *zone_bars_analyse(const struct selection *selection,
	const struct zone_bars_wanted *wanted, struct arena *arena)
{
	const struct profile *p = selection->profile;
	struct zone_bars *bars = ARENA_NEW(arena, struct zone_bars);
	struct zone_bar *copy;
	metric_id cpu = lanes_metric(p, p->default_metric);
	struct walk w = {.profile = p,
		.wanted = wanted,
		.level = xcalloc(p->stack_count, sizeof(uint32_t)),
		.top = xcalloc(p->stack_count, sizeof(uint32_t))};
	struct seen s = {.selection = selection, .lasting = time_lasting_of(p)};

	s.weight = p->samples.weight[cpu.i];
	s.is_time = str_equal(profile_string(p, p->metrics[cpu.i].unit), STR("ns"));
	memset(w.level, 0xff, p->stack_count * sizeof(*w.level));
	w.level[0] = 0;
	collect(&s, wanted);
	walk_threads(&w, &s);
	copy = ARENA_ARRAY(arena, struct zone_bar, w.bars.count);
	if (w.bars.count)
		memcpy(copy, w.bars.data, w.bars.count * sizeof(*copy));
	*bars = (struct zone_bars){copy, w.bars.count, w.levels_max};
	for (uint32_t depth = 0; depth < ZONE_BARS_DEPTH; depth++) {
		free(w.bundles[depth].function);
		vec_deinit(&w.bundles[depth].touched);
	}
	vec_deinit(&w.path);
	vec_deinit(&w.bars);
	vec_deinit(&s.items);
	free(w.level);
	free(w.top);
	free(s.place);
	free(s.last_ns);
	return bars;
}
