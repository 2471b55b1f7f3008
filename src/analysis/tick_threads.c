/*
 * Ticks by thread, where they overlap: a row of zones has its thread and the end of its tick, to
 * the nanosecond, which identifies the tick.  The ticks of one thread do not overlap, and are found
 * by binary search.
 */
#include "analysis/tick_threads.h"

#include <stdlib.h>

#include "base/search.h"

struct ended {
	uint32_t process, tick;
	uint64_t end_ns;
};

static bool does_overlap(const struct tick *ticks, uint32_t count)
{
	uint64_t end_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (ticks[i].start_ns < end_ns)
			return true;
		end_ns = ticks[i].end_ns;
	}
	return false;
}

static int by_end(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

static int by_thread(const void *a, const void *b)
{
	const struct tick_owned *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (x->tick > y->tick) - (x->tick < y->tick);
}

/*
 * The tick that ended exactly then is the thread's, unless it belongs to another that also ended
 * then.
 */
static void own(uint32_t *owner, const struct ended *ended, size_t count, uint32_t process,
	uint64_t time_ns, uint32_t thread)
{
	const struct ended sought = {.process = process, .end_ns = time_ns};
	size_t at = partition_point(i, 0, count, by_end(&ended[i], &sought) < 0);

	for (; at < count && by_end(&ended[at], &sought) == 0; at++) {
		uint32_t *of = &owner[ended[at].tick];

		if (*of == NO_ID)
			*of = thread;
		if (*of == thread)
			return;
	}
}

/* owner: [tick]. */
static void find_owners(
	const struct profile *p, const struct ended *ended, size_t count, uint32_t *owner)
{
	const struct samples *s = &p->samples;
	metric_id time, entries;

	if (!s->thread || !s->time_ns || !profile_find_metric(p, STR(ZONE_TIME), &time) ||
		!profile_find_metric(p, STR(ZONE_ENTRIES), &entries))
		return;
	for (size_t i = 0; i < s->count; i++)
		if (s->weight[time.i][i] || s->weight[entries.i][i])
			own(owner, ended, count, p->threads[s->thread[i].i].process.i,
				s->time_ns[i], s->thread[i].i);
}

void tick_threads_init(struct tick_threads *t, const struct profile *p, const uint32_t *first,
	const uint32_t *end, struct arena *arena)
{
	bool *overlaps = ARENA_ARRAY(arena, bool, p->process_count);
	struct ended *ended = ARENA_ARRAY(arena, struct ended, p->tick_count);
	struct tick_owned *owned;
	uint32_t *owner;
	size_t count = 0;

	*t = (struct tick_threads){.overlaps = overlaps};
	for (uint32_t i = 0; i < p->process_count; i++) {
		overlaps[i] =
			end[i] > first[i] && does_overlap(&p->ticks[first[i]], end[i] - first[i]);
		for (uint32_t k = first[i]; overlaps[i] && k < end[i]; k++)
			ended[count++] = (struct ended){i, k, p->ticks[k].end_ns};
	}
	if (count == 0)
		return;
	qsort(ended, count, sizeof(*ended), by_end);
	owner = ARENA_ARRAY(arena, uint32_t, p->tick_count);
	for (size_t i = 0; i < p->tick_count; i++)
		owner[i] = p->ticks[i].thread.i;
	find_owners(p, ended, count, owner);
	owned = ARENA_ARRAY(arena, struct tick_owned, count);
	for (size_t i = 0; i < count; i++)
		if (owner[ended[i].tick] != NO_ID)
			owned[t->count++] =
				(struct tick_owned){owner[ended[i].tick], ended[i].tick};
	qsort(owned, t->count, sizeof(*owned), by_thread);
	t->owned = owned;
}

static bool begins_before(
	const struct tick_owned *o, const struct tick *ticks, uint32_t thread, uint64_t time_ns)
{
	return o->thread < thread || (o->thread == thread && ticks[o->tick].start_ns < time_ns);
}

uint32_t tick_threads_at(const struct tick_threads *t, const struct profile *profile,
	thread_id thread, uint64_t time_ns)
{
	/* The last one of the thread, or of one before it, that began before. */
	size_t at = partition_point(
		i, 0, t->count, begins_before(&t->owned[i], profile->ticks, thread.i, time_ns));
	if (at == 0 || t->owned[at - 1].thread != thread.i)
		return NO_ID;
	uint32_t tick = t->owned[at - 1].tick;

	return time_ns <= profile->ticks[tick].end_ns ? tick : NO_ID;
}
