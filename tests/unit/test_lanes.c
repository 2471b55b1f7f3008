/*
 * Lanes of threads over time: slices add up to what the samples weigh, whatever the slices are, and
 * each is what adding nanosecond by nanosecond gives.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../unit.h"
#include "analysis/lane_groups.h"
#include "model/builder.h"

#define SAMPLES 300u
#define THREADS 4u

/* Samples on the CPU, in user code or the kernel, and times off it, of some threads. */
static struct profile *recorded(struct random *r)
{
	struct builder *b = builder_create();
	struct profile *profile;
	thread_id threads[THREADS];
	stack_id stacks[2];

	builder_metric(b, STR("cpu-time"), STR("ns"));
	builder_metric(b, STR("real-time"), STR("ns"));
	builder_metric(b, STR("blocked-time"), STR("ns"));
	builder_metric(b, STR("preempted-time"), STR("ns"));
	process_id processes[] = {
		builder_process(b, 1, 0, STR("p")), builder_process(b, 9, 0, STR("q"))};
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = builder_thread(b, 1 + i, processes[i == 2], 0, STR("t"));
	for (uint32_t i = 0; i < 2; i++) {
		object_id object = builder_object(b, i ? STR("[kernel]") : STR("/bin/x"), STR(""),
			i ? OBJECT_KERNEL : OBJECT_USER);
		function_id function = builder_function(
			b, builder_string(b, STR("f")), object, builder_string(b, STR("")), 0);

		stacks[i] = builder_stack(b, i ? stacks[0] : (stack_id){0},
			builder_frame(b, function, builder_string(b, STR("")), 0, false, 0));
	}
	for (uint32_t i = 0; i < SAMPLES; i++) {
		int64_t time = 1 + random_below(r, 40);
		uint32_t kind = random_below(r, 3);
		const int64_t weight[] = {
			kind == 0 ? time : 0, time, kind == 1 ? time : 0, kind == 2 ? time : 0};

		builder_sample(b, stacks[random_below(r, 2)], threads[random_below(r, THREADS)],
			random_below(r, 1000), weight);
	}
	assert_null(builder_finish(b, &profile));
	return profile;
}

static enum lane_kind kind_of(const struct profile *p, size_t sample)
{
	if (p->samples.weight[2][sample])
		return LANE_BLOCKED;
	if (p->samples.weight[3][sample])
		return LANE_PREEMPTED;
	return p->samples.stack[sample].i == 2 ? LANE_KERNEL : LANE_USER;
}

/* Time off the CPU is spent evenly from its sample's time on; a sample on it is a moment. */
static int64_t weight_in(const struct profile *p, uint32_t thread, enum lane_kind kind,
	uint64_t begin_ns, uint64_t end_ns)
{
	int64_t weight = 0;

	for (size_t i = 0; i < p->samples.count; i++) {
		uint64_t time_ns = p->samples.time_ns[i];
		bool is_off = kind == LANE_BLOCKED || kind == LANE_PREEMPTED;

		if (p->samples.thread[i].i != thread || kind_of(p, i) != kind)
			continue;
		if (!is_off && time_ns >= begin_ns && time_ns < end_ns)
			weight += p->samples.weight[0][i];
		for (int64_t k = 0; is_off && k < p->samples.weight[1][i]; k++)
			weight +=
				time_ns + (uint64_t)k >= begin_ns && time_ns + (uint64_t)k < end_ns;
	}
	return weight;
}

TEST(slices_are_what_was_spent_in_them)
{
	struct random r = random_from(11);

	for (int round = 0; round < 60; round++) {
		struct profile *p = recorded(&r);
		struct arena *arena = arena_create();
		const struct selection *selection = selection_all(p, arena);
		uint32_t count = 1 + random_below(&r, 90);
		struct time_slices slices = round % 2 ? lanes_span(selection, count)
						      : (struct time_slices){random_below(&r, 500),
								1 + random_below(&r, 30), count};
		const struct lanes *lanes = lanes_analyse(selection, (metric_id){0}, slices, arena);

		assert_int_equal(lanes->count, THREADS);
		for (size_t i = 0; i < lanes->count; i++)
			for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++) {
				const struct lane *lane = &lanes->lanes[i];
				int64_t sum = 0;

				for (uint32_t k = 0; lane->weight[kind] && k < count; k++) {
					uint64_t begin_ns = slices.begin_ns + k * slices.slice_ns;

					assert_int_equal(lane->weight[kind][k],
						weight_in(p, lane->thread, kind, begin_ns,
							begin_ns + slices.slice_ns));
					sum += lane->weight[kind][k];
				}
				if (round % 2)
					assert_int_equal(sum, lane->total[kind]);
			}
		arena_destroy(arena);
		profile_destroy(p);
	}
}

TEST(the_busiest_come_first)
{
	struct random r = random_from(12);
	struct profile *p = recorded(&r);
	struct arena *arena = arena_create();
	const struct selection *selection = selection_all(p, arena);
	const struct lanes *lanes =
		lanes_analyse(selection, (metric_id){0}, lanes_span(selection, 10), arena);

	for (size_t i = 1; i < lanes->count; i++)
		assert_true(p->threads[lanes->lanes[i - 1].thread].process.i !=
				    p->threads[lanes->lanes[i].thread].process.i ||
			    lanes->lanes[i - 1].total[LANE_USER] +
					    lanes->lanes[i - 1].total[LANE_KERNEL] >=
				    lanes->lanes[i].total[LANE_USER] +
					    lanes->lanes[i].total[LANE_KERNEL]);
	arena_destroy(arena);
	profile_destroy(p);
}

TEST(processes_sum_their_threads)
{
	struct random r = random_from(13);
	struct profile *p = recorded(&r);
	struct arena *arena = arena_create();
	const struct selection *selection = selection_all(p, arena);
	const struct lanes *lanes =
		lanes_analyse(selection, (metric_id){0}, lanes_span(selection, 50), arena);
	const struct lane_groups *groups = lane_groups_analyse(lanes, p, arena);
	size_t members = 0;

	assert_int_equal(groups->count, 2);
	for (size_t g = 0; g < 2; g++) {
		const struct lane_group *group = &groups->groups[g];
		int64_t peak = 0;

		assert_int_equal(group->first, members);
		members += group->count;
		for (uint32_t k = 0; k < 50; k++) {
			int64_t here = 0;

			for (enum lane_kind kind = 0; kind < LANE_KIND_COUNT; kind++) {
				const int64_t *of = group->sum.weight[kind];
				int64_t sum = 0;

				for (size_t i = 0; i < group->count; i++) {
					const int64_t *weight =
						lanes->lanes[group->first + i].weight[kind];

					sum += weight ? weight[k] : 0;
				}
				assert_int_equal(of ? of[k] : 0, sum);
				here += kind == LANE_BLOCKED ? 0 : sum;
			}
			peak = here > peak ? here : peak;
		}
		assert_int_equal(group->peak, peak);
	}
	assert_int_equal(members, THREADS);
	arena_destroy(arena);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slices_are_what_was_spent_in_them),
		cmocka_unit_test(the_busiest_come_first),
		cmocka_unit_test(processes_sum_their_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
