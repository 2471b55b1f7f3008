/* The threads of a Firefox profile: their samples and markers. */
#include "formats/firefox/writer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"
#include "formats/common/zone_walk.h"

/* ---- samples ---- */

/*
 * The samples: which are shown, in what order, and as what.
 *
 * A row of the format covers the time since the previous row; its CPU time is for that period.  So
 * a time off the CPU, for which the profile has the start, becomes a row at its end without CPU
 * time.  A thread's first row follows one without a stack.
 *
 * If there are more rows than a browser can hold, time is divided into slots, as short as possible,
 * and in each slot the samples of one stack become one row.
 */

static int64_t weight_of(const struct firefox_writer *w, uint32_t metric, size_t sample)
{
	return metric == NO_ID ? 0 : w->profile->samples.weight[metric][sample];
}

/* How the sample's thread spent its time, and how long. */
static enum firefox_state firefox_sample_state(
	const struct firefox_writer *w, size_t sample, uint64_t *off_cpu_ns)
{
	*off_cpu_ns = 0;
	for (unsigned int state = FIREFOX_BLOCKED; state < FIREFOX_STATE_COUNT; state++) {
		int64_t time = weight_of(w, w->off_cpu[state], sample);
		if (time <= 0 || weight_of(w, w->cpu, sample) != 0)
			continue;
		*off_cpu_ns = (uint64_t)time;
		return (enum firefox_state)state;
	}
	return FIREFOX_RUNNING;
}

/* Zone rows, and samples of other metrics only, are not shown. */
static bool is_shown(const struct firefox_writer *w, size_t sample)
{
	uint64_t off_cpu_ns;

	return weight_of(w, w->metric.i, sample) || weight_of(w, w->samples, sample) ||
	       weight_of(w, w->cpu, sample) ||
	       firefox_sample_state(w, sample, &off_cpu_ns) != FIREFOX_RUNNING;
}

static struct firefox_row sample_row(const struct firefox_writer *w, size_t sample)
{
	const struct samples *s = &w->profile->samples;
	uint64_t off_cpu_ns;
	enum firefox_state state = firefox_sample_state(w, sample, &off_cpu_ns);

	return (struct firefox_row){.stack = s->stack[sample].i,
		.state = state,
		.time_ns = w->has_times ? s->time_ns[sample] + off_cpu_ns : 0,
		.weight = weight_of(w, w->metric.i, sample),
		.cpu_ns = weight_of(w, w->cpu, sample)};
}

/* ---- The order of samples */

static void mark_stack(struct firefox_writer *w, uint32_t stack, uint32_t state)
{
	w->stack_number[state][stack] = 0;
}

/* Sorts by thread; samples of one thread keep the profile's order. */
static void sort_by_thread(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	const struct samples *s = &p->samples;
	size_t threads = p->thread_count ? p->thread_count : 1;
	uint64_t off_cpu_ns;

	w->first = xcalloc(threads + 2, sizeof(*w->first));
	w->order = xrealloc_array(NULL, s->count ? s->count : 1, sizeof(*w->order));
	for (size_t i = 0; i < s->count; i++) {
		if (!is_shown(w, i))
			continue;
		w->first[(s->thread ? s->thread[i].i : 0) + 2]++;
		mark_stack(w, s->stack[i].i, firefox_sample_state(w, i, &off_cpu_ns));
	}
	for (size_t i = 2; i < threads + 2; i++)
		w->first[i] += w->first[i - 1];
	for (size_t i = 0; i < s->count; i++)
		if (is_shown(w, i))
			w->order[w->first[(s->thread ? s->thread[i].i : 0) + 1]++] = (uint32_t)i;
	w->shown = w->first[threads];
}

/* In a profile without samples, each stack with weight counts as one. */
static void mark_totals(struct firefox_writer *w)
{
	for (uint32_t i = 0; i < w->profile->stack_count; i++)
		if (profile_weight(w->profile, w->metric.i, i) != 0)
			mark_stack(w, i, FIREFOX_RUNNING);
}

static int compare_rows(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	return COMPARE(x->time_ns, y->time_ns) ?: COMPARE(x->state, y->state) ?:
	       COMPARE(x->stack, y->stack) ?: COMPARE(x->weight, y->weight);
}

/* ---- Slots */

static int compare_in_slot(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	return COMPARE(x->stack, y->stack) ?: COMPARE(x->state, y->state) ?:
	       COMPARE(x->time_ns, y->time_ns);
}

