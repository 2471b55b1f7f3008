/*
 * Makes zones from slices: each becomes a zone that is entered and left, when the file says so.
 *
 * Slices of a thread nest by time: one that begins while others are open is in them.  Those that
 * begin together are nested by length, the longer outside.  Ends come before beginnings of the same
 * time.  A slice that ends while others that began in it go on leaves them behind: from then on,
 * these are in what is around it.  So slices that are not properly nested, because tools round
 * times or because they are not of calls, have their exact times, and so have those around them.
 * That makes as many stacks as slices go on, so only OVERLAP_MAX do; more end with the one around
 * them.
 *
 * A zone's time becomes rows, one for each stack, thread and tick.  Without ticks, each thousandth
 * of the trace counts as one, so that views by time still work.
 */
#include "formats/chrome/reader.h"

#include <stdlib.h>

#include "base/sort.h"

enum {
	STRETCHES = 1024, /* of a trace without ticks */
	OVERLAP_MAX = 64, /* slices that go on after one in which they began */
};

/* The figures of a stack in the current tick, and its total entries. */
struct tally {
	int64_t time;
	uint32_t entries, all_entries;
	bool is_touched;
};

/* An open slice. */
struct open_slice {
	uint32_t event;
	stack_id stack;
	bool has_ended;	 /* now; it is about to be removed */
	bool is_overlap; /* and was counted as one */
};

struct slices {
	struct chrome *c;
	object_id object;
	struct sort_item *begins, *ends;
	size_t begin_count, end_count;
	uint32_t *place; /* [event]: where it is in `open`; once it has ended, its last stack */
	VEC(struct open_slice) open;
	VEC(struct tally) tallies; /* [stack] */
	VEC(frame_id) frames;	   /* [name]: the frame of slices with that name, or NO_ID */
	VEC(stack_id) touched;
	int64_t *tick_ends; /* of the thread's process, sorted; allocated for all */
	size_t tick_end_count, next_tick;
	uint64_t splits_left;
	int64_t stretch, stretch_end;
	int64_t now; /* time is accounted for up to here */
	int64_t event_time;
	stack_id event_stack; /* the zone event at event_time, which later changes at that time
			         replace */
	uint32_t thread;
};

static const struct chrome_event *event_at(const struct slices *s, uint32_t i)
{
	return &s->c->events.data[i];
}

static uint64_t sort_time(int64_t ts)
{
	return (uint64_t)ts ^ UINT64_C(1) << 63;
}

/* ---- The two queues */

/* How long a slice is, for its place among those that begin with it. */
static int64_t length_of(const struct slices *s, uint32_t event)
{
	int64_t dur = event_at(s, event)->dur;

	return dur == CHROME_BEGIN ? INT64_MAX : dur;
}

/* Whether slices are sorted by beginning, then the longer first, as in most files. */
static bool are_in_order(const struct slices *s, const struct sort_item *x, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (x[i - 1].key > x[i].key ||
			(x[i - 1].key == x[i].key &&
				length_of(s, x[i - 1].index) < length_of(s, x[i].index)))
			return false;
	return true;
}

/* Sorts slices by beginning, which is their key, then the longer first. */
static void sort_slices(const struct slices *s, struct sort_item *x, size_t count)
{
	if (are_in_order(s, x, count))
		return;
	for (size_t i = 0; i < count; i++)
		x[i].key = sort_key_descending(length_of(s, x[i].index));
	sort_items(x, count);
	for (size_t i = 0; i < count; i++)
		x[i].key = sort_time(event_at(s, x[i].index)->ts);
	sort_items(x, count);
}

/* Whether a slice has no end. */
static bool is_endless(const struct slices *s, uint32_t event)
{
	return event_at(s, event)->dur == CHROME_BEGIN;
}

static int64_t end_of(const struct slices *s, uint32_t event)
{
	return event_at(s, event)->ts + event_at(s, event)->dur;
}

/*
 * Fills in all beginnings: of those that are alike, separate ones first; and the ends of slices
 * that are not over at once.
 */
