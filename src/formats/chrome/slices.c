/*
 * Makes zones from slices, beginnings and ends: each slice becomes a zone that is entered and left.
 *
 * Events may come in any order, except those with the same time.  As in speedscope's importer
 * (src/import/trace-event.ts), a thread's beginnings and ends are two queues ordered by time, and
 * each step takes the earlier of their fronts.  Among ends with the same time, the one that closes
 * the innermost slice comes first.  An end without a matching slice is ignored.
 *
 * A zone's time becomes rows, one for each stack, thread and tick.  Without ticks, each thousandth
 * of the trace counts as one, so that views by time still work.
 */
#include "formats/chrome/reader.h"

#include <stdlib.h>

#include "base/sort.h"

enum {
	STRETCHES = 1024, /* of a trace without ticks */
	LOOK_AHEAD = 64,  /* how many ends with the same time are searched for a match */
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
};

struct slices {
	struct chrome *c;
	object_id object;
	uint32_t *of_thread; /* events, thread by thread */
	struct sort_item *begins, *ends;
	size_t begin_count, end_count;
	uint32_t *begin_place; /* [event]: its index in `begins` */
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

/*
 * Whether slices with durations are sorted by beginning, then the longer first, as in most files.
 */
static bool are_in_order(const struct slices *s, const struct sort_item *x, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (x[i - 1].key > x[i].key ||
			(x[i - 1].key == x[i].key &&
				event_at(s, x[i - 1].index)->dur < event_at(s, x[i].index)->dur))
			return false;
	return true;
}

/* Sorts slices with durations by beginning, which is their key, then the longer first. */
static void sort_slices(const struct slices *s, struct sort_item *x, size_t count)
{
	if (are_in_order(s, x, count))
		return;
	for (size_t i = 0; i < count; i++)
		x[i].key = sort_key_descending(event_at(s, x[i].index)->dur);
	sort_items(x, count);
	for (size_t i = 0; i < count; i++)
		x[i].key = sort_time(event_at(s, x[i].index)->ts);
	sort_items(x, count);
}

/*
 * Fills in all beginnings: separate ones, then those of slices with durations; *whole: their
 * number.
 */
static void fill_begins(struct slices *s, const uint32_t *events, size_t count, size_t *whole)
{
	size_t alone = 0, at;

	for (size_t i = 0; i < count; i++)
		alone += event_at(s, events[i])->dur == CHROME_BEGIN;
	at = alone;
	alone = 0;
	for (size_t i = 0; i < count; i++) {
		const struct chrome_event *e = event_at(s, events[i]);
		if (e->dur != CHROME_END)
			s->begins[e->dur == CHROME_BEGIN ? alone++ : at++] =
				(struct sort_item){sort_time(e->ts), events[i]};
	}
	s->begin_count = at;
	*whole = at - alone;
	sort_slices(s, s->begins + alone, *whole);
}

/*
 * Appends the ends of slices with durations after the first `at` ends, in the order in which nested
 * slices end, which is by time.  Ends of open slices are stacked at the other end of the array.
 */
static void add_slice_ends(
	struct slices *s, const struct sort_item *slices, size_t whole, size_t at)
{
	struct sort_item *ends = s->ends, *bottom = ends + at + whole, *top = bottom;