/* Sums the rows of one slot, and sorts the result by time; returns how many are left. */
static size_t sum_slot(struct firefox_row *rows, size_t count)
{
	size_t left = 0;

	qsort(rows, count, sizeof(*rows), compare_in_slot);
	for (size_t i = 0; i < count; i++) {
		if (left > 0 && rows[left - 1].stack == rows[i].stack &&
			rows[left - 1].state == rows[i].state) {
			rows[left - 1].weight += rows[i].weight;
			rows[left - 1].cpu_ns += rows[i].cpu_ns;
			rows[left - 1].time_ns = rows[i].time_ns;
		} else {
			rows[left++] = rows[i];
		}
	}
	qsort(rows, left, sizeof(*rows), compare_rows);
	return left;
}

/* Sums rows, sorted by time, slot by slot; the result moves to the front. */
static size_t sum_slots(struct firefox_row *rows, size_t count, uint64_t slot_ns)
{
	size_t left = 0;

	for (size_t i = 0, end; i < count; i = end) {
		uint64_t slot = rows[i].time_ns / slot_ns;
		for (end = i; end < count && rows[end].time_ns / slot_ns == slot;)
			end++;
		size_t summed = sum_slot(rows + i, end - i);
		memmove(rows + left, rows + i, summed * sizeof(*rows));
		left += summed;
	}
	return left;
}

/* ---- Rows of a thread */

static void make_up_times(struct firefox_writer *w, struct firefox_row *rows, size_t count)
{
	uint64_t time_ns = 0, lasts;

	for (size_t i = 0; i < count; i++) {
		int64_t weight = rows[i].weight;
		uint64_t size = weight < 0 ? -(uint64_t)weight : (uint64_t)weight;

		rows[i].time_ns = time_ns;
		if (__builtin_mul_overflow(size, w->made_up_ns, &lasts) ||
			__builtin_add_overflow(time_ns, lasts, &time_ns))
			time_ns = UINT64_MAX;
	}
}

static struct firefox_row *total_rows(const struct firefox_writer *w, size_t *count)
{
	const struct profile *p = w->profile;
	VEC(struct firefox_row) rows = {0};

	for (uint32_t i = 0; i < p->stack_count; i++) {
		int64_t weight = profile_weight(p, w->metric.i, i);

		if (weight != 0)
			vec_push(&rows, (struct firefox_row){.stack = i, .weight = weight});
	}
	*count = rows.count;
	return rows.data;
}

static struct firefox_row *thread_rows(
	const struct firefox_writer *w, uint32_t thread, size_t *count)
{
	size_t first = w->first[thread];

	*count = w->first[thread + 1] - first;
	if (*count == 0)
		return NULL;
	struct firefox_row *rows = xrealloc_array(NULL, *count, sizeof(*rows));
	for (size_t i = 0; i < *count; i++)
		rows[i] = sample_row(w, w->order[first + i]);
	if (w->has_times)
		qsort(rows, *count, sizeof(*rows), compare_rows);
	return rows;
}

struct firefox_row *firefox_rows(struct firefox_writer *w, uint32_t thread, size_t *count)
{
	struct firefox_row *rows =
		w->profile->samples.count ? thread_rows(w, thread, count) : total_rows(w, count);

	if (w->slot_ns && *count && w->has_times)
		*count = sum_slots(rows, *count, w->slot_ns);
	if (!w->has_times)
		make_up_times(w, rows, *count);
	return rows;
}

static size_t count_rows(struct firefox_writer *w)
{
	size_t all = 0;

	for (uint32_t i = 0; i < (w->profile->thread_count ? w->profile->thread_count : 1); i++) {
		size_t count;
		free(firefox_rows(w, i, &count));
		all += count;
	}
	return all;
}

/* ---- Before writing */

/* A unit of weight lasts a millisecond, or less if the sum would be years. */
static void choose_made_up_time(struct firefox_writer *w)
{
	const int64_t *weight = w->profile->row_weight[w->metric.i];
	uint64_t sum = 0;

	for (size_t i = 0; i < w->profile->row_count; i++)
		sum += weight[i] < 0 ? -(uint64_t)weight[i] : (uint64_t)weight[i];
	w->made_up_ns = w->is_ns || sum > UINT64_C(1000000000000000) ? 1
			: sum > 1000000000 ? UINT64_C(1000000000000000) / sum
					   : 1000000;
}

