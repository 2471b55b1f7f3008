/*
 * Finds the end of each slice that has a separate beginning and end, and lanes for asynchronous
 * slices.
 *
 * Beginnings and ends are taken by time, in the file's order where times are equal.  An end with a
 * name ends the innermost slice of that name, any other end the innermost slice.  What it ends need
 * not be the innermost: slices that have ended are taken off when they come to be on top.  Among
 * those of one time, an end that fits nothing is tried again at last, for files that are not in
 * order.
 *
 * The slices of one asynchronous id are nested as those of a thread, but ids are many and short.
 * So slices of a process and a category share lanes: whatever is open at once, from the first slice
 * of an id to when none of it is open, has a lane to itself.
 */
#include "formats/chrome/reader.h"

#include <stdlib.h>

#include "base/sort.h"

static uint64_t sort_time(int64_t ts)
{
	return (uint64_t)ts ^ UINT64_C(1) << 63;
}

static bool is_mark(const struct chrome_event *e)
{
	return e->dur == CHROME_BEGIN || e->dur == CHROME_END;
}

uint32_t *chrome_group_events(const struct chrome *c, uint32_t **ends)
{
	uint32_t *end = xcalloc(c->threads.count + 1, sizeof(*end));
	uint32_t *of_thread = xcalloc(c->events.count + 1, sizeof(*of_thread));

	for (size_t i = 0; i < c->threads.count; i++)
		end[i + 1] = end[i] + c->threads.data[i].event_count;
	for (size_t i = 0; i < c->events.count; i++)
		of_thread[end[c->events.data[i].thread]++] = (uint32_t)i;
	*ends = end;
	return of_thread;
}

/* ---- Pairs */

/* A beginning whose end has not come. */
struct begun {
	uint32_t event;
	uint32_t same; /* 1 + the place of the next one outside that has the name; 0: none */
	bool has_ended;
};

struct pairing {
	struct chrome *c;
	VEC(struct sort_item) marks;
	VEC(struct begun) open;	     /* the topmost has not ended */
	VEC(uint32_t) innermost;     /* [name]: 1 + the place of the innermost; 0: none */
	VEC(struct sort_item) later; /* ends of this time that fitted nothing */
};

static uint32_t *innermost_of(struct pairing *p, string_id name)
{
	vec_extend(&p->innermost, (size_t)name.i + 1);
	return &p->innermost.data[name.i];
}

static void begin(struct pairing *p, uint32_t event)
{
	uint32_t *innermost = innermost_of(p, p->c->events.data[event].name);

	p->c->outer[event] = 1 + (p->open.count ? p->open.data[p->open.count - 1].event : event);
	vec_push(&p->open, (struct begun){.event = event, .same = *innermost});
	*innermost = (uint32_t)p->open.count;
}

/* Ends the slice that the end is for; false if there is none. */
static bool end(struct pairing *p, uint32_t event)
{
	const struct chrome_event *e = &p->c->events.data[event];
	size_t place = e->name.i ? *innermost_of(p, e->name) : p->open.count;

	if (place == 0)
		return false;
	struct begun *begun = &p->open.data[place - 1];
	struct chrome_event *slice = &p->c->events.data[begun->event];
	slice->dur = e->ts - slice->ts;
	begun->has_ended = true;
	*innermost_of(p, slice->name) = begun->same;
	while (p->open.count && p->open.data[p->open.count - 1].has_ended)
		p->open.count--;
	return true;
}

static void end_later(struct pairing *p)
{
	for (size_t i = 0; i < p->later.count; i++)
		if (!end(p, p->later.data[i].index))
			p->c->faults[CHROME_BAD_END].count++;
	p->later.count = 0;
}

static void find_marks(struct pairing *p, const uint32_t *events, size_t count)
{
	bool are_in_order = true;

	p->marks.count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct chrome_event *e = &p->c->events.data[events[i]];
		if (!is_mark(e))
			continue;
		struct sort_item mark = {sort_time(e->ts), events[i]};
		are_in_order &=
			p->marks.count == 0 || p->marks.data[p->marks.count - 1].key <= mark.key;
		vec_push(&p->marks, mark);
	}
	if (!are_in_order)
		sort_items(p->marks.data, p->marks.count);
}

