/*
 * Samples dropped while the backlog is long: how many, and that nothing of their weight is lost.
 */
#include "record/samples/weights.h"
#include "../unit.h"

/* Of count samples that weigh 10 each, so many are kept; the rest is carried at the end. */
static uint64_t kept_of(uint64_t count, double level)
{
	struct thinning thinning = {0};
	struct thinned thread = {0};
	uint64_t kept = 0, sum = 0;

	for (uint64_t i = 0; i < count; i++) {
		if (thinning_drops(&thinning, &thread, level, 10))
			continue;
		sum += 10 + thinned_take(&thread);
		thinned_keep(&thread, 1, 2, i);
		kept++;
	}
	assert_int_equal(thinning.dropped, count - kept);
	assert_int_equal(sum + thread.carried_ns, 10 * count);
	assert_int_equal(10 * thread.carried, thread.carried_ns);
	return kept;
}

TEST(test_levels)
{
	assert_int_equal(kept_of(1000, 0), 1000);
	assert_int_equal(kept_of(1000, 0.24), 1000);
	assert_int_equal(kept_of(1000, 0.25), 500);
	assert_int_equal(kept_of(1000, 0.5), 250);
	assert_int_equal(kept_of(1000, 0.7), 125);
	assert_int_equal(kept_of(1000, 0.875), 63);
}

/* What is carried goes to the first sample that is kept when there is no need any more. */
TEST(test_relief)
{
	struct thinning thinning = {0};
	struct thinned thread = {0};

	/* The first one is kept in any case: what is carried needs a stack. */
	assert_false(thinning_drops(&thinning, &thread, 1, 10));
	thinned_keep(&thread, 7, 2, 100);
	for (int i = 0; i < 5; i++)
		assert_true(thinning_drops(&thinning, &thread, 1, 10));
	assert_false(thinning_drops(&thinning, &thread, 0, 10));
	assert_int_equal(thread.node, 7);
	assert_int_equal(thread.time_ns, 100);
	assert_int_equal(thinned_take(&thread), 50);
	assert_int_equal(thinned_take(&thread), 0);
	assert_int_equal(thinning.dropped, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_relief),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
