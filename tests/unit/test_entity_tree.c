/*
 * The entity tree: what is one entity, which stacks meet in one node, pre-order, spread.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/entity_tree.h"
#include "base/alloc.h"
#include "model/builder.h"

/* Nodes as "name weight/weight_below", a '-' for each level above the first, " | " between. */
static const char *text_tree(const struct entity_tree *t, struct strbuf *out)
{
	uint32_t *level = xcalloc(t->node_count, sizeof(*level));
	struct strbuf scratch = {0};

	strbuf_clear(out);
	strbuf_add(out, STR(""));
	for (uint32_t i = 1; i < t->node_count; i++) {
		level[i] = level[entity_tree_parent(t, i)] + 1;
		strbuf_add(out, i > 1 ? STR(" | ") : STR(""));
		for (uint32_t k = 1; k < level[i]; k++)
			strbuf_add_char(out, '-');
		strbuf_add(out, entity_label(&t->entities[t->entity[i]], &scratch));
		strbuf_printf(out, " %" PRId64 "/%" PRId64, entity_tree_weight(t, i),
			entity_tree_weight_below(t, i));
	}
	free(level);
	strbuf_deinit(&scratch);
	return out->data;
}

static void expect_tree(const struct entity_tree *t, const char *expected)
{
	struct strbuf text = {0};

	assert_string_equal(text_tree(t, &text), expected);
	strbuf_deinit(&text);
}

static void expect(const char *lines, enum level level, const char *expected)
{
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);

	expect_tree(entity_tree_of(p, level, p->default_metric, arena), expected);
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_pre_order)
{
	expect("m b 1\nm a 2\nm b c 4\nn 8\nm 16\n", LEVEL_FUNCTION,
		"m 16/23 | -b 1/5 | --c 4/4 | -a 2/2 | n 8/8");
}

/* First seen is the order of the stacks that have weight, not of those that have none. */
TEST(test_weightless_stacks)
{
	expect("m a x 0\nm b 1\nm a y 2\nm c 0\n", LEVEL_FUNCTION,
		"m 0/3 | -b 1/1 | -a 0/2 | --y 2/2");
	expect("m a 0\n", LEVEL_FUNCTION, "");
	expect("", LEVEL_MODULE, "");
}

TEST(test_neighbours_merge_at_module_level)
{
	expect("a:x a:y b:z a:x 1\na:y a:y 2\na:x b:z b:w 4\n", LEVEL_MODULE,
		"a 2/7 | -b 4/5 | --a 1/1");
}

TEST(test_modules_by_base_name)
{
	expect("/usr/lib/x.so:f 1\n/lib/x.so:g 2\nlone 4\nother lone 8\n", LEVEL_MODULE,
		"x.so 3/3 | [unknown] 12/12");
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;
	struct error *err = builder_finish(b, &p);

	if (err)
		fail_msg("%s", err->message);
	return p;
}

struct place {
	const char *name, *object, *file;
	uint32_t line, frame_line;
};

/* A stack of one frame for each place, weight 1. */
static struct profile *profile_of_places(const struct place *places, size_t count)
{
	struct builder *b = builder_create();
	const int64_t one = 1;

	(void)builder_metric(b, STR("samples"), STR("count"));
	for (size_t i = 0; i < count; i++) {
		const struct place *at = &places[i];
		object_id object = {NO_ID};
		if (at->object)
			object = builder_object(b, str_from(at->object), STR(""), OBJECT_USER);
		string_id file = builder_string(b, str_from(at->file));
		string_id name = builder_string(b, str_from(at->name));
		function_id f = builder_function(b, name, object, file, at->line);
		frame_id frame = builder_frame(b, f, file, at->frame_line, false, i);
		builder_weight(b, builder_stack(b, (stack_id){0}, frame), &one, 1);
	}
	return finish(b);
}

