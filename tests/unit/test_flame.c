/*
 * The layout of flame graphs: worked figures, and on random profiles that widths are the call
 * tree's weights and that boxes lie within their caller's, side by side.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/flame.h"
#include "base/alloc.h"

/* "name start+width depth" of each box, with " | " between. */
static void expect(const char *lines, enum collapse collapse, const char *expected)
{
	struct profile *p = text_profile(lines);
	struct arena *arena = arena_create();
	struct strbuf text = {0};
	const struct entity_tree *tree =
		entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct calltree *t = calltree_analyse(tree, collapse, CALLTREE_BY_WEIGHT, NULL, arena);
	const struct flame *flame = flame_lay_out(t, t, arena);

	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *b = &flame->boxes[i];
		struct str name =
			b->row == NO_ID ? STR("all") : tree->entities[t->rows[b->row].entity].name;
		strbuf_printf(&text, "%s%.*s %llu+%llu %u", i ? " | " : "", STR_ARG(name),
			(unsigned long long)b->start, (unsigned long long)b->width, b->depth);
		assert_true(tree->has_negative || (uint64_t)b->weight == b->width);
	}
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
	arena_destroy(arena);
	profile_destroy(p);
}

TEST(test_boxes_stand_side_by_side)
{
	expect("main a 3\nmain b c 4\nmain 1\nmain b 2\n", COLLAPSE_NONE,
		"all 0+10 0 | main 0+10 1 | b 0+6 2 | c 0+4 3 | a 6+3 2");
}

/* Collapsed, r's own recursion is one box: what a stub brings there ends in it. */
TEST(test_recursion_collapsed)
{
	expect("main r 1\nmain r s 1\nmain r r 1\nmain r r s 1\n", COLLAPSE_NONE,
		"all 0+4 0 | main 0+4 1 | r 0+4 2 | r 0+2 3 | s 0+1 4 | s 2+1 3");
	expect("main r 1\nmain r s 1\nmain r r 1\nmain r r s 1\n", COLLAPSE_FULL,
		"all 0+4 0 | main 0+4 1 | r 0+4 2 | s 0+2 3");
}

TEST(test_nothing_is_one_box)
{
	expect("main 0\n", COLLAPSE_NONE, "all 0+0 0");
}

/* Weights of each sign take 63 bits, all widths together 64. */
TEST(test_widest)
{
	expect("a 9223372036854775807\nb -9223372036854775807\n", COLLAPSE_NONE,
		"all 0+18446744073709551614 0 | a 0+9223372036854775807 1 | "
		"b 9223372036854775807+9223372036854775807 1");
}

static uint64_t size_of(int64_t weight)
{
	return (uint64_t)(weight < 0 ? -weight : weight);
}

/* Each box lies in the last one before it of a smaller depth, behind those of its own depth there.
 */
static void check_nesting(const struct flame *flame)
{
	uint64_t *ends = xcalloc((size_t)flame->depth_max + 2, sizeof(*ends)); /* [depth] */
	uint64_t *limits = xcalloc((size_t)flame->depth_max + 2, sizeof(*limits));

	for (size_t i = 0; i < flame->count; i++) {
		const struct flame_box *b = &flame->boxes[i];

		check(b->width > 0 || i == 0);
		if (b->depth) {
			check(b->start == ends[b->depth]);
			check(b->start + b->width <= limits[b->depth]);
		}
		ends[b->depth] = b->start + b->width;
		ends[b->depth + 1] = b->start;
		limits[b->depth + 1] = b->start + b->width;
	}
	free(ends);
	free(limits);
}

static void check_widths(const struct calltree *t, const struct flame *flame, bool negative)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < t->tree->node_count; i++)
		sum += size_of(entity_tree_weight(t->tree, i));
	/* Collapsed, weights of different signs come together. */
	check(flame->boxes[0].width == sum ||
		(negative && t->collapse != COLLAPSE_NONE && flame->boxes[0].width < sum));
	check(flame->boxes[0].weight == t->tree->total);
	for (size_t i = 1; i < flame->count && t->collapse == COLLAPSE_NONE; i++) {
		const struct calltree_row *row = &t->rows[flame->boxes[i].row];

		check(flame->boxes[i].weight == row->direct + row->indirect);
		check(negative || flame->boxes[i].width == (uint64_t)flame->boxes[i].weight);
	}
}