void firefox_rows_plan(struct firefox_writer *w)
{
	for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++) {
		size_t count = w->profile->stack_count;
		w->stack_number[state] =
			xrealloc_array(NULL, count, sizeof(*w->stack_number[state]));
		memset(w->stack_number[state], 0xff, count * sizeof(uint32_t));
	}
	choose_made_up_time(w);
	if (w->profile->samples.count == 0) {
		mark_totals(w);
		return;
	}
	sort_by_thread(w);
	if (w->shown <= w->row_limit || !w->has_times)
		return;
	for (w->slot_ns = 1000000; w->slot_ns < UINT64_MAX / 4; w->slot_ns *= 2)
		if (count_rows(w) <= w->row_limit)
			break;
}

void firefox_rows_deinit(struct firefox_writer *w)
{
	for (unsigned int state = 0; state < FIREFOX_STATE_COUNT; state++)
		free(w->stack_number[state]);
	free(w->order);
	free(w->first);
}

/* ---- Writing */

/* The beginning of the time that a thread's first row covers. */
static uint64_t lead_time(const struct firefox_row *first)
{
	uint64_t cpu_ns = first->cpu_ns > 0 ? (uint64_t)first->cpu_ns : 0;

	return first->time_ns > cpu_ns ? first->time_ns - cpu_ns : 0;
}

static void begin(struct firefox_writer *w, const char *name)
{
	json_put_key(&w->json, name);
	json_put_array(&w->json);
}

static void write_stacks(struct firefox_writer *w, const struct firefox_row *rows, size_t count)
{
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		firefox_put_number(w,
			rows[i].stack ? w->stack_number[rows[i].state][rows[i].stack] : NO_ID,
			true);
}

static void write_times(
	struct firefox_writer *w, const struct firefox_row *rows, size_t count, uint64_t before)
{
	for (size_t i = 0; i < count && sink_settle(w->sink); i++) {
		firefox_put_ms(w, rows[i].time_ns - before);
		before = rows[i].time_ns;
	}
}

static void write_weights(struct firefox_writer *w, const struct firefox_row *rows, size_t count)
{
	for (size_t i = 0; i < count && sink_settle(w->sink); i++)
		json_put_decimal(&w->json, rows[i].weight, w->is_ns ? 6 : 0);
}

static bool counts_one_each(const struct firefox_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].weight != 1)
			return false;
	return true;
}

void firefox_rows_write(struct firefox_writer *w, const struct firefox_row *rows, size_t count)
{
	struct json_writer *json = &w->json;
	bool has_lead = w->has_cpu && count > 0;
	uint64_t lead = has_lead ? lead_time(&rows[0]) : 0;

	json_put_object(json);
	json_put_key(json, "length"), json_put_unsigned(json, count + has_lead);
	begin(w, "stack");
	if (has_lead)
		json_put_null(json);
	write_stacks(w, rows, count);
	json_put_end(json);
	begin(w, "timeDeltas");
	if (has_lead)
		firefox_put_ms(w, lead);
	write_times(w, rows, count, lead);
	json_put_end(json);
	if (!has_lead && !w->is_ns && counts_one_each(rows, count)) {
		json_put_key(json, "weight"), json_put_null(json);
	} else {
		begin(w, "weight");
		if (has_lead)
			json_put_int(json, 0);
		write_weights(w, rows, count);
		json_put_end(json);
	}
	json_put_key(json, "weightType"), json_put_string(json, str_from(w->weight_type));
	if (w->has_cpu) {
		begin(w, "threadCPUDelta");
		if (has_lead)
			json_put_int(json, 0);
		for (size_t i = 0; i < count && sink_settle(w->sink); i++)
			json_put_int(json, rows[i].cpu_ns);
		json_put_end(json);
	}
	json_put_end(json);
}

/* ---- markers ---- */

/* The markers: times off the CPU, with the thread's stack at that time; zones; ticks. */

static const char *const state_names[FIREFOX_STATE_COUNT] = {
	"running", "blocked", "preempted", "woken"};

/* ---- Selection */

static size_t count_off_cpu(const struct firefox_writer *w, uint64_t shortest_ns)
{
	size_t count = 0;
	uint64_t off_cpu_ns;

	for (size_t i = 0; i < w->shown; i++)
		count += firefox_sample_state(w, w->order[i], &off_cpu_ns) != FIREFOX_RUNNING &&
			 off_cpu_ns >= shortest_ns;
	return count;
}

struct open_zones {
	struct firefox_writer *w;
	VEC(uint64_t) starts;
};