TEST(test_identity_of_functions)
{
	static const struct place places[] = {
		{"f", "/lib/a.so", "f.c", 10, 11},
		{"f", "/lib/a.so", "f.c", 10, 12}, /* another line of it */
		{"f", "/opt/a.so", "f.c", 10, 11}, /* another copy of the load object */
		{"f", "/lib/b.so", "f.c", 10, 11},
		{"f", "/lib/a.so", "g.c", 10, 11},
		{"f", "/lib/a.so", "f.c", 20, 21},
		{"f", NULL, "f.c", 10, 11},
		{"", NULL, "", 0, 0},
		{"[unknown]", NULL, "", 0, 0},
	};
	struct profile *p = profile_of_places(places, ARRAY_SIZE(places));
	struct arena *arena = arena_create();
	struct entity_tree *t = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);

	expect_tree(t, "f 3/3 | f 1/1 | f 1/1 | f 1/1 | f 1/1 | [unknown] 2/2");
	for (size_t i = 1; i < t->node_count; i++)
		for (size_t k = 1; k < i; k++)
			assert_int_not_equal(0, entity_compare(&t->entities[t->entity[i]],
							&t->entities[t->entity[k]]));
	const struct entity *first = &t->entities[t->entity[1]];
	assert_true(str_equal(first->module, STR("a.so")));
	assert_true(str_equal(first->file, STR("f.c")));
	assert_int_equal(first->line, 10);
	assert_null(t->entities[t->entity[5]].module.data);
	assert_null(t->entities[t->entity[6]].file.data);
	profile_destroy(p);
	arena_destroy(arena);
}

/* The labels of all nodes, for people. */
static void expect_labels(const struct place *places, size_t count, const char *expected)
{
	struct profile *p = profile_of_places(places, count);
	struct arena *arena = arena_create();
	struct entity_tree *t = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct strbuf text = {0}, scratch = {0};

	for (size_t i = 1; i < t->node_count; i++) {
		const struct entity *e = &t->entities[t->entity[i]];

		strbuf_add(&text, i > 1 ? STR(" | ") : STR(""));
		strbuf_add(&text, entity_label_apart(e, &scratch));
		assert_true(str_equal(entity_label(e, &scratch), e->name));
	}
	assert_string_equal(text.data, expected);
	strbuf_deinit(&text);
	strbuf_deinit(&scratch);
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_functions_of_one_name_are_apart)
{
	static const struct place by_file[] = {
		{"f", "a.so", "/src/x.c", 10, 11},
		{"f", "a.so", "/src/y.c", 10, 11},
		{"f", "a.so", "", 0, 0},
		{"f", "b.so", "/src/x.c", 10, 11},
		{"g", "a.so", "/src/x.c", 20, 21},
	};
	static const struct place by_line[] = {
		{"f", "a.so", "/src/x.c", 10, 11},
		{"f", "a.so", "/src/x.c", 30, 31},
		{"f", "a.so", "/src/y.c", 10, 11},
	};
	static const struct place by_path[] = {
		{"f", "a.so", "/src/x/u.c", 10, 11},
		{"f", "a.so", "/src/y/u.c", 10, 11},
	};

	expect_labels(by_file, ARRAY_SIZE(by_file), "f (x.c) | f (y.c) | f | f | g");
	expect_labels(by_line, ARRAY_SIZE(by_line), "f (x.c:10) | f (x.c:30) | f (y.c:10)");
	expect_labels(by_path, ARRAY_SIZE(by_path), "f (/src/x/u.c:10) | f (/src/y/u.c:10)");
}