/* Finds the pairs among a thread's events. */
static void pair_thread(struct pairing *p, const uint32_t *events, size_t count)
{
	find_marks(p, events, count);
	for (size_t i = 0; i < p->marks.count; i++) {
		struct sort_item mark = p->marks.data[i];
		if (i && mark.key != p->marks.data[i - 1].key)
			end_later(p);
		if (p->c->events.data[mark.index].dur == CHROME_BEGIN)
			begin(p, mark.index);
		else if (!end(p, mark.index))
			vec_push(&p->later, mark);
	}
	end_later(p);
	for (size_t i = 0; i < p->open.count; i++) {
		if (p->open.data[i].has_ended)
			continue;
		p->c->faults[CHROME_STILL_OPEN].count++;
		*innermost_of(p, p->c->events.data[p->open.data[i].event].name) = 0;
	}
	p->open.count = 0;
}

/* ---- Lanes of asynchronous slices */

/* What is open of one id from when something is until nothing is. */
struct stay {
	int64_t start, end;
	uint32_t thread;       /* the id's */
	uint32_t lane;	       /* a thread */
	uint32_t first, count; /* its events, in `order` */
};

struct lanes {
	struct chrome *c;
	VEC(struct stay) stays;
	VEC(uint32_t) order;	     /* events */
	VEC(struct sort_item) items; /* scratch */
	int64_t last;		     /* when the last slice ends */
};

/* Without an end, it ends with the one around it, or else with the trace. */
static void end_slice(const struct lanes *l, uint32_t event)
{
	struct chrome_event *e = &l->c->events.data[event];
	uint32_t outer = l->c->outer[event] - 1;

	if (e->dur >= 0)
		return;
	int64_t ends = l->last;
	if (outer != event)
		ends = l->c->events.data[outer].ts + l->c->events.data[outer].dur;
	e->dur = ends - e->ts;
}

/* Divides the slices of an id into stays. */
static void add_stays(struct lanes *l, uint32_t thread, const uint32_t *events, size_t count)
{
	struct stay *stay = NULL;

	l->items.count = 0;
	for (size_t i = 0; i < count; i++)
		if (l->c->events.data[events[i]].dur != CHROME_END)
			vec_push(&l->items,
				(struct sort_item){
					sort_time(l->c->events.data[events[i]].ts), events[i]});
	sort_items(l->items.data, l->items.count);
	for (size_t i = 0; i < l->items.count; i++) {
		const struct chrome_event *e = &l->c->events.data[l->items.data[i].index];
		end_slice(l, l->items.data[i].index);
		int64_t ends = e->ts + e->dur;
		if (stay == NULL || e->ts >= stay->end) {
			vec_push(&l->stays, (struct stay){.start = e->ts,
						    .end = ends,
						    .thread = thread,
						    .first = (uint32_t)l->order.count});
			stay = &l->stays.data[l->stays.count - 1];
		}
		stay->end = ends > stay->end ? ends : stay->end;
		stay->count++;
		vec_push(&l->order, l->items.data[i].index);
	}
}

/* The lanes of a process and category are together: sorts stays by these, then by key. */
static struct sort_item *sort_stays(const struct lanes *l, bool by_end)
{
	struct sort_item *items = xcalloc(l->stays.count + 1, sizeof(*items));

	for (size_t i = 0; i < l->stays.count; i++) {
		const struct stay *s = &l->stays.data[i];
		items[i] = (struct sort_item){sort_time(by_end ? s->end : s->start), (uint32_t)i};
	}
	sort_items(items, l->stays.count);
	for (size_t i = 0; i < l->stays.count; i++) {
		const struct chrome_thread *t =
			&l->c->threads.data[l->stays.data[items[i].index].thread];
		items[i].key = (uint64_t)t->process << 32 | t->name.i;
	}
	sort_items(items, l->stays.count);
	return items;
}

