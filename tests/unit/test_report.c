/*
 * Reports of random profiles: what --limit and --sort choose, and that every format draws every one
 * of them, hostile names and all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../random_profile.h"
#include "../unit.h"
#include "view/formats.h"
#include "view/report.h"
#include "view/views.h"

#define SEEDS 150u

static struct report_query random_query(struct random *r, const struct view *view)
{
	struct report_query query = {
		.view = view,
		.level = view->has_levels ? (enum level)random_below(r, LEVEL_COUNT) : view->level,
		.spread = random_below(r, 4) == 0,
		.collapse = (enum collapse)random_below(r, COLLAPSE_COUNT),
		.order = random_below(r, 2) ? CALLTREE_BY_WEIGHT : CALLTREE_FIRST_SEEN,
		.percent = (enum percent)random_below(r, PERCENT_COUNT),
		.limit = random_below(r, 2) ? random_below(r, 30) : 0,
	};

	return query;
}

/* Every node shown has its parent shown before it, and every stub its target. */
static void expect_whole_tree(const struct report *report)
{
	uint32_t *place_of = calloc(report->row_count + 1, sizeof(*place_of));

	for (size_t place = 0; place < report->count; place++) {
		size_t row = report_row(report, place);
		const struct calltree_row *r = &report->calltree->rows[row];

		assert_int_equal(report_place(report, row), place);
		place_of[row] = (uint32_t)place + 1;
		if (r->parent != NO_ID)
			assert_int_not_equal(place_of[r->parent], 0);
		if (r->is_stub)
			assert_int_not_equal(place_of[r->target], 0);
	}
	free(place_of);
}

/* No node that was left out is heavier than one that is shown. */
static void expect_heaviest(const struct report *report)
{
	int64_t least = INT64_MAX;
	size_t place = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct calltree_row *r = &report->calltree->rows[report_row(report, i)];

		if (!r->is_stub && r->direct + r->indirect < least)
			least = r->direct + r->indirect;
	}
	for (size_t row = 0; row < report->row_count; row++) {
		const struct calltree_row *r = &report->calltree->rows[row];

		if (place < report->count && report_row(report, place) == row)
			place++;
		else if (!r->is_stub)
			assert_true(r->direct + r->indirect <= least);
	}
}

TEST(limit_keeps_a_whole_tree)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *profile = random_profile(seed, &shape);
		struct arena *arena = arena_create();
		struct report_query query = random_query(&r, &view_tree);

		query.metric = profile->default_metric;
		query.limit = 1 + random_below(&r, 20);
		const struct entity_tree *tree =
			report_tree(selection_all(profile, arena), &query, arena);
		const struct report *report =
			report_create(selection_all(profile, arena), tree, &query, arena);
		assert_int_equal(report->count,
			report->row_count < query.limit ? report->row_count : query.limit);
		expect_whole_tree(report);
		if (!shape.negative)
			expect_heaviest(report);
		arena_destroy(arena);
		profile_destroy(profile);
	}
}

static void expect_sorted(const struct report *report, const struct column *column)
{
	for (size_t i = 1; i < report->count; i++) {
		struct cell before = column->get(report, report_row(report, i - 1));
		struct cell after = column->get(report, report_row(report, i));

		assert_true(cell_compare(column->kind, &before, &after) <= 0);
	}
}

TEST(sort_by_every_column)
{
	struct random r = random_from(5);

	for (uint32_t seed = 1; seed <= 20; seed++) {
		struct random_shape shape = random_shape_any(&r);
		struct profile *profile = random_profile(seed, &shape);

		for (enum column_id id = 0; id < COLUMN_COUNT; id++) {
			struct arena *arena = arena_create();
			struct report_query query = random_query(&r, &view_functions);

			if (!view_has_column(&view_functions, id)) {
				arena_destroy(arena);
				continue;
			}
			query.metric = profile->default_metric;
			query.sort = &columns[id];
			expect_sorted(
				report_create(selection_all(profile, arena),
					report_tree(selection_all(profile, arena), &query, arena),
					&query, arena),
				query.sort);
			arena_destroy(arena);
		}
		profile_destroy(profile);
	}
}

/* No control character but line ends, and no byte that is not UTF-8, gets through. */
static void expect_clean(struct str text)
{
	for (size_t i = 0; i < text.size; i++) {
		unsigned char c = (unsigned char)text.data[i];

		assert_true(c >= 0x20 || c == '\n' || c == '\r');
		assert_true(c < 0xf5 && c != 0x7f);
	}
}

TEST(every_format_draws_every_view)
{
	static const struct text_style style = {.width = 80, .utf8 = true};

	for (uint32_t seed = 1; seed <= SEEDS; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *profile = random_profile(seed, &shape);

		for (size_t v = 0; views[v]; v++) {
			for (size_t f = 0; formats[f].name; f++) {
				struct arena *arena = arena_create();
				struct report_query query = random_query(&r, views[v]);
				const struct report *report;
				struct sink sink;

				/* A page is of the profile, not of a report. */
				if (formats[f].is_page ||
					(formats[f].only && formats[f].only != views[v])) {
					arena_destroy(arena);
					continue;
				}
				report = report_create(selection_all(profile, arena),
					report_tree(selection_all(profile, arena), &query, arena),
					&query, arena);
				sink_init(&sink, -1, "nowhere");
				formats[f].draw(&sink, &style, &report, 1);
				expect_clean(strbuf_str(&sink.text));
				/* There is no such descriptor, and finish must say so. */
				struct error *err = sink_finish(&sink);
				if (err)
					assert_int_equal(err->kind, ERROR_SYSTEM);
				error_destroy(err);
				arena_destroy(arena);
			}
		}
		profile_destroy(profile);
	}
}

TEST(columns_are_told_apart)
{
	/* A view's columns have different keys. */
	for (size_t v = 0; views[v]; v++)
		for (enum column_id a = 0; a < COLUMN_COUNT; a++)
			for (enum column_id b = 0; b < a; b++)
				if (view_has_column(views[v], a) && view_has_column(views[v], b))
					assert_string_not_equal(columns[a].key, columns[b].key);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit_keeps_a_whole_tree),
		cmocka_unit_test(sort_by_every_column),
		cmocka_unit_test(every_format_draws_every_view),
		cmocka_unit_test(columns_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
