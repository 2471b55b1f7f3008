/*
 * Filters by hand: what order does, and what is refused.  test_selection.c has their properties.
 */

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/selection.h"

static struct selection *chain_of(
	const struct profile *p, const struct filter *filters, size_t count, struct arena *arena)
{
	struct selection *selection = NULL;

	assert_null(selection_create(p, filters, count, arena, &selection));
	return selection;
}

/* Cuts are seen by the filters behind them, and not by those before. */
TEST(test_order_matters)
{
	struct profile *p = text_profile("main parse alloc 1\nmain eval alloc 2\n");
	struct arena *arena = arena_create();
	struct filter when, focus;

	assert_null(filter_init_when(&when, ":.alloc", WHEN_OBJECTS));
	assert_null(filter_init(&focus, FILTER_FOCUS, "alloc"));
	const struct filter cut_first[] = {when, focus}, cut_last[] = {focus, when};
	struct selection *first = chain_of(p, cut_first, 2, arena);
	assert_int_equal(first->steps[0].kept[0], 3);
	assert_int_equal(first->steps[1].kept[0], 0);
	assert_int_equal(first->total[0], 0);
	struct selection *last = chain_of(p, cut_last, 2, arena);
	assert_int_equal(last->steps[1].kept[0], 3);
	assert_int_equal(last->total[0], 3);
	filter_deinit(&when);
	filter_deinit(&focus);
	profile_destroy(p);
	arena_destroy(arena);
}

/* A profile of totals has no threads and no times. */
TEST(test_refused)
{
	struct profile *p = text_profile("main 1\n");
	struct arena *arena = arena_create();
	struct selection *selection = NULL;
	struct filter filters[3];

	assert_null(filter_init(&filters[0], FILTER_THREAD, "1"));
	assert_null(filter_init(&filters[1], FILTER_PID, "1"));
	filter_init_time(&filters[2], ":", 0, 1);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		struct error *err = selection_create(p, &filters[i], 1, arena, &selection);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_UNSUPPORTED);
		error_destroy(err);
		filter_deinit(&filters[i]);
	}
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_bad_filters)
{
	static const char *const lists[] = {"", ",", "1,", ",1", "1,,2"};
	struct filter f;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct error *err = filter_init(&f, FILTER_THREAD, lists[i]);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_destroy(err);
	}
	struct error *err = filter_init(&f, FILTER_FOCUS, "a(");
	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_USAGE);
	error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_matters),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bad_filters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
