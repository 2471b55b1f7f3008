/* The heat map: slices of time, and that they have all weight, once. */

#include "../random_profile.h"
#include "../unit.h"
#include "analysis/heat.h"

#define SECOND UINT64_C(1000000000)

/* What slices have in [from_ns, to_ns), which are at their ends. */
static int64_t weight_in(const struct heat *heat, uint64_t from_ns, uint64_t to_ns)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < heat->slices; i++) {
		uint64_t at = heat->begin_ns + i * heat->slice_ns;

		if (at >= from_ns && at < to_ns)
			sum += heat->weight[i];
	}
	return sum;
}

TEST(slices_have_all_weight_once)
{
	const struct random_shape shape = {.functions = 12,
		.objects = 3,
		.stacks = 300,
		.depth_max = 9,
		.metrics = 2,
		.weight_max = 1000,
		.samples = true,
		.zones = true,
		.negative = true};

	for (uint64_t seed = 1; seed <= 200; seed++) {
		struct profile *p = random_profile(seed, &shape);
		struct arena *arena = arena_create();
		const struct selection *all = selection_all(p, arena);
		metric_id metrics[] = {{0}, {1}};
		const struct heat *heat = heat_analyse(all, metrics, 2, arena);

		assert_int_equal(weight_in(heat, 0, UINT64_MAX), p->total[0]);
		assert_int_equal(weight_in(heat->others[0], 0, UINT64_MAX), p->total[1]);
		assert_int_equal(heat->slices % HEAT_ROWS, 0);
		assert_in_range(heat->slices / HEAT_ROWS, 1, HEAT_COLUMNS_MAX);
		arena_destroy(arena);
		profile_destroy(p);
	}
}

/* Two seconds, in which a thread runs for 1 ms at 0.25 s and sleeps from 0.5 s to 1.75 s. */
static struct profile *sleeper(uint64_t end_ns)
{
	struct builder *b = builder_create();
	struct profile *p;
	int64_t ran[] = {1000000, 1000000}, slept[] = {0, (int64_t)(1250 * SECOND / 1000)};
	int64_t last[] = {7, 7};

	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	(void)builder_metric(b, STR("real-time"), STR("ns"));
	process_id process = builder_process(b, 1, 0, STR("p"));
	thread_id thread = builder_thread(b, 1, process, 0, STR("p"));
	function_id f = builder_function(
		b, builder_string(b, STR("f")), (object_id){NO_ID}, (string_id){0}, 0);
	stack_id stack =
		builder_stack(b, (stack_id){0}, builder_frame(b, f, (string_id){0}, 0, false, 0));

	builder_sample(b, stack, thread, SECOND / 4, ran);
	builder_sample(b, stack, thread, SECOND / 2, slept);
	builder_sample(b, stack, thread, end_ns, last);
	assert_null(builder_finish(b, &p));
	return p;
}

TEST(time_off_the_cpu_is_where_it_was)
{
	struct profile *p = sleeper(2 * SECOND - 1);
	struct arena *arena = arena_create();
	metric_id metrics[] = {{0}, {1}};
	const struct heat *cpu = heat_analyse(selection_all(p, arena), metrics, 2, arena);
	const struct heat *real = cpu->others[0];

	/* 1.75 s in at most 60 columns, of 50 ms. */
	assert_int_equal(cpu->slice_ns, 2500000);
	assert_int_equal(cpu->begin_ns, SECOND / 4);
	assert_int_equal(weight_in(cpu, 0, SECOND / 2), 1000000);
	assert_int_equal(weight_in(real, SECOND / 4, SECOND / 2), 1000000);
	assert_int_equal(weight_in(real, SECOND / 2, SECOND), SECOND / 2);
	assert_int_equal(weight_in(real, SECOND, 1750 * SECOND / 1000), 750 * SECOND / 1000);
	assert_int_equal(weight_in(real, 1750 * SECOND / 1000, 3 * SECOND), 7);
	assert_int_equal(real->much, 2500000);
	arena_destroy(arena);
	profile_destroy(p);
}

TEST(times_may_be_as_late_as_can_be)
{
	struct profile *p = sleeper(UINT64_MAX - 1);
	struct arena *arena = arena_create();
	metric_id metric = {1};
	const struct heat *heat = heat_analyse(selection_all(p, arena), &metric, 1, arena);

	assert_in_range(heat->slices, HEAT_ROWS, HEAT_ROWS * HEAT_COLUMNS_MAX);
	assert_int_equal(weight_in(heat, 0, UINT64_MAX), p->total[1]);
	arena_destroy(arena);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_have_all_weight_once),
		cmocka_unit_test(time_off_the_cpu_is_where_it_was),
		cmocka_unit_test(times_may_be_as_late_as_can_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