	for (size_t i = 0; i < whole; i++) {
		const struct chrome_event *e = event_at(s, slices[i].index);
		while (top < bottom && top->key <= slices[i].key)
			ends[at++] = *top++;
		*--top = (struct sort_item){sort_time(e->ts + e->dur), slices[i].index};
	}
	while (top < bottom)
		ends[at++] = *top++;
}

/* Fills in all ends: separate ones, then those of slices with durations. */
static void fill_ends(struct slices *s, const uint32_t *events, size_t count, size_t whole)
{
	size_t alone = 0;

	for (size_t i = 0; i < count; i++)
		if (event_at(s, events[i])->dur == CHROME_END)
			s->ends[alone++] = (struct sort_item){
				sort_time(event_at(s, events[i])->ts), events[i]};
	add_slice_ends(s, s->begins + s->begin_count - whole, whole, alone);
	s->end_count = alone + whole;
}

static void fill_queues(struct slices *s, const uint32_t *events, size_t count)
{
	size_t whole;

	fill_begins(s, events, count, &whole);
	fill_ends(s, events, count, whole);
	sort_items(s->begins, s->begin_count);
	sort_items(s->ends, s->end_count);
	for (size_t i = 0; i < s->begin_count; i++)
		s->begin_place[s->begins[i].index] = (uint32_t)i;
}

/*
 * Whether it ends the innermost slice.  Otherwise it has no effect and does not advance the time.
 */
static bool fits(const struct slices *s, uint32_t end)
{
	string_id name = event_at(s, end)->name;

	return s->open.count &&
	       (name.i == 0 ||
		       event_at(s, s->open.data[s->open.count - 1].event)->name.i == name.i);
}

/* Whether the first end comes before the first beginning. */
static bool is_end_next(const struct slices *s, size_t next_begin, size_t next_end)
{
	struct sort_item end = s->ends[next_end], begin = s->begins[next_begin];
	const struct chrome_event *e = event_at(s, end.index), *b = event_at(s, begin.index);

	if (end.key != begin.key)
		return end.key < begin.key;
	/* The end of a slice with a duration comes after its own beginning. */
	if (e->dur >= 0)
		return s->begin_place[end.index] < next_begin;
	return fits(s, end.index) || b->name.i != e->name.i;
}

/* Among ends with the same time, moves the one that ends the innermost slice to the front. */
static void choose_end(struct slices *s, size_t front)
{
	size_t by_name = SIZE_MAX;

	if (s->open.count == 0)
		return;
	uint32_t top = s->open.data[s->open.count - 1].event;
	for (size_t i = front; i < s->end_count && i - front < LOOK_AHEAD; i++) {
		if (s->ends[i].key != s->ends[front].key)
			break;
		bool is_its_own = s->ends[i].index == top;
		if (by_name == SIZE_MAX && fits(s, s->ends[i].index))
			by_name = i;
		if (is_its_own) {
			by_name = i;
			break;
		}
	}
	if (by_name == SIZE_MAX)
		return;
	struct sort_item item = s->ends[by_name];
	s->ends[by_name] = s->ends[front];
	s->ends[front] = item;
}

/* ---- Rows */

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
		tally_of(s, s->open.data[s->open.count - 1].stack)->time += until - s->now;
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
	s->event_stack = s->open.count ? s->open.data[s->open.count - 1].stack : (stack_id){0};
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

static void enter(struct slices *s, uint32_t event)
{
	stack_id parent = {0};

	if (s->open.count)
		parent = s->open.data[s->open.count - 1].stack;
	stack_id stack =
		builder_stack(s->c->builder, parent, frame_of(s, event_at(s, event)->name));
	vec_push(&s->open, (struct open_slice){event, stack});
	struct tally *t = tally_of(s, stack);
	t->entries++;
	t->all_entries++;
}

static void play(struct slices *s)
{
	size_t b = 0, e = 0;

	while (b < s->begin_count || e < s->end_count) {
		bool has_begin = b < s->begin_count, has_end = e < s->end_count;
		if (has_end && (!has_begin || s->ends[e].key <= s->begins[b].key))
			choose_end(s, e);
		bool is_end = !has_begin || (has_end && is_end_next(s, b, e));
		uint64_t key = is_end ? s->ends[e].key : s->begins[b].key;
		int64_t ts = (int64_t)(key ^ UINT64_C(1) << 63);
		if (is_end && !fits(s, s->ends[e].index)) {
			s->c->faults[CHROME_BAD_END].count++;
			e++;
			continue;
		}
		advance(s, ts);
		if (is_end)
			s->open.count--, e++;
		else
			enter(s, s->begins[b++].index);
		tell_event(s, ts);
	}
	s->c->faults[CHROME_STILL_OPEN].count += s->open.count;
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

	if (thread == 0 || s->c->threads.data[s->thread].process != process)
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

/*
 * Groups events by thread, in file order, with a counting sort.  Sets where each thread's events
 * end.
 */
static uint32_t *group_events(struct slices *s)
{
	struct chrome *c = s->c;
	uint32_t *end = xcalloc(c->threads.count + 1, sizeof(*end)), most = 0;

	for (size_t i = 0; i < c->threads.count; i++) {
		end[i + 1] = end[i] + c->threads.data[i].event_count;
		if (c->threads.data[i].event_count > most)
			most = c->threads.data[i].event_count;
	}
	s->of_thread = xcalloc(c->events.count + 1, sizeof(*s->of_thread));
	for (size_t i = 0; i < c->events.count; i++)
		s->of_thread[end[c->events.data[i].thread]++] = (uint32_t)i;
	s->begins = xcalloc((size_t)most + 1, sizeof(*s->begins));
	s->ends = xcalloc((size_t)most + 1, sizeof(*s->ends));
	return end;
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
	struct slices s = {.c = c, .splits_left = 4 * c->events.count + 1024};
	int64_t last = c->base;
	size_t changes = 0;

	if (c->events.count == 0)
		return;
	find_sampled(c);
	for (size_t i = 0; i < c->events.count; i++) {
		if (c->events.data[i].ts > last)
			last = c->events.data[i].ts;
		changes += c->events.data[i].dur < 0 ? 1 : 2;
	}
	builder_expect_zone_events(c->builder, changes);
	s.stretch = (int64_t)(((uint64_t)last - (uint64_t)c->base) / STRETCHES) + 1;
	s.object = builder_object(c->builder, STR(ZONE_OBJECT), STR(""), OBJECT_ZONE);
	s.begin_place = xcalloc(c->events.count, sizeof(*s.begin_place));
	s.tick_ends = xcalloc(c->ticks.count + 1, sizeof(*s.tick_ends));
	uint32_t *end = group_events(&s), begin = 0;
	for (uint32_t i = 0; i < c->threads.count; i++) {
		if (end[i] > begin)
			play_thread(&s, i, s.of_thread + begin, end[i] - begin);
		begin = end[i];
	}
	add_arcs(&s);
	free(end);
	free(s.of_thread);
	free(s.begins);
	free(s.ends);
	free(s.begin_place);
	free(s.tick_ends);
	vec_deinit(&s.open);
	vec_deinit(&s.tallies);
	vec_deinit(&s.frames);
	vec_deinit(&s.touched);
}