TEST(test_random_profiles)
{
	struct random_shape shape = random_shape_small;

	for (struct property_seeds p = property_seeds(600, 60); property_next(&p);) {
		struct arena *arena = arena_create();

		shape.negative = property_seed % 3 == 0;
		struct profile *profile = random_profile(property_seed, &shape);
		const struct entity_tree *tree =
			entity_tree_of(profile, LEVEL_FUNCTION, profile->default_metric, arena);
		enum collapse collapse = (enum collapse)(property_seed % COLLAPSE_COUNT);
		struct calltree *t =
			calltree_analyse(tree, collapse, CALLTREE_BY_WEIGHT, NULL, arena);
		const struct flame *flame = flame_lay_out(t, t, arena);

		check_nesting(flame);
		check_widths(t, flame, shape.negative);
		profile_destroy(profile);
		arena_destroy(arena);
	}
}

/* The row of the whole tree that is the same as a limited tree's, given its parent's. */
static uint32_t same_row(
	const struct calltree *whole, uint32_t parent, const struct calltree_row *row)
{
	for (uint32_t i = 0; i < whole->count; i++)
		if (whole->rows[i].parent == parent && whole->rows[i].entity == row->entity &&
			whole->rows[i].is_stub == row->is_stub)
			return i;
	fail_msg("SEED=%" PRIu64 ": no such row", property_seed);
	return NO_ID;
}

/* Rows that a limit chose have the widths that they have among all rows. */
static void check_limited(
	const struct entity_tree *tree, enum collapse collapse, size_t limit, struct arena *arena)
{
	const struct calltree_limit rows = {.rows = limit, .has_widths = true};
	struct calltree *whole = calltree_analyse(tree, collapse, CALLTREE_BY_WEIGHT, NULL, arena);
	struct calltree *few = calltree_analyse(tree, collapse, CALLTREE_BY_WEIGHT, &rows, arena);
	const struct flame *wanted = flame_lay_out(whole, whole, arena);
	const struct flame *flame = flame_lay_out(few, few, arena);
	uint32_t *same = xcalloc(few->count + 1, sizeof(*same));
	uint64_t *width = xcalloc(whole->count + 1, sizeof(*width));

	for (size_t i = 1; i < wanted->count; i++)
		width[wanted->boxes[i].row] = wanted->boxes[i].width;
	for (uint32_t i = 0; i < few->count; i++) {
		uint32_t parent = few->rows[i].parent;

		same[i] = same_row(whole, parent == NO_ID ? NO_ID : same[parent], &few->rows[i]);
	}
	check((few->widths != NULL) == (few->count < few->whole_count));
	check(flame->boxes[0].width == wanted->boxes[0].width);
	for (size_t i = 1; i < flame->count; i++) {
		check(flame->boxes[i].width == width[same[flame->boxes[i].row]]);
		check((uint64_t)flame->boxes[i].weight == flame->boxes[i].width);
	}
	check_nesting(flame);
	free(same);
	free(width);
}

TEST(test_limited_trees)
{
	struct random_shape shape = random_shape_small;

	shape.negative = false;
	for (struct property_seeds p = property_seeds(400, 40); property_next(&p);) {
		struct arena *arena = arena_create();
		struct profile *profile = random_profile(property_seed, &shape);
		const struct entity_tree *tree =
			entity_tree_of(profile, LEVEL_FUNCTION, profile->default_metric, arena);

		check_limited(tree, (enum collapse)(property_seed % COLLAPSE_COUNT),
			1 + property_seed % 9, arena);
		profile_destroy(profile);
		arena_destroy(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_boxes_stand_side_by_side),
		cmocka_unit_test(test_recursion_collapsed),
		cmocka_unit_test(test_nothing_is_one_box),
		cmocka_unit_test(test_widest),
		cmocka_unit_test(test_random_profiles),
		cmocka_unit_test(test_limited_trees),
	};

	return cmocka_run_group_tests_name("flame", tests, NULL, NULL);
}
