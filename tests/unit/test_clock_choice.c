/*
 * The choice of the copy's size: the small one is tried when it would have done, left when it does
 * not, and tried less and less often where it never does.
 */
#include "record/engines/perf/tuning.h"
#include "../unit.h"

/* Walks until the choice changes; how many it took, or limit. */
static uint32_t walk_until(struct clock_choice *c, bool small, uint32_t every, uint32_t limit)
{
	for (uint32_t i = 1; i <= limit; i++) {
		clock_choice_walked(c, every > 0 && i % every == 0);
		if (c->small == small)
			return i;
	}
	return limit;
}

TEST(test_shallow)
{
	struct clock_choice c;

	clock_choice_init(&c);
	assert_false(c.small);
	assert_in_range(walk_until(&c, true, 0, 10000), 500, 2000);
	assert_int_equal(walk_until(&c, false, 0, 100000), 100000);
}

TEST(test_deep)
{
	struct clock_choice c;

	clock_choice_init(&c);
	assert_int_equal(walk_until(&c, true, 10, 100000), 100000);
}

/* One in two thousand beyond the copy is no reason to leave it; they may be read in time. */
TEST(test_seldom)
{
	struct clock_choice c;

	clock_choice_init(&c);
	walk_until(&c, true, 0, 10000);
	assert_true(c.small);
	assert_int_equal(walk_until(&c, false, 2000, 100000), 100000);
}

/* A program that is shallow whenever it is looked at, and deep right after. */
TEST(test_patience)
{
	struct clock_choice c;
	uint32_t waits[4];

	clock_choice_init(&c);
	for (size_t i = 0; i < 4; i++) {
		waits[i] = walk_until(&c, true, 0, 1000000);
		assert_true(c.small);
		assert_in_range(walk_until(&c, false, 1, 1000), 1, 10);
	}
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(waits[i], 4 * waits[i - 1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shallow),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_patience),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
