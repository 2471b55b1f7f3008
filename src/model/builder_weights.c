/*
 * Weights and samples as they come in: weights are summed onto stacks, samples are kept as columns.
 *
 * Whether sums fit is decided by the sums of each sign (weight_rows.h), so it does not depend on
 * the order of calls and no partial sum can overflow; builder_finish checks it.
 *
 * The stacks of places are made at the end, and their frames mostly without a lookup
 * (place_runs.h).
 */
#include "model/builder.h"

#include <assert.h>

#include "base/compiler.h"
#include "model/builder_state.h"

/* The stack's row of weights, which is made if there is none. */
static uint32_t row_at(struct builder *b, stack_id stack)
{
	uint32_t row = row_index_find(&b->rows, stack);

	return row ? row : row_index_add(&b->rows, stack);
}

/* The same, paid for if it is new; without room, the row of the stack "[left out]". */
static uint32_t row_paid(struct builder *b, stack_id stack)
{
	uint32_t row = row_index_find(&b->rows, stack);

	if (row)
		return row;
	if (!pay(b, BUDGET_SAMPLE, b->row_price))
		return row_at(b, builder_stack_left_out(b));
	return row_index_add(&b->rows, stack);
}

static void row_samples_add(struct builder *b, uint32_t row, uint64_t samples)
{
	vec_extend(&b->samples_of_row, (size_t)row + 1);
	add_saturating(&b->samples_of_row.data[row], samples);
	add_saturating(&b->samples_sum, samples);
}

void builder_warm_weight(const struct builder *b, stack_id stack)
{
	uint32_t row = stack.i < b->rows.table.count ? b->rows.table.data[stack.i] : 0;

	if (row == 0)
		return;
	if (b->weights.metric_count)
		prefetch_to_write(&b->weights.sums.data[row * b->weights.metric_count]);
	if (row < b->samples_of_row.count)
		prefetch_to_write(&b->samples_of_row.data[row]);
}

void builder_weight(struct builder *b, stack_id stack, const int64_t *weight, uint64_t samples)
{
	assert(stack.i < stack_table_count(&b->stacks) && b->sample_stack.count == 0);
	uint32_t row = row_paid(b, stack);

	if (unlikely(!b->has_weights))
		weight_rows_begin(&b->weights, b->metrics.count);
	b->has_weights = true;
	weight_rows_add(&b->weights, row, weight);
	if (samples == UINT64_MAX)
		b->samples_unknown = true;
	else if (!b->samples_unknown)
		row_samples_add(b, row, samples);
}

/* ---- Places, of a profile without stacks: each is a frame, and the stack of it alone */

static void places_begin(struct builder *b)
{
	b->has_weights = b->has_places = b->samples_unknown = true;
	weight_rows_begin(&b->weights, b->metrics.count);
}

/* The frame's number, if the order of places gives it. */
static frame_id seek_in_order(struct builder *b, const struct frame *f, uint64_t price)
{
	const struct place_run *run = place_runs_of(&b->place_runs, f->function);
	frame_id id;

	if (place_run_is_behind(run, f) && budget_has(&b->budget, price)) {
		id.i = row_table_push_apart(&b->frames, &frame_rows, f);
		budget_take(&b->budget, price);
	} else if (!place_run_find(run, b->frames.rows, f, &id)) {
		id = builder_frame_seek(b, f, price);
	}
	if (b->frames.count == b->place_runs.count + 1 && id.i == b->place_runs.count)
		place_runs_add(&b->place_runs, f);
	return id;
}

/* The place's frame, which is not the one after the last. */
static frame_id place_seek(struct builder *b, const struct frame *f)
{
	uint64_t price = BUDGET_FRAME_BYTES + BUDGET_STACK_BYTES + b->row_price;

	if (!b->has_places)
		places_begin(b);
	/* There are more frames once something is left out: those that replace it. */
	if (b->place_runs.count != b->frames.count)
		return builder_frame_seek(b, f, price);
	return seek_in_order(b, f, price);
}

frame_id builder_place(struct builder *b, const struct frame *frame, const int64_t *weight)
{
	frame_id id = {b->frame_before + 1};

	/* Places mostly recur in the order in which they first came. */
	if (id.i >= b->frames.count ||
		!frame_same(row_table_row(&b->frames, &frame_rows, id.i), frame))
		id = place_seek(b, frame);
	b->frame_before = id.i;
	weight_rows_add(&b->weights, (size_t)id.i + 1, weight);
	return id;
}

