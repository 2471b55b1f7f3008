/*
 * The budget, given totals by hand: when it halves the rate, when it doubles it, when it waits.
 */
#include "record/budget.h"
#include "../unit.h"

#define SECOND UINT64_C(1000000000)

/* A second passes, in which the target worked all the time and recording cost that share of it. */
static bool pass(struct budget *b, struct budget_use *use, double cost)
{
	use->time_ns += SECOND;
	use->target_cpu_ns += SECOND;
	use->own_cpu_ns += (uint64_t)(cost * 0.75 * (double)SECOND);
	use->stolen_ns += (uint64_t)(cost * 0.25 * (double)SECOND);
	return budget_look(b, use);
}

static void begin(struct budget *b, struct budget_use *use, double most)
{
	budget_init(b, most, 3);
	*use = (struct budget_use){.time_ns = 7 * SECOND, .own_cpu_ns = SECOND / 10};
	assert_false(budget_look(b, use));
}

TEST(test_within)
{
	struct budget_use use;
	struct budget b;

	begin(&b, &use, 0.01);
	for (int i = 0; i < 100; i++)
		assert_false(pass(&b, &use, 0.009));
	assert_int_equal(b.halvings, 0);
}

/* A single expensive second, as when a library is read, changes nothing. */
TEST(test_burst)
{
	struct budget_use use;
	struct budget b;

	begin(&b, &use, 0.01);
	for (int i = 0; i < 20; i++)
		assert_false(pass(&b, &use, i % 2 ? 0.5 : 0.002));
}

TEST(test_halves_and_doubles)
{
	struct budget_use use;
	struct budget b;
	int changes = 0;

	begin(&b, &use, 0.01);
	assert_false(pass(&b, &use, 0.02));
	assert_true(pass(&b, &use, 0.02));
	assert_int_equal(b.halvings, 1);
	for (int i = 0; i < 20; i++)
		changes += pass(&b, &use, 0.02);
	assert_int_equal(changes, 2);
	assert_int_equal(b.halvings, 3); /* as many as there may be */
	for (int i = 0; i < 100; i++)
		assert_false(pass(&b, &use, 0.006)); /* enough, but doubled it would be too much */
	for (int i = 0; i < 5; i++)
		changes += pass(&b, &use, 0.003);
	assert_int_equal(changes, 3);
	assert_int_equal(b.halvings, 2);
}

/* While the target sleeps, no share of its work is known. */
TEST(test_idle)
{
	struct budget_use use;
	struct budget b;

	begin(&b, &use, 0.01);
	for (int i = 0; i < 20; i++) {
		use.time_ns += SECOND;
		use.own_cpu_ns += SECOND / 1000;
		assert_false(budget_look(&b, &use));
	}
}

TEST(test_no_limit)
{
	struct budget_use use;
	struct budget b;

	begin(&b, &use, 0);
	for (int i = 0; i < 10; i++)
		assert_false(pass(&b, &use, 0.9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_within),
		cmocka_unit_test(test_burst),
		cmocka_unit_test(test_halves_and_doubles),
		cmocka_unit_test(test_idle),
		cmocka_unit_test(test_no_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