static void enter_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct open_zones *open = context;

	(void)thread;
	(void)stack;
	vec_push(&open->starts, time_ns);
}

static void leave_zone(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns)
{
	struct open_zones *open = context;
	uint32_t level = (uint32_t)--open->starts.count;

	open->w->first_zone[thread + 1]++;
	vec_push(&open->w->zones, (struct firefox_marker){.kind = MARKER_ZONE,
					  .stack = stack,
					  .level = level,
					  .start_ns = open->starts.data[level],
					  .end_ns = time_ns});
}

/* Either all zones or none: parts of a nesting would not make sense. */
static void find_zones(struct firefox_writer *w)
{
	const struct profile *p = w->profile;
	struct open_zones open = {.w = w};

	w->first_zone = xcalloc(p->thread_count + 2, sizeof(*w->first_zone));
	w->lacks_zones = p->zone_events.count > w->marker_limit;
	if (!w->lacks_zones)
		zone_walk(p, &open, enter_zone, leave_zone);
	vec_deinit(&open.starts);
	for (size_t i = 0; i < p->thread_count; i++)
		w->first_zone[i + 1] += w->first_zone[i];
}

void firefox_markers_deinit(struct firefox_writer *w)
{
	free(w->first_zone);
	vec_deinit(&w->zones);
}

/* If there are more than a browser can hold, keeps the longer ones. */
void firefox_markers_plan(struct firefox_writer *w)
{
	find_zones(w);
	if (!w->has_times)
		return;
	while (count_off_cpu(w, w->shortest_ns) > w->marker_limit)
		w->shortest_ns = w->shortest_ns ? w->shortest_ns * 2 : 1000;
}

/* ---- The markers of a thread */

struct marker_list {
	VEC(struct firefox_marker) items;
};

static void gather_off_cpu(struct firefox_writer *w, uint32_t thread, struct marker_list *list)
{
	const struct samples *s = &w->profile->samples;
	uint64_t off_cpu_ns;

	for (size_t i = w->first[thread]; i < w->first[thread + 1]; i++) {
		uint32_t sample = w->order[i];
		enum firefox_state state = firefox_sample_state(w, sample, &off_cpu_ns);

		if (state == FIREFOX_RUNNING || off_cpu_ns < w->shortest_ns)
			continue;
		if (w->state_name[state] == NO_ID)
			w->state_name[state] = firefox_literal(w, str_from(state_names[state]));
		vec_push(&list->items, (struct firefox_marker){.kind = MARKER_OFF_CPU,
					       .name = w->state_name[state],
					       .state = state,
					       .stack = s->stack[sample].i,
					       .start_ns = s->time_ns[sample],
					       .end_ns = s->time_ns[sample] + off_cpu_ns});
	}
}

/* The first tick of that process or of a later one. */
static size_t first_tick(const struct profile *p, uint32_t process)
{
	return partition_point(i, 0, p->tick_count, p->ticks[i].process.i < process);
}

static void gather_ticks(struct firefox_writer *w, uint32_t process, struct marker_list *list)
{
	const struct profile *p = w->profile;

	for (size_t i = first_tick(p, process);
		i < p->tick_count && p->ticks[i].process.i == process; i++)
		vec_push(&list->items, (struct firefox_marker){.kind = MARKER_TICK,
					       .name = firefox_string_number(w, p->ticks[i].stream),
					       .number = p->ticks[i].number,
					       .start_ns = p->ticks[i].start_ns,
					       .end_ns = p->ticks[i].end_ns});
}

/* Adds the zones found while planning; only now do their names have numbers. */
static void gather_zones(struct firefox_writer *w, uint32_t thread, struct marker_list *list)
{
	const struct profile *p = w->profile;

	for (size_t i = w->first_zone[thread]; i < w->first_zone[thread + 1]; i++) {
		struct firefox_marker m = w->zones.data[i];
		function_id function = p->frames[p->stack_frame[m.stack].i].function;

		m.name = firefox_string_number(w, p->functions[function.i].name);
		vec_push(&list->items, m);
	}
}

