/*
 * Stretches of time that are left out of a recording.
 */
#include "record/recording.h"
#include "../unit.h"

static uint64_t on_ns(const struct pauses *p, uint64_t from_ns, uint64_t to_ns, uint64_t first_ns)
{
	uint64_t first = UINT64_MAX, on = pauses_on_ns(p, from_ns, to_ns, &first);

	assert_true(first == first_ns);
	return on;
}

TEST(test_none)
{
	struct pauses p = {0};

	assert_false(pauses_is_off(&p, 0));
	assert_int_equal(on_ns(&p, 5, 9, 5), 4);
	assert_int_equal(on_ns(&p, 5, 5, UINT64_MAX), 0);
	pauses_set(&p, 7, false);
	assert_int_equal(p.changes.count, 0);
	pauses_deinit(&p);
}

TEST(an_end)
{
	struct pauses p = {.end_ns = 50};

	pauses_set(&p, 0, true);
	pauses_set(&p, 20, false);
	assert_true(pauses_is_off(&p, 19) && !pauses_is_off(&p, 49) && pauses_is_off(&p, 50));
	/* Whatever is commanded. */
	pauses_set(&p, 60, false);
	assert_true(pauses_is_off(&p, 60));
	assert_int_equal(on_ns(&p, 0, 100, 20), 30);
	assert_int_equal(on_ns(&p, 0, 40, 20), 20);
	pauses_leave_out(&p, 0, 30);
	assert_int_equal(on_ns(&p, 0, 100, 30), 20);
	pauses_deinit(&p);
}

TEST(test_some)
{
	struct pauses p = {0};

	/* Off 10 to 20 and 30 to 40. */
	pauses_set(&p, 10, true);
	pauses_set(&p, 15, true);
	pauses_set(&p, 20, false);
	pauses_set(&p, 30, true);
	pauses_set(&p, 40, false);
	assert_false(pauses_is_off(&p, 9));
	assert_true(pauses_is_off(&p, 10));
	assert_true(pauses_is_off(&p, 19));
	assert_false(pauses_is_off(&p, 20));
	assert_true(pauses_is_off(&p, 39));
	assert_false(pauses_is_off(&p, 1000));
	assert_int_equal(on_ns(&p, 0, 50, 0), 30);
	assert_int_equal(on_ns(&p, 10, 20, UINT64_MAX), 0);
	assert_int_equal(on_ns(&p, 12, 25, 20), 5);
	assert_int_equal(on_ns(&p, 25, 35, 25), 5);
	assert_int_equal(on_ns(&p, 35, 45, 40), 5);
	assert_int_equal(on_ns(&p, 15, 45, 20), 15);
	pauses_deinit(&p);
}

/* A command that comes before the delay is over ends it. */
TEST(test_what_was_to_come_is_forgotten)
{
	struct pauses p = {0};

	pauses_set(&p, 0, true);
	pauses_set(&p, 100, false);
	pauses_set(&p, 50, false);
	assert_true(pauses_is_off(&p, 49));
	assert_false(pauses_is_off(&p, 50));
	assert_int_equal(on_ns(&p, 0, 200, 50), 150);
	pauses_set(&p, 20, true);
	assert_true(pauses_is_off(&p, 1000));
	assert_int_equal(on_ns(&p, 0, 200, UINT64_MAX), 0);
	pauses_deinit(&p);
}

TEST(what_was_before_is_left_out)
{
	struct pauses p = {0};

	pauses_set(&p, 20, true);
	pauses_set(&p, 30, false);
	pauses_set(&p, 50, true);
	pauses_leave_out(&p, 0, 40);
	assert_true(pauses_is_off(&p, 39));
	assert_false(pauses_is_off(&p, 40));
	assert_int_equal(on_ns(&p, 0, 100, 40), 10);
	/* In a pause that goes on for a while. */
	pauses_deinit(&p);
	pauses_set(&p, 20, true);
	pauses_set(&p, 30, false);
	pauses_leave_out(&p, 0, 25);
	assert_true(pauses_is_off(&p, 29));
	assert_int_equal(on_ns(&p, 0, 100, 30), 70);
	pauses_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_before_is_left_out),
		cmocka_unit_test(test_none),
		cmocka_unit_test(an_end),
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_what_was_to_come_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