/* Makes a lane for what a thread's id and others like it are. */
static uint32_t add_lane(struct lanes *l, uint32_t thread)
{
	struct chrome_thread lane = l->c->threads.data[thread];

	lane.tid = CHROME_LANE + (int64_t)l->c->lane_count++;
	lane.is_async = false;
	lane.is_used = true;
	lane.event_count = 0;
	vec_push(&l->c->threads, lane);
	builder_charge(l->c->builder, sizeof(lane));
	return (uint32_t)l->c->threads.count - 1;
}

/* Gives each stay a lane that is free when it starts, if there is one. */
static void allot_lanes(struct lanes *l)
{
	struct sort_item *starts = sort_stays(l, false), *ends = sort_stays(l, true);
	VEC(uint32_t) free_lanes = {0};
	size_t next_end = 0;

	for (size_t i = 0; i < l->stays.count; i++) {
		struct stay *stay = &l->stays.data[starts[i].index];
		if (i && starts[i].key != starts[i - 1].key) {
			free_lanes.count = 0;
			next_end = i;
		}
		/* One of no length that starts now may end first, and has no lane yet. */
		for (; next_end < l->stays.count && ends[next_end].key == starts[i].key;
			next_end++) {
			const struct stay *gone = &l->stays.data[ends[next_end].index];
			if (gone->end > stay->start || gone->lane == NO_ID)
				break;
			vec_push(&free_lanes, gone->lane);
		}
		stay->lane = free_lanes.count ? free_lanes.data[--free_lanes.count]
					      : add_lane(l, stay->thread);
	}
	free(starts);
	free(ends);
	vec_deinit(&free_lanes);
}

/* Moves asynchronous slices from their ids to lanes. */
static void move_to_lanes(struct chrome *c, const uint32_t *of_thread, const uint32_t *ends)
{
	struct lanes l = {.c = c, .last = INT64_MIN};

	for (size_t i = 0; i < c->events.count; i++) {
		int64_t until = c->events.data[i].ts;
		until += c->events.data[i].dur > 0 ? c->events.data[i].dur : 0;
		l.last = until > l.last ? until : l.last;
	}
	uint32_t begin = 0, count = (uint32_t)c->threads.count;
	for (uint32_t i = 0; i < count; begin = ends[i++])
		if (c->threads.data[i].is_async)
			add_stays(&l, i, of_thread + begin, ends[i] - begin);
	for (size_t i = 0; i < l.stays.count; i++)
		l.stays.data[i].lane = NO_ID;
	allot_lanes(&l);
	for (size_t i = 0; i < l.stays.count; i++) {
		const struct stay *stay = &l.stays.data[i];
		for (uint32_t k = stay->first; k < stay->first + stay->count; k++) {
			struct chrome_event *e = &c->events.data[l.order.data[k]];
			c->threads.data[e->thread].event_count--;
			c->threads.data[stay->lane].event_count++;
			e->thread = stay->lane;
		}
	}
	vec_deinit(&l.stays);
	vec_deinit(&l.order);
	vec_deinit(&l.items);
}

void chrome_pair_slices(struct chrome *c)
{
	struct pairing p = {.c = c};
	uint32_t *ends, *of_thread = chrome_group_events(c, &ends), begin_at = 0;
	bool is_async = false;

	c->outer = xcalloc(c->events.count + 1, sizeof(*c->outer));
	for (size_t i = 0; i < c->threads.count; i++) {
		if (ends[i] > begin_at)
			pair_thread(&p, of_thread + begin_at, ends[i] - begin_at);
		begin_at = ends[i];
		is_async |= c->threads.data[i].is_async;
	}
	if (is_async)
		move_to_lanes(c, of_thread, ends);
	free(ends);
	free(of_thread);
	vec_deinit(&p.marks);
	vec_deinit(&p.open);
	vec_deinit(&p.innermost);
	vec_deinit(&p.later);
}