/* By start; with the same start, the outer one first. */
static int compare_markers(const void *a, const void *b)
{
	const struct firefox_marker *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* ---- Writing */

static void put_data(struct firefox_writer *w, const struct firefox_marker *m)
{
	static const char *const types[] = {
		[MARKER_OFF_CPU] = "Off-CPU", [MARKER_ZONE] = "Zone", [MARKER_TICK] = "Tick"};
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "type"), json_put_string(json, str_from(types[m->kind]));
	if (m->kind == MARKER_TICK)
		json_put_key(json, "number"), json_put_unsigned(json, m->number);
	if (m->kind == MARKER_OFF_CPU && m->stack) {
		json_put_key(json, "cause");
		json_put_object(json);
		json_put_key(json, "time"), firefox_put_ms(w, m->start_ns);
		json_put_key(json, "stack");
		json_put_unsigned(json, w->stack_number[m->state][m->stack]);
		json_put_end(json);
	}
	json_put_end(json);
}

static void put_field(struct firefox_writer *w, const char *name, const struct firefox_marker *m)
{
	struct json_writer *json = &w->json;

	switch (name[0]) {
	case 'c': /* category */
		json_put_unsigned(json, m->kind == MARKER_OFF_CPU ? FIREFOX_OFF_CPU : FIREFOX_ZONE);
		break;
	case 'd': /* data */
		put_data(w, m);
		break;
	case 'e': /* endTime */
		firefox_put_ms(w, m->end_ns);
		break;
	case 'n': /* name */
		json_put_unsigned(json, m->name);
		break;
	case 'p': /* phase: an interval */
		json_put_unsigned(json, 1);
		break;
	default: /* startTime */
		firefox_put_ms(w, m->start_ns);
	}
}

static void write_list(struct firefox_writer *w, const struct marker_list *list)
{
	static const char *const columns[] = {
		"category", "data", "endTime", "name", "phase", "startTime"};

	json_put_object(&w->json);
	json_put_key(&w->json, "length"), json_put_unsigned(&w->json, list->items.count);
	for (size_t c = 0; c < ARRAY_SIZE(columns); c++) {
		json_put_key(&w->json, columns[c]);
		json_put_array(&w->json);
		for (size_t i = 0; i < list->items.count && sink_settle(w->sink); i++)
			put_field(w, columns[c], &list->items.data[i]);
		json_put_end(&w->json);
	}
	json_put_end(&w->json);
}

void firefox_markers_write(struct firefox_writer *w, uint32_t thread, bool is_main)
{
	const struct profile *p = w->profile;
	struct marker_list list = {0};

	if (w->has_times && w->order)
		gather_off_cpu(w, thread, &list);
	if (thread < p->thread_count)
		gather_zones(w, thread, &list);
	if (thread < p->thread_count && is_main)
		gather_ticks(w, p->threads[thread].process.i, &list);
	if (list.items.count)
		qsort(list.items.data, list.items.count, sizeof(*list.items.data), compare_markers);
	write_list(w, &list);
	vec_deinit(&list.items);
}

/* ---- Schema */

static void put_schema(struct firefox_writer *w, const char *name, const char *description,
	const char *field, const char *label)
{
	static const char *const display[] = {"marker-chart", "marker-table", "timeline-overview"};
	struct json_writer *json = &w->json;

	json_put_object(json);
	json_put_key(json, "name"), json_put_string(json, str_from(name));
	json_put_key(json, "description"), json_put_string(json, str_from(description));
	json_put_key(json, "tableLabel"), json_put_string(json, STR("{marker.name}"));
	json_put_key(json, "chartLabel"), json_put_string(json, STR("{marker.name}"));
	json_put_key(json, "display");
	json_put_array(json);
	for (size_t i = 0; i < ARRAY_SIZE(display); i++)
		json_put_string(json, str_from(display[i]));
	json_put_end(json);
	json_put_key(json, "fields");
	json_put_array(json);
	if (field) {
		json_put_object(json);
		json_put_key(json, "key"), json_put_string(json, str_from(field));
		json_put_key(json, "label"), json_put_string(json, str_from(label));
		json_put_key(json, "format"), json_put_string(json, STR("integer"));
		json_put_end(json);
	}
	json_put_end(json);
	json_put_key(json, "isStackBased"), json_put_bool(json, strcmp(name, "Zone") == 0);
	json_put_end(json);
}

void firefox_markers_write_schema(struct firefox_writer *w)
{
	json_put_array(&w->json);
	put_schema(w, "Off-CPU",
		"The thread was off the CPU: blocked, or ready to run and preempted.", NULL, NULL);
	put_schema(w, "Zone", "A zone that the program has marked.", NULL, NULL);
	put_schema(w, "Tick", "A tick, or frame of time, that the program has marked.", "number",
		"Number");
	json_put_end(&w->json);
}
