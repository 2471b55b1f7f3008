/*
 * Ticks and zone events while a profile is built.  See zone_tables.h.
 */
#include "model/zone_tables.h"

#include <stdlib.h>
#include <string.h>

void zone_tables_deinit(struct zone_tables *t)
{
	vec_deinit(&t->ticks);
	vec_deinit(&t->events);
}

void zone_tables_tick(struct zone_tables *t, struct tick tick)
{
	vec_push(&t->ticks, tick);
}

void zone_tables_event(struct zone_tables *t, thread_id thread, uint64_t time_ns, stack_id stack)
{
	vec_push(&t->events, (struct zone_event_row){thread, stack, time_ns, t->events.count});
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int tick_compare(const void *a, const void *b)
{
	const struct tick *x = a, *y = b;
	int order = compare(x->process.i, y->process.i);

	if (order == 0)
		order = compare(x->stream.i, y->stream.i);
	if (order == 0)
		order = compare(x->start_ns, y->start_ns);
	if (order == 0)
		order = compare(x->number, y->number);
	return order ? order : compare(x->end_ns, y->end_ns);
}

static int event_compare(const void *a, const void *b)
{
	const struct zone_event_row *x = a, *y = b;
	int order = compare(x->thread.i, y->thread.i);

	if (order == 0)
		order = compare(x->time_ns, y->time_ns);
	return order ? order : compare(x->place, y->place);
}

/* Most are already in order. */
static void sort(
	void *rows, size_t count, size_t size, int (*compare_rows)(const void *a, const void *b))
{
	const char *row = rows;

	for (size_t i = 1; i < count; i++, row += size)
		if (compare_rows(row, row + size) > 0) {
			qsort(rows, count, size, compare_rows);
			return;
		}
}

static void freeze_ticks(struct zone_tables *t, struct profile *p)
{
	struct tick *ticks = ARENA_ARRAY(p->arena, struct tick, t->ticks.count);

	p->tick_count = t->ticks.count;
	p->ticks = ticks;
	if (t->ticks.count == 0)
		return;
	sort(t->ticks.data, t->ticks.count, sizeof(*t->ticks.data), tick_compare);
	memcpy(ticks, t->ticks.data, t->ticks.count * sizeof(*ticks));
}

void zone_tables_freeze(struct zone_tables *t, struct profile *p)
{
	struct zone_events *e = &p->zone_events;
	const struct zone_event_row *from = t->events.data;

	freeze_ticks(t, p);
	e->count = t->events.count;
	if (e->count == 0)
		return;
	sort(t->events.data, e->count, sizeof(*t->events.data), event_compare);
	e->thread = ARENA_ARRAY(p->arena, thread_id, e->count);
	e->time_ns = ARENA_ARRAY(p->arena, uint64_t, e->count);
	e->stack = ARENA_ARRAY(p->arena, stack_id, e->count);
	for (size_t i = 0; i < e->count; i++) {
		e->thread[i] = from[i].thread;
		e->time_ns[i] = from[i].time_ns;
		e->stack[i] = from[i].stack;
	}
}