static void fill_queues(struct slices *s, const uint32_t *events, size_t count)
{
	s->begin_count = s->end_count = 0;
	for (unsigned int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < count; i++) {
			const struct chrome_event *e = event_at(s, events[i]);
			if (e->dur != CHROME_END && (s->c->outer[events[i]] != 0) == (pass == 0))
				s->begins[s->begin_count++] =
					(struct sort_item){sort_time(e->ts), events[i]};
		}
	sort_slices(s, s->begins, s->begin_count);
	/* In this order, ends are nearly sorted. */
	for (size_t i = s->begin_count; i-- > 0;)
		if (event_at(s, s->begins[i].index)->dur > 0)
			s->ends[s->end_count++] = (struct sort_item){
				sort_time(end_of(s, s->begins[i].index)), s->begins[i].index};
	sort_items(s->ends, s->end_count);
}

/* ---- Rows */

/* The innermost stack. */
static stack_id top_stack(const struct slices *s)
{
	return s->open.count ? s->open.data[s->open.count - 1].stack : (stack_id){0};
}

static struct tally *tally_of(struct slices *s, stack_id stack)
{
	while (s->tallies.count <= stack.i)
		vec_push(&s->tallies, (struct tally){0});
	struct tally *t = &s->tallies.data[stack.i];
	if (!t->is_touched) {
		t->is_touched = true;
		vec_push(&s->touched, stack);
	}
	return t;
}

/* Makes rows from the figures of the current tick, which ends at `at`. */
static void flush(struct slices *s, int64_t at)
{
	struct chrome *c = s->c;

	for (size_t i = 0; i < s->touched.count; i++) {
		stack_id stack = s->touched.data[i];
		struct tally *t = &s->tallies.data[stack.i];
		c->weight[c->zone_metric] = t->time;
		c->weight[c->zone_metric + 1] = t->entries;
		builder_sample(c->builder, stack, c->threads.data[s->thread].id, chrome_time(c, at),
			c->weight);
		builder_sample_zone(c->builder, stack);
		t->time = 0;
		t->entries = 0;
		t->is_touched = false;
	}
	c->weight[c->zone_metric] = c->weight[c->zone_metric + 1] = 0;
	s->touched.count = 0;
}

static void add_time(struct slices *s, int64_t until)
{
	if (until > s->now && s->open.count)
		tally_of(s, top_stack(s))->time += until - s->now;
	if (until > s->now)
		s->now = until;
}

/* Advances the time to ts, and divides the time in between among the ticks that end in it. */
static void advance(struct slices *s, int64_t ts)
{
	while (s->next_tick < s->tick_end_count && s->tick_ends[s->next_tick] < ts) {
		int64_t end = s->tick_ends[s->next_tick++];
		if (s->open.count == 0 && s->touched.count == 0)
			continue;
		if (s->splits_left == 0)
			break;
		s->splits_left--;
		add_time(s, end);
		flush(s, end);
	}
	if (s->tick_end_count == 0 && ts > s->stretch_end) {
		if (s->touched.count)
			flush(s, s->now);
		s->stretch_end = ts - (ts - s->c->base) % s->stretch;
		if (s->stretch_end <= INT64_MAX - s->stretch)
			s->stretch_end += s->stretch;
	}
	add_time(s, ts);
}

/* ---- Processing a thread */

static void tell_change(struct slices *s)
{
	struct chrome *c = s->c;
	struct chrome_thread *t = &c->threads.data[s->thread];

	builder_zone_event(c->builder, t->id, chrome_time(c, s->event_time), s->event_stack);
	if (!t->has_samples)
		return;
	if (t->change_count++ == 0)
		t->changes = c->changes.count;
	vec_push(&c->changes, (struct chrome_change){s->event_time, s->event_stack});
}

/* Records where the thread is from ts on; of several changes at one time, only the last is kept. */
static void tell_event(struct slices *s, int64_t ts)
{
	if (s->event_time != INT64_MIN && s->event_time != ts)
		tell_change(s);
	s->event_time = ts;
	s->event_stack = top_stack(s);
}

/* The frame of slices with that name. */
static frame_id frame_of(struct slices *s, string_id name)
{
	struct builder *b = s->c->builder;

	while (s->frames.count <= name.i)
		vec_push(&s->frames, (frame_id){NO_ID});
	frame_id *frame = &s->frames.data[name.i];
	if (frame->i == NO_ID)
		*frame = frame_of_name(b, name, s->object, 0);
	return *frame;
}

