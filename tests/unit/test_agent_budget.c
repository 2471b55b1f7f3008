/*
 * The agent's budget, on simulated machines.
 */
#include <stdlib.h>

#include "agent/allowance.h"
#include "base/clock.h"
#include "base/compiler.h"
#include "base/memory.h"
#include "../unit.h"

TEST(test_limits_by_cpus)
{
	static const struct {
		uint32_t cpus;
		double percent;
		uint64_t mebibytes;
	} rows[] = {{1, 1, 65}, {2, 1, 66}, {32, 1, 96}, {33, 2, 97}, {64, 2, 128}, {128, 4, 192},
		{512, 16, 576}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_true(allowance_cpu_share(rows[i].cpus) * 100 - rows[i].percent < 1e-9);
		assert_true(rows[i].percent - allowance_cpu_share(rows[i].cpus) * 100 < 1e-9);
		assert_int_equal(allowance_memory_bytes(rows[i].cpus) >> 20, rows[i].mebibytes);
	}
}

/* A machine on which the agent costs so much of a CPU at the full rate, and whatever the rate. */
struct machine {
	uint32_t cpus;
	double rated, fixed;
	uint64_t memory_bytes;
};

struct run {
	double used_s, sampled_s, most_over_s; /* most_over_s: used beyond the share, at any time */
	double hour_s;			       /* the most used in an hour */
	uint32_t halvings_end, halvings_most;
};

/* Seconds of a simulated day; each second spends what the rate then costs. */
static struct run simulate(const struct machine *m, uint32_t seconds)
{
	double share = allowance_cpu_share(m->cpus), used_s = 0;
	double *used_by = calloc(seconds + 1, sizeof(*used_by));
	struct allowance a;
	struct run run = {0};

	allowance_init(&a, share, allowance_memory_bytes(m->cpus), SECOND_NS, 0);
	for (uint32_t s = 1; s <= seconds; s++) {
		if (!a.is_paused) {
			used_s += m->fixed + m->rated / (1 << a.halvings);
			run.sampled_s++;
		}
		(void)allowance_look(&a, (s + 1) * SECOND_NS, (uint64_t)(used_s * 1e9),
			a.is_paused ? 0 : m->memory_bytes);
		used_by[s] = used_s;
		if (used_s - used_by[s > 3600 ? s - 3600 : 0] > run.hour_s)
			run.hour_s = used_s - used_by[s > 3600 ? s - 3600 : 0];
		if (used_s - share * s > run.most_over_s)
			run.most_over_s = used_s - share * s;
		if (a.halvings > run.halvings_most)
			run.halvings_most = a.halvings;
	}
	free(used_by);
	run.used_s = used_s;
	run.halvings_end = a.halvings;
	return run;
}

TEST(test_cost_is_bounded)
{
	static const double costs[][2] = {
		{0, 0}, {0.002, 0.001}, {0.02, 0}, {0.05, 0.002}, {0.5, 0.01}, {0, 0.05}, {3, 3}};
	static const uint32_t cpus[] = {1, 2, 32, 128, 256};

	for (size_t c = 0; c < ARRAY_SIZE(cpus); c++)
		for (size_t i = 0; i < ARRAY_SIZE(costs); i++) {
			struct machine m = {cpus[c], costs[i][0], costs[i][1], 0};
			double share = allowance_cpu_share(cpus[c]), saved_s = share * 200;
			struct run run = simulate(&m, 6 * 3600);
			double second_s = m.fixed + m.rated;

			/* In any hour its share, and one look. */
			if (run.hour_s > share * 3600 + second_s)
				fail_msg("%u CPUs, cost %g + %g: %g s in an hour", cpus[c], m.rated,
					m.fixed, run.hour_s);
			/* What was saved, the debt, and one look. */
			if (run.most_over_s > 1.5 * saved_s + second_s)
				fail_msg("%u CPUs, cost %g + %g: %g s beyond the share", cpus[c],
					m.rated, m.fixed, run.most_over_s);
			assert_true(run.sampled_s > 0);
		}
}

/* What fits is left alone; what fits at half the rate is sampled all the time at half of it. */
TEST(test_rate_is_halved_no_more_than_needed)
{
	struct machine cheap = {2, 0.005, 0.002, 1 << 20}, dear = {2, 0.016, 0.001, 1 << 20};
	struct machine dearest = {2, 0.4, 0, 1 << 20};
	struct run run = simulate(&cheap, 6 * 3600);

	assert_int_equal(run.halvings_most, 0);
	assert_true(run.sampled_s == 6 * 3600);
	run = simulate(&dear, 6 * 3600);
	assert_int_equal(run.halvings_end, 1);
	assert_true(run.sampled_s == 6 * 3600);
	run = simulate(&dearest, 6 * 3600);
	assert_int_equal(run.halvings_most, ALLOWANCE_HALVINGS_MAX);
	/* 0.4 / 16 is 2.5 times the share: it samples two fifths of the time. */
	assert_true(run.sampled_s > 6 * 3600 / 4);
}