TEST(test_metric_is_chosen)
{
	struct builder *b = builder_create();
	struct arena *arena = arena_create();

	(void)builder_metric(b, STR("samples"), STR("count"));
	metric_id bytes = builder_metric(b, STR("bytes"), STR("bytes"));
	string_id none = builder_string(b, STR(""));
	for (int64_t i = 1; i <= 2; i++) {
		string_id name = builder_string(b, i == 1 ? STR("one") : STR("two"));
		function_id f = builder_function(b, name, (object_id){NO_ID}, none, 0);
		frame_id frame = builder_frame(b, f, none, 0, false, 0);
		const int64_t weights[] = {1, 100 * (i - 1)};
		builder_weight(b, builder_stack(b, (stack_id){0}, frame), weights, 1);
	}
	struct profile *p = finish(b);
	expect_tree(entity_tree_of(p, LEVEL_FUNCTION, bytes, arena), "two 100/100");
	expect_tree(entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena), "one 1/1 | two 1/1");
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_spread)
{
	struct profile *p = text_profile("m f f g f 1\nm f 2\nm g f f 4\nf m 8\n");
	struct arena *arena = arena_create();
	struct entity_tree *t = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct entity_tree *spread = entity_tree_spread(t, arena);
	static const char expected[] = "m 0/7 | -f 2/3 | --f'2 0/1 | ---g 0/1 | ----f'3 1/1 | "
				       "-g 0/4 | --f 0/4 | ---f'2 4/4 | f 0/8 | -m 8/8";

	expect_tree(spread, expected);
	assert_int_equal(spread->entity_count, t->entity_count + 2);
	/* Nothing recurs any more, so spreading again changes nothing. */
	expect_tree(entity_tree_spread(spread, arena), expected);
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_spread_million_deep)
{
	enum { DEEP = 1000000 };
	static const char *const names[] = {"f"};
	uint32_t *chain = xcalloc(DEEP, sizeof(*chain));
	struct profile *p = chain_profile(names, chain, DEEP, 1);
	struct arena *arena = arena_create();
	struct entity_tree *t = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct entity_tree *spread = entity_tree_spread(t, arena);
	struct strbuf scratch = {0};

	assert_int_equal(spread->entity_count, DEEP);
	struct str last = entity_label(&spread->entities[spread->entity[DEEP]], &scratch);
	assert_true(str_equal(last, STR("f'1000000")));
	strbuf_deinit(&scratch);
	profile_destroy(p);
	arena_destroy(arena);
	free(chain);
}

/* Each function of a chain calls the next one, and a sample ends in each. */
static struct profile *staircase(uint32_t depth)
{
	struct builder *b = builder_create();
	const int64_t one = 1;
	stack_id stack = {0};

	(void)builder_metric(b, STR("samples"), STR("count"));
	for (uint32_t i = 0; i < depth; i++) {
		char name[16];
		int size = snprintf(name, sizeof(name), "f%u", i);
		string_id id = builder_string(b, (struct str){name, (size_t)size});
		function_id f = builder_function(b, id, (object_id){NO_ID}, (string_id){0}, 0);

		stack = builder_stack(b, stack, builder_frame(b, f, (string_id){0}, 0, false, 0));
		builder_weight(b, stack, &one, 1);
	}
	return finish(b);
}

/* The frames of all these stacks are n²/2: four times as many from depth to depth doubled. */
static void expect_inverted(uint32_t depth, bool is_cut)
{
	struct profile *p = staircase(depth);
	struct arena *arena = arena_create();
	struct entity_tree *t = entity_tree_invert(
		entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena), arena);
	uint32_t tops = 0;

	if (is_cut) {
		/* Nodes for all that is left out come to the bound, one a stack. */
		assert_in_range(t->node_count, (1u << 20) / 2, (1u << 20) + 6 * depth);
		assert_int_equal(t->depth_max, t->levels_left_out + 1);
		assert_true(str_equal(t->entities[t->entity_count - 1].name, STR("[left out]")));
	} else {
		assert_int_equal(t->node_count, 1 + (uint64_t)depth * (depth + 1) / 2);
		assert_int_equal(t->levels_left_out, 0);
		assert_int_equal(t->depth_max, depth);
	}
	assert_int_equal(entity_tree_weight_below(t, 0), depth);
	for (uint32_t i = 1; i < t->node_count; i = entity_tree_end(t, i)) {
		assert_int_equal(t->entity[i], tops++);
		assert_int_equal(entity_tree_weight_below(t, i), 1);
	}
	assert_int_equal(tops, depth);
	arena_destroy(arena);
	profile_destroy(p);
}

TEST(test_inverted_is_bounded)
{
	expect_inverted(1000, false);
	expect_inverted(2000, true);
	expect_inverted(4000, true);
	expect_inverted(8000, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pre_order),
		cmocka_unit_test(test_weightless_stacks),
		cmocka_unit_test(test_neighbours_merge_at_module_level),
		cmocka_unit_test(test_modules_by_base_name),
		cmocka_unit_test(test_identity_of_functions),
		cmocka_unit_test(test_functions_of_one_name_are_apart),
		cmocka_unit_test(test_metric_is_chosen),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_spread_million_deep),
		cmocka_unit_test(test_inverted_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