/*
 * Enters a slice.  One that ends at once is left at once; if it has a separate beginning, what it
 * is in may be over at this time as well.
 */
static void enter(struct slices *s, uint32_t event)
{
	const struct chrome_event *e = event_at(s, event);
	stack_id parent = top_stack(s);
	uint32_t outer = s->c->outer[event] ? s->c->outer[event] - 1 : event;

	if (e->dur == 0 && outer != event && !is_endless(s, outer) && end_of(s, outer) == e->ts)
		parent = (stack_id){s->place[outer]};
	stack_id stack = builder_stack(s->c->builder, parent, frame_of(s, e->name));
	struct tally *t = tally_of(s, stack);
	t->entries++;
	t->all_entries++;
	s->place[event] = e->dur ? (uint32_t)s->open.count : stack.i;
	if (e->dur)
		vec_push(&s->open, (struct open_slice){.event = event, .stack = stack});
}

/* Removes an open slice, which ends now. */
static void leave(struct slices *s, const struct open_slice *slice, int64_t now)
{
	struct chrome_event *e = &s->c->events.data[slice->event];

	e->dur = now - e->ts;
	s->place[slice->event] = slice->stack.i;
}

/* Moves a slice down, below which others have ended. */
static void move_down(struct slices *s, struct open_slice slice)
{
	if (!slice.is_overlap && !is_endless(s, slice.event)) {
		s->c->faults[CHROME_OVERLAP].count++;
		slice.is_overlap = true;
	}
	slice.stack = builder_stack(
		s->c->builder, top_stack(s), frame_of(s, event_at(s, slice.event)->name));
	s->place[slice.event] = (uint32_t)s->open.count;
	s->open.data[s->open.count++] = slice;
}

/*
 * Removes the slices that have ended, `lowest` and others above it, and those without an end in
 * them.
 */
static void remove_ended(struct slices *s, size_t lowest, int64_t now)
{
	size_t count = s->open.count, kept_max = lowest + OVERLAP_MAX;
	bool below_ended = false;

	s->open.count = lowest;
	for (size_t i = lowest; i < count; i++) {
		struct open_slice slice = s->open.data[i];
		bool is_cut = s->open.count == kept_max;
		below_ended = slice.has_ended || (below_ended && is_endless(s, slice.event));
		if (is_cut && !below_ended)
			s->c->faults[CHROME_CUT].count++;
		if (below_ended || is_cut)
			leave(s, &slice, now);
		else
			move_down(s, slice);
	}
}

/* Ends what ends now; false if nothing does. */
static bool end_slices(struct slices *s, size_t *next, uint64_t key, int64_t now)
{
	size_t lowest = SIZE_MAX;

	for (; *next < s->end_count && s->ends[*next].key == key; ++*next) {
		uint32_t event = s->ends[*next].index;
		/* One that was cut has ended. */
		if (end_of(s, event) != now)
			continue;
		s->open.data[s->place[event]].has_ended = true;
		if (s->place[event] < lowest)
			lowest = s->place[event];
	}
	if (lowest == SIZE_MAX)
		return false;
	advance(s, now);
	remove_ended(s, lowest, now);
	return true;
}

static void play(struct slices *s)
{
	size_t b = 0, e = 0;

	while (b < s->begin_count || e < s->end_count) {
		bool is_end = b == s->begin_count ||
			      (e < s->end_count && s->ends[e].key <= s->begins[b].key);
		uint64_t key = is_end ? s->ends[e].key : s->begins[b].key;
		int64_t now = (int64_t)(key ^ UINT64_C(1) << 63);
		bool is_change = is_end && end_slices(s, &e, key, now);
		if (b < s->begin_count && s->begins[b].key == key) {
			advance(s, now);
			is_change = true;
		}
		while (b < s->begin_count && s->begins[b].key == key)
			enter(s, s->begins[b++].index);
		if (is_change)
			tell_event(s, now);
	}
	s->open.count = 0;
	tell_event(s, s->now);
	tell_event(s, INT64_MIN);
	flush(s, s->now);
}

static int compare_times(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return COMPARE(*x, *y);
}

