/*
 * Weights and samples as they come in: weights are summed onto stacks, samples are kept as columns.
 *
 * Whether a sum fits is decided on absolute values, so it does not depend on the order of calls and
 * no partial sum can overflow either; builder_finish judges.
 */
#include "model/builder.h"

#include <assert.h>

#include "model/builder_state.h"

/* Stacks that columns grow by at the least, so that not every new one makes each of them grow. */
#define WEIGHTS_MORE 64

/* Makes the columns long enough for that stack. */
static void weights_extend(struct builder *b, stack_id stack)
{
	for (size_t m = 0; m < b->metrics.count; m++)
		vec_extend(&b->columns[m].of_stack, (size_t)stack.i + WEIGHTS_MORE);
}

static inline void weights_add(struct builder *b, stack_id stack, const int64_t *weight)
{
	columns_ensure(b);
	if (unlikely(stack.i >= b->columns[0].of_stack.count))
		weights_extend(b, stack);
	for (size_t m = 0, count = b->metrics.count; m < count; m++) {
		struct column *c = &b->columns[m];

		add_saturating(&c->absolute_sum, magnitude(weight[m]));
		add_wrapping(&c->of_stack.data[stack.i], weight[m]);
	}
}

static void stack_samples_add(struct builder *b, stack_id stack, uint64_t samples)
{
	vec_extend(&b->samples_of_stack, (size_t)stack.i + 1);
	add_saturating(&b->samples_of_stack.data[stack.i], samples);
	add_saturating(&b->samples_sum, samples);
}

void builder_warm_weight(const struct builder *b, stack_id stack)
{
	for (size_t m = 0; b->columns && m < b->metrics.count; m++)
		if (stack.i < b->columns[m].of_stack.count)
			__builtin_prefetch(&b->columns[m].of_stack.data[stack.i], 1);
	if (stack.i < b->samples_of_stack.count)
		__builtin_prefetch(&b->samples_of_stack.data[stack.i], 1);
}

void builder_weight(struct builder *b, stack_id stack, const int64_t *weight, uint64_t samples)
{
	assert(stack.i < stack_table_count(&b->stacks) && b->sample_stack.count == 0);
	b->has_weights = true;
	weights_add(b, stack, weight);
	if (samples == UINT64_MAX)
		b->samples_unknown = true;
	else if (!b->samples_unknown)
		stack_samples_add(b, stack, samples);
}

static void places_begin(struct builder *b)
{
	b->has_weights = b->samples_unknown = true;
	weight_rows_begin(&b->places, b->metrics.count);
}

frame_id builder_place(struct builder *b, const struct frame *frame, const int64_t *weight)
{
	frame_id id = builder_frame_intern(b, frame, BUDGET_FRAME_BYTES + b->stack_price);

	if (unlikely(b->places.absolute_sum == NULL))
		places_begin(b);
	weight_rows_add(&b->places, id.i, weight);
	return id;
}

uint64_t builder_place_sum(const struct builder *b, metric_id metric)
{
	return b->places.absolute_sum ? b->places.absolute_sum[metric.i] : 0;
}

void builder_places_end(struct builder *b)
{
	size_t count = b->frames.count;

	if (b->places.absolute_sum == NULL)
		return;
	assert(stack_table_count(&b->stacks) == 1 && b->sample_stack.count == 0);
	for (uint32_t i = 0; i < count; i++)
		(void)stack_table_push(&b->stacks, (stack_id){0}, (frame_id){i});
	columns_ensure(b);
	for (size_t m = 0; m < b->metrics.count; m++) {
		struct column *c = &b->columns[m];

		vec_extend(&c->of_stack, count + 1);
		weight_rows_column(&b->places, m, c->of_stack.data + 1, count);
		c->absolute_sum = b->places.absolute_sum[m];
	}
	weight_rows_deinit(&b->places);
}

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

/* Into the one sample that stands for all that there is no room for. */
static void sum_sample(struct builder *b, thread_id thread, uint64_t time_ns, const int64_t *weight)
{
	size_t i = b->sample_left_out;

	if (i == SIZE_MAX) {
		b->sample_left_out = b->sample_stack.count;
		push_sample(b, builder_stack_left_out(b), thread, time_ns, weight);
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
		add_saturating(&b->columns[m].absolute_sum, magnitude(weight[m]));
	b->is_left_out = !pay(b, BUDGET_SAMPLE, BUDGET_SAMPLE_BYTES + 8 * b->metrics.count);
	if (unlikely(b->is_left_out))
		sum_sample(b, thread, time_ns, weight);
	else
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
}

void builder_sample_zone(struct builder *b, stack_id zone)
{
	assert(b->sample_stack.count && zone.i < stack_table_count(&b->stacks));
	if (b->is_left_out)
		return;
	vec_extend(&b->sample_zone, b->sample_stack.count);
	b->sample_zone.data[b->sample_stack.count - 1] = zone;
}
