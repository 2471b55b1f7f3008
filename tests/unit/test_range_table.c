/* Flattening of overlapping ranges, against trying every address. */
#include <stdlib.h>

#include "obj/range_table.h"
#include "../unit.h"

#define SPACE 64

TEST(nothing_is_found_in_nothing)
{
	struct range_table t = {0};

	range_table_add(&t, (struct range){5, 5, 1, 1});
	range_table_add(&t, (struct range){6, 5, 1, 1});
	range_table_flatten(&t);
	assert_int_equal(t.count, 0);
	assert_null(range_table_find(&t, 5));
	range_table_deinit(&t);
}

TEST(ends_are_exclusive)
{
	struct range_table t = {0};

	range_table_add(&t, (struct range){10, 20, 7, 0});
	range_table_flatten(&t);
	assert_null(range_table_find(&t, 9));
	assert_int_equal(range_table_find(&t, 10)->value, 7);
	assert_int_equal(range_table_find(&t, 19)->value, 7);
	assert_null(range_table_find(&t, 20));
	range_table_deinit(&t);
}

TEST(the_outer_range_goes_on_behind_the_inner)
{
	struct range_table t = {0};

	range_table_add(&t, (struct range){0, 100, 1, 1});
	range_table_add(&t, (struct range){40, 60, 2, 2});
	range_table_flatten(&t);
	assert_int_equal(t.count, 3);
	assert_int_equal(range_table_find(&t, 39)->value, 1);
	assert_int_equal(range_table_find(&t, 40)->value, 2);
	assert_int_equal(range_table_find(&t, 60)->value, 1);
	range_table_deinit(&t);
}

/* The value at addr by looking at all ranges; 0 if none. */
static uint32_t slow_find(const struct range *ranges, size_t count, uint64_t addr)
{
	uint32_t value = 0, rank = 0;

	for (size_t i = 0; i < count; i++) {
		const struct range *r = &ranges[i];
		if (addr >= r->low && addr < r->high && r->rank >= rank) {
			value = r->value;
			rank = r->rank;
		}
	}
	return value;
}

TEST(random_ranges_are_found_as_by_looking_at_all)
{
	struct range ranges[24];

	srandom(1);
	for (int round = 0; round < 3000; round++) {
		size_t count = (size_t)random() % (sizeof(ranges) / sizeof(ranges[0]));
		struct range_table t = {0};
		for (size_t i = 0; i < count; i++) {
			uint64_t low = (uint64_t)random() % SPACE;
			ranges[i] = (struct range){low, low + (uint64_t)random() % 20,
				(uint32_t)i + 1, (uint32_t)i + 1};
			range_table_add(&t, ranges[i]);
		}
		range_table_flatten(&t);
		for (size_t i = 1; i < t.count; i++)
			assert_true(t.data[i - 1].high <= t.data[i].low);
		for (uint64_t addr = 0; addr < SPACE + 20; addr++) {
			const struct range *r = range_table_find(&t, addr);
			assert_int_equal(r ? r->value : 0, slow_find(ranges, count, addr));
		}
		range_table_deinit(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_in_nothing),
		cmocka_unit_test(ends_are_exclusive),
		cmocka_unit_test(the_outer_range_goes_on_behind_the_inner),
		cmocka_unit_test(random_ranges_are_found_as_by_looking_at_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
