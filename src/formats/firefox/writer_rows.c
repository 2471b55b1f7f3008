/*
 * The samples of a Firefox profile: which of them are shown, in what order, and as what.
 *
 * A row of the format stands for the time up to it: its CPU time is that since the row before.  So
 * a time off the CPU, which the profile tells with its start, is a row at its end with no CPU time,
 * and a thread's first row comes after one without a stack.
 *
 * Where there are more rows than a browser can hold, time is cut into slots, as short ones as will
 * do, and of each slot the samples of one stack are one row.
 */
#include "formats/firefox/writer.h"

#include <stdlib.h>

#include "base/alloc.h"

static int64_t weight_of(const struct firefox_writer *w, uint32_t metric, size_t sample)
{
	return metric == NO_ID ? 0 : w->profile->samples.weight[metric][sample];
}

enum firefox_state firefox_sample_state(
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

/* Zone rows, and samples of other metrics alone, have nothing to show. */
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

/* By thread; those of one stay in the profile's order. */
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

/* Of a profile without samples each stack with weight is one. */
static void mark_totals(struct firefox_writer *w)
{
	for (uint32_t i = 0; i < w->profile->stack_count; i++)
		if (profile_weight(w->profile, w->metric.i, i) != 0)
			mark_stack(w, i, FIREFOX_RUNNING);
}

static int compare_rows(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	return (x->weight > y->weight) - (x->weight < y->weight);
}

/* ---- Slots */

static int compare_in_slot(const void *a, const void *b)
{
	const struct firefox_row *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->state != y->state)
		return x->state < y->state ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

/* Sums rows of one slot, which they leave by time: how many are left. */
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

/* The same of rows by time: those of each slot come to the front, one behind the other. */
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

/* ---- Before the writing */

/* A unit of weight is a millisecond, or less where that would make years of them. */
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

/* Where the time that a thread's first row is of began. */
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