int64_t builder_place_sum(const struct builder *b, metric_id metric)
{
	if (!b->has_places)
		return 0;
	const struct weight_bounds *bounds = &b->weights.bounds[metric.i];

	return (int64_t)(bounds->of[0] - bounds->of[1]);
}

void builder_places_end(struct builder *b)
{
	uint32_t count = (uint32_t)b->frames.count;

	if (!b->has_places)
		return;
	assert(stack_table_count(&b->stacks) == 1 && b->rows.count == 1);
	for (uint32_t i = 0; i < count; i++)
		(void)row_index_add(
			&b->rows, stack_table_push(&b->stacks, (stack_id){0}, (frame_id){i}));
	place_runs_deinit(&b->place_runs);
}

/* ---- Samples */

static void push_sample(struct builder *b, stack_id stack, thread_id thread, uint64_t time_ns,
	const int64_t *weight)
{
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_push(&b->columns[m].of_sample, weight[m]);
	/* A column that begins late would belong to the wrong samples. */
	if (thread.i != NO_ID) {
		assert(b->sample_thread.count == b->sample_stack.count);
		vec_push(&b->sample_thread, thread);
	}
	if (time_ns != UINT64_MAX) {
		assert(b->sample_time.count == b->sample_stack.count);
		vec_push(&b->sample_time, time_ns);
	}
	vec_push(&b->sample_stack, stack);
}

/* Adds to the one sample that replaces all that there is no room for. */
static void sum_sample(struct builder *b, thread_id thread, uint64_t time_ns, const int64_t *weight)
{
	size_t i = b->sample_left_out;

	if (i == SIZE_MAX) {
		stack_id stack = builder_stack_left_out(b);

		b->sample_left_out = b->sample_stack.count;
		(void)row_at(b, stack);
		push_sample(b, stack, thread, time_ns, weight);
		return;
	}
	for (size_t m = 0; m < b->metrics.count; m++)
		add_wrapping(&b->columns[m].of_sample.data[i], weight[m]);
}

void builder_sample(struct builder *b, stack_id stack, thread_id thread, uint64_t time_ns,
	const int64_t *weight)
{
	assert(stack.i < stack_table_count(&b->stacks) && !b->has_weights);
	columns_ensure(b);
	for (size_t m = 0; m < b->metrics.count; m++)
		weight_bounds_add(&b->columns[m].bounds, weight[m]);
	uint64_t price = BUDGET_SAMPLE_BYTES + 8 * b->metrics.count;
	bool is_new = row_index_find(&b->rows, stack) == 0;
	b->is_left_out = !pay(b, BUDGET_SAMPLE, is_new ? price + b->row_price : price);
	if (unlikely(b->is_left_out)) {
		sum_sample(b, thread, time_ns, weight);
		return;
	}
	if (is_new)
		(void)row_index_add(&b->rows, stack);
	push_sample(b, stack, thread, time_ns, weight);
}

void builder_expect_samples(struct builder *b, size_t count)
{
	size_t total = b->sample_stack.count + count;

	columns_ensure(b);
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_reserve(&b->columns[m].of_sample, total);
	vec_reserve(&b->sample_thread, total);
	vec_reserve(&b->sample_time, total);
	vec_reserve(&b->sample_stack, total);
	row_index_expect(&b->rows, stack_table_count(&b->stacks));
}

void builder_sample_zone(struct builder *b, stack_id zone)
{
	assert(b->sample_stack.count && zone.i < stack_table_count(&b->stacks));
	if (b->is_left_out)
		return;
	vec_extend(&b->sample_zone, b->sample_stack.count);
	b->sample_zone.data[b->sample_stack.count - 1] = zone;
}

#define vec_append(v, from, more)                                                                  \
	do {                                                                                       \
		vec_reserve((v), (v)->count + (more));                                             \
		memcpy((v)->data + (v)->count, (from), (more) * sizeof(*(v)->data));               \
		(v)->count += (more);                                                              \
	} while (0)

static void samples_one_by_one(struct builder *b, const struct sample_columns *s)
{
	int64_t *weight = xcalloc(b->metrics.count, sizeof(*weight));

	for (size_t i = 0; i < s->count; i++) {
		for (size_t m = 0; m < b->metrics.count; m++)
			weight[m] = s->weight[m][i];
		builder_sample(b, s->stack[i], s->thread ? s->thread[i] : (thread_id){NO_ID},
			s->time_ns ? s->time_ns[i] : UINT64_MAX, weight);
		if (s->zone)
			builder_sample_zone(b, s->zone[i]);
		if (s->labels)
			builder_sample_labels(b, s->labels[i]);
	}
	free(weight);
}