/* Finds the tick ends of the thread's process: those of the stream "frame", or else all. */
static void find_ticks(struct slices *s, uint32_t process)
{
	const struct chrome *c = s->c;
	bool has_frames = false;

	s->tick_end_count = s->next_tick = 0;
	for (unsigned int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < c->ticks.count; i++) {
			const struct chrome_tick *t = &c->ticks.data[i];
			bool is_frame = str_equal(
				builder_string_bytes(c->builder, t->stream), STR("frame"));
			if (t->process != process)
				continue;
			if (pass == 0)
				has_frames |= is_frame;
			else if (is_frame || !has_frames)
				s->tick_ends[s->tick_end_count++] = t->ts + t->dur;
		}
	if (s->tick_end_count)
		qsort(s->tick_ends, s->tick_end_count, sizeof(*s->tick_ends), compare_times);
}

static void play_thread(struct slices *s, uint32_t thread, const uint32_t *events, size_t count)
{
	uint32_t process = s->c->threads.data[thread].process;

	if (s->thread == NO_ID || s->c->threads.data[s->thread].process != process)
		find_ticks(s, process);
	s->thread = thread;
	s->next_tick = 0;
	s->now = s->stretch_end = s->event_time = INT64_MIN;
	fill_queues(s, events, count);
	play(s);
}

/* Adds arcs: how often each zone entered another is known exactly. */
static void add_arcs(struct slices *s)
{
	struct builder *b = s->c->builder;

	for (uint32_t i = 1; i < s->tallies.count; i++) {
		stack_id stack = {i}, parent;
		function_id caller = {NO_ID};
		if (s->tallies.data[i].all_entries == 0)
			continue;
		parent = builder_stack_parent(b, stack);
		if (parent.i)
			caller = builder_stack_function(b, parent);
		builder_arc(b, caller, builder_stack_function(b, stack),
			s->tallies.data[i].all_entries);
	}
}

static void find_sampled(struct chrome *c)
{
	for (size_t i = 0; i < c->samples.count; i++)
		c->threads.data[c->samples.data[i].thread].has_samples = true;
	for (size_t i = 0; i < c->v8.count; i++)
		c->threads.data[c->v8.data[i].thread].has_samples = true;
}

void chrome_add_slices(struct chrome *c)
{
	struct slices s = {.c = c, .thread = NO_ID, .splits_left = 4 * c->events.count + 1024};
	int64_t last = c->base;
	size_t changes = 0;

	if (c->events.count == 0)
		return;
	find_sampled(c);
	for (size_t i = 0; i < c->events.count; i++) {
		if (c->events.data[i].ts > last)
			last = c->events.data[i].ts;
		changes += c->events.data[i].dur == CHROME_END ? 0 : 2;
	}
	builder_expect_zone_events(c->builder, changes);
	s.stretch = (int64_t)(((uint64_t)last - (uint64_t)c->base) / STRETCHES) + 1;
	s.object = builder_object(c->builder, STR(ZONE_OBJECT), STR(""), OBJECT_ZONE);
	s.place = xcalloc(c->events.count, sizeof(*s.place));
	s.tick_ends = xcalloc(c->ticks.count + 1, sizeof(*s.tick_ends));
	uint32_t *end, *of_thread = chrome_group_events(c, &end), begin = 0, most = 0;
	for (size_t i = 0; i < c->threads.count; i++)
		if (c->threads.data[i].event_count > most)
			most = c->threads.data[i].event_count;
	s.begins = xcalloc((size_t)most + 1, sizeof(*s.begins));
	s.ends = xcalloc((size_t)most + 1, sizeof(*s.ends));
	for (uint32_t i = 0; i < c->threads.count; i++) {
		if (end[i] > begin && !c->threads.data[i].is_async)
			play_thread(&s, i, of_thread + begin, end[i] - begin);
		begin = end[i];
	}
	add_arcs(&s);
	free(end);
	free(of_thread);
	free(s.begins);
	free(s.ends);
	free(s.place);
	free(s.tick_ends);
	vec_deinit(&s.open);
	vec_deinit(&s.tallies);
	vec_deinit(&s.frames);
	vec_deinit(&s.touched);
}
