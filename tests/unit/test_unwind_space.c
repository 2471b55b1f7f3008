/*
 * Spaces against a plain array of pages.
 */

#include "base/hash.h"
#include "unwind/space.h"
#include "../unit.h"

enum { PAGES = 64 };

static void expect_pages(const struct unwind_space *space, const uint32_t *pages)
{
	for (uint64_t i = 0; i < PAGES; i++) {
		const struct unwind_mapping *m = unwind_space_find(space, i);
		assert_int_equal(m ? m->object : 0, pages[i]);
		assert_true(m == NULL || (m->low_va <= i && m->high_va > i));
	}
	for (size_t i = 1; i < space->count; i++)
		assert_true(space->mappings[i - 1].high_va <= space->mappings[i].low_va);
}

TEST(test_random)
{
	struct unwind_space space, copy;
	uint32_t pages[PAGES] = {0};
	uint64_t random = 1;

	unwind_space_init(&space);
	for (uint32_t i = 1; i < 5000; i++) {
		random = hash_u64(random + i);
		uint64_t low = random % PAGES, high = low + 1 + (random >> 8) % (PAGES - low);
		uint64_t generation = space.generation;
		bool add = (random >> 20) % 3;
		if (add)
			unwind_space_add(
				&space, (struct unwind_mapping){
						.low_va = low, .high_va = high, .object = i});
		else
			unwind_space_remove(&space, low, high);
		for (uint64_t page = low; page < high; page++)
			pages[page] = add ? i : 0;
		assert_true(space.count == 0 || space.generation > generation);
		expect_pages(&space, pages);
	}
	unwind_space_copy(&copy, &space);
	assert_int_equal(copy.generation, space.generation);
	unwind_space_clear(&space);
	assert_true(copy.generation != space.generation);
	expect_pages(&copy, pages);
	unwind_space_deinit(&copy);
	unwind_space_deinit(&space);
}

TEST(test_edges)
{
	struct unwind_space space;

	unwind_space_init(&space);
	unwind_space_add(&space, (struct unwind_mapping){.low_va = 5, .high_va = 5});
	assert_int_equal(space.count, 0);
	unwind_space_add(&space, (struct unwind_mapping){.low_va = 0, .high_va = UINT64_MAX});
	assert_non_null(unwind_space_find(&space, 0));
	assert_null(unwind_space_find(&space, UINT64_MAX));
	unwind_space_remove(&space, 1, UINT64_MAX);
	assert_null(unwind_space_find(&space, 1));
	unwind_space_deinit(&space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests_name("unwind_space", tests, NULL, NULL);
}