/* A storm passes, and the full rate comes back. */
TEST(test_full_rate_returns)
{
	struct allowance a;
	uint64_t time_ns = SECOND_NS, cpu_ns = 0;

	allowance_init(&a, 0.01, UINT64_MAX / 4, time_ns, cpu_ns);
	for (int s = 0; s < 3600; s++) {
		bool storm = s < 120;

		time_ns += SECOND_NS;
		cpu_ns += a.is_paused ? 0 : (storm ? 100000000u : 1000000u) >> a.halvings;
		(void)allowance_look(&a, time_ns, cpu_ns, 0);
		if (s == 119)
			assert_true(a.halvings > 0 || a.is_paused);
	}
	assert_int_equal(a.halvings, 0);
	assert_false(a.is_paused);
}

/* Memory for a moment only, as names take it, leaves these out, and then nothing more happens. */
TEST(test_names_are_left_out_first)
{
	struct allowance a;

	allowance_init(&a, 0.01, allowance_memory_bytes(2), SECOND_NS, 0);
	for (uint64_t s = 2; s < 200; s++) {
		bool names = s % 60 == 5 && !a.leaves_names;
		enum allowance_change change =
			allowance_look(&a, s * SECOND_NS, 0, (uint64_t)(names ? 90 : 20) << 20);

		assert_int_equal(change, names ? ALLOWANCE_NAMES : ALLOWANCE_SAME);
	}
	assert_true(a.leaves_names);
	assert_int_equal(a.halvings, 0);
	/* New limits, such as those of a reload, give names another chance. */
	allowance_set(&a, 0.01, (uint64_t)1 << 30);
	assert_false(a.leaves_names);
}

/* In this order: the rate, then names; and only after a calm time. */
TEST(test_names_come_back)
{
	struct allowance a;
	uint64_t s = 1, named_s = 0, full_s = 0;

	allowance_init(&a, 0.01, allowance_memory_bytes(2), s * SECOND_NS, 0);
	a.halvings = 1;
	assert_int_equal(
		allowance_look(&a, ++s * SECOND_NS, 0, (uint64_t)90 << 20), ALLOWANCE_NAMES);
	/* What takes more than half of the memory is not calm. */
	for (; s < 400; s++)
		assert_int_equal(
			allowance_look(&a, s * SECOND_NS, 0, (uint64_t)50 << 20), ALLOWANCE_SAME);
	assert_true(a.leaves_names);
	for (; s < 800; s++) {
		(void)allowance_look(&a, s * SECOND_NS, 0, (uint64_t)20 << 20);
		full_s = full_s == 0 && a.halvings == 0 ? s : full_s;
		named_s = named_s == 0 && !a.leaves_names ? s : named_s;
	}
	assert_in_range(full_s, 400 + 100, 400 + 150);
	assert_in_range(named_s, full_s + 100, full_s + 150);
}

TEST(test_memory)
{
	struct machine m = {2, 0.001, 0, (uint64_t)80 << 20};
	struct machine huge = {2, 0.001, 0, (uint64_t)200 << 20};
	struct allowance a;

	assert_int_equal(simulate(&m, 600).halvings_most, ALLOWANCE_HALVINGS_MAX);
	assert_true(simulate(&m, 600).sampled_s < 400);
	/* More than twice of what it may have pauses at once. */
	allowance_init(&a, 0.01, allowance_memory_bytes(2), SECOND_NS, 0);
	assert_int_equal(allowance_look(&a, SECOND_NS, 0, huge.memory_bytes), ALLOWANCE_NAMES);
	assert_int_equal(allowance_look(&a, 2 * SECOND_NS, 0, huge.memory_bytes), ALLOWANCE_PAUSE);
	assert_int_equal(allowance_look(&a, 30 * SECOND_NS, 0, 0), ALLOWANCE_SAME);
	assert_int_equal(allowance_look(&a, 63 * SECOND_NS, 0, 0), ALLOWANCE_RESUME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_by_cpus),
		cmocka_unit_test(test_cost_is_bounded),
		cmocka_unit_test(test_rate_is_halved_no_more_than_needed),
		cmocka_unit_test(test_full_rate_returns),
		cmocka_unit_test(test_names_are_left_out_first),
		cmocka_unit_test(test_names_come_back),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