/* Gives rows to the stacks that have none; there is room for them. */
static void rows_ensure(struct builder *b, const stack_id *stack, size_t count)
{
	uint32_t stacks = (uint32_t)stack_table_count(&b->stacks), before = b->rows.count;

	for (size_t i = 0; i < count; i++) {
		assert(stack[i].i < stacks);
		(void)row_at(b, stack[i]);
	}
	budget_take(&b->budget, (b->rows.count - before) * b->row_price);
}

void builder_samples(struct builder *b, const struct sample_columns *s)
{
	uint64_t price = BUDGET_SAMPLE_BYTES + 8 * b->metrics.count;

	if (unlikely(!budget_has(&b->budget, s->count * (price + b->row_price)))) {
		samples_one_by_one(b, s);
		return;
	}
	assert(!b->has_weights &&
		b->sample_thread.count == (s->thread ? b->sample_stack.count : 0) &&
		b->sample_time.count == (s->time_ns ? b->sample_stack.count : 0));
	columns_ensure(b);
	budget_take(&b->budget, s->count * price);
	rows_ensure(b, s->stack, s->count);
	for (size_t m = 0; m < b->metrics.count; m++) {
		weight_bounds_add_all(&b->columns[m].bounds, s->weight[m], s->count);
		vec_append(&b->columns[m].of_sample, s->weight[m], s->count);
	}
	if (s->zone) {
		vec_extend(&b->sample_zone, b->sample_stack.count);
		vec_append(&b->sample_zone, s->zone, s->count);
	}
	if (s->labels) {
		vec_extend(&b->labels.of_sample, b->sample_stack.count);
		vec_append(&b->labels.of_sample, s->labels, s->count);
	}
	if (s->thread)
		vec_append(&b->sample_thread, s->thread, s->count);
	if (s->time_ns)
		vec_append(&b->sample_time, s->time_ns, s->count);
	vec_append(&b->sample_stack, s->stack, s->count);
	b->is_left_out = false;
}

/* ---- weights without a stack ---- */

/* The last row replaces one that no longer belongs to a stack. */
static void drop_row(struct builder *b, uint32_t row)
{
	uint32_t last = --b->rows.count;

	for (uint32_t i = 0; i < b->rows.table.count; i++)
		if (b->rows.table.data[i] == last)
			b->rows.table.data[i] = row;
	weight_rows_move(&b->weights, last, row);
	if (row != last && last < b->samples_of_row.count)
		b->samples_of_row.data[row] = b->samples_of_row.data[last];
	if (last < b->samples_of_row.count)
		b->samples_of_row.count = last;
}

/* Adds a row's sums to another's. */
static void join_rows(struct builder *b, uint32_t from, uint32_t to)
{
	weight_rows_join(&b->weights, from, to);
	if (from >= b->samples_of_row.count)
		return;
	vec_extend(&b->samples_of_row, (size_t)to + 1);
	add_saturating(&b->samples_of_row.data[to], b->samples_of_row.data[from]);
}

/* Whether samples without a stack have any weight. */
static bool has_weight_of_none(struct builder *b)
{
	uint32_t row = row_index_find(&b->rows, (stack_id){0});

	if (row == 0)
		return false;

	for (size_t i = 0; i < b->sample_stack.count; i++)
		for (size_t m = 0; b->sample_stack.data[i].i == 0 && m < b->metrics.count; m++)
			if (b->columns[m].of_sample.data[i] != 0)
				return true;
	return weight_rows_any(&b->weights, row) ||
	       (row < b->samples_of_row.count && b->samples_of_row.data[row] > 0);
}

void builder_name_no_stack(struct builder *b)
{
	if (b->header.when.i != 0 || !has_weight_of_none(b))
		return;
	stack_id stack = builder_stack_of_none(b);
	uint32_t row = row_index_find(&b->rows, (stack_id){0});
	uint32_t row_of_none = row_index_find(&b->rows, stack);

	row_index_set(&b->rows, (stack_id){0}, 0);
	if (row_of_none) {
		join_rows(b, row, row_of_none);
		drop_row(b, row);
	} else {
		row_index_set(&b->rows, stack, row);
	}
	for (size_t i = 0; i < b->sample_stack.count; i++)
		if (b->sample_stack.data[i].i == 0)
			b->sample_stack.data[i] = stack;
}
