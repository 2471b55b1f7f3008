/*
 * Which functions of two profiles are the same, where the profiles do not say the same of them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "model/match.h"
#include "../unit.h"

/* A function, or with no name none. */
struct known {
	const char *name, *object, *file;
	uint32_t line;
};

static struct profile *profile_of(const struct known *functions, size_t count)
{
	struct builder *b = builder_create();
	struct profile *p;
	int64_t weight = 1;

	(void)builder_metric(b, STR("samples"), STR("count"));
	for (size_t i = 0; i < count; i++) {
		const struct known *k = &functions[i];
		object_id object = {NO_ID};

		if (k->object)
			object = builder_object(b, str_from(k->object), STR(""), OBJECT_USER);
		function_id f = builder_function(b, builder_string(b, str_from(k->name)), object,
			builder_string(b, str_from(k->file ? k->file : "")), k->line);
		frame_id frame = builder_frame(b, f, (string_id){0}, 0, false, 0);
		builder_weight(b, builder_stack(b, (stack_id){0}, frame), &weight, 1);
	}
	assert_null(builder_finish(b, &p));
	return p;
}

/*
 * Old function i is to be taken for the new one as_old[i], "-" for itself, and the new ones for
 * the old ones of as_new.
 */
static void expect(const struct known *old, size_t old_count, const struct known *new,
	size_t new_count, const char *as_old, const char *as_new)
{
	struct arena *arena = arena_create();
	struct profile *p = profile_of(old, old_count), *q = profile_of(new, new_count);
	struct import_function *of_old, *of_new;
	char got_old[16] = "", got_new[16] = "";

	match_functions(p, q, match_objects(p, q, arena), arena, &of_old, &of_new);
	for (size_t i = 0; i < old_count; i++)
		got_old[i] = of_old[i].profile == p ? '-' : (char)('0' + of_old[i].row);
	for (size_t i = 0; i < new_count; i++)
		got_new[i] = of_new[i].profile == q ? '-' : (char)('0' + of_new[i].row);
	assert_string_equal(got_old, as_old);
	assert_string_equal(got_new, as_new);
	profile_destroy(p);
	profile_destroy(q);
	arena_destroy(arena);
}

#define EXPECT(old, new, as_old, as_new)                                                           \
	expect(old, ARRAY_SIZE(old), new, ARRAY_SIZE(new), as_old, as_new)

TEST(the_same_stay_themselves)
{
	static const struct known both[] = {{"f", "/bin/a", "a.c", 3}, {"f", "/bin/a", "b.c", 3},
		{"f", NULL, NULL, 0}, {"", "/bin/a", NULL, 0}};

	EXPECT(both, both, "----", "----");
}

TEST(what_has_moved_is_the_same)
{
	static const struct known old[] = {{"init", "/old/bin/a", "a.c", 3},
		{"init", "/old/bin/a", "b.c", 3}, {"work", "/old/bin/a", "/build1/w.c", 7}};
	static const struct known new[] = {{"work", "/new/bin/a", "/build2/w.c", 9},
		{"init", "/new/bin/a", "b.c", 5}, {"init", "/new/bin/a", "a.c", 6}};

	EXPECT(old, new, "210", "---");
}

TEST(names_are_enough_where_one_side_has_no_more)
{
	static const struct known names[] = {{"main", NULL, NULL, 0}, {"f", NULL, NULL, 0}};
	static const struct known more[] = {{"f", "/bin/a", "a.c", 3}, {"main", "/bin/a", NULL, 0}};

	EXPECT(names, more, "10", "--");
	EXPECT(more, names, "--", "10");
}

TEST(what_differs_is_not_the_same)
{
	static const struct known old[] = {
		{"f", "/bin/a", "a.c", 3}, {"g", "/bin/a", NULL, 0}, {"", "/bin/a", NULL, 0}};
	static const struct known new[] = {
		{"f", "/bin/a", "other.c", 3}, {"g", "/bin/b", NULL, 0}, {"", "/bin/b", NULL, 0}};

	EXPECT(old, new, "---", "---");
}

TEST(of_several_none_is_chosen)
{
	static const struct known names[] = {{"init", NULL, NULL, 0}};
	static const struct known two[] = {
		{"init", "/bin/a", "a.c", 3}, {"init", "/bin/a", "b.c", 3}};

	EXPECT(names, two, "-", "--");
	EXPECT(two, names, "--", "-");
}

/* Two functions `step` and one without a name in a build of a program. */
static struct profile *profile_of_build(const char *build_id)
{
	static const char *const names[] = {"step@0x10", "step@0x20", "step@0x30", "[a+0x40]"};
	struct builder *b = builder_create();
	struct profile *p;

	(void)builder_metric(b, STR("samples"), STR("count"));
	object_id object = builder_object(b, STR("/bin/a"), str_from(build_id), OBJECT_USER);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		/* One symbol has such a name itself. */
		(void)builder_function_called(b, builder_string(b, str_from(names[i])),
			i < 2 ? (struct str){"step", 5} : STR(""), object, (string_id){0}, 0);
	assert_null(builder_finish(b, &p));
	return p;
}

/* The names by which old functions go, if these are not their own. */
static void expect_called(const char *old, const char *new, size_t twins, const char *wanted)
{
	struct arena *arena = arena_create();
	struct profile *p = profile_of_build(old), *q = profile_of_build(new);
	struct import_function *of_old, *of_new;
	struct strbuf got = {0};

	assert_int_equal(
		match_functions(p, q, match_objects(p, q, arena), arena, &of_old, &of_new), twins);
	for (size_t i = 0; i < p->function_count; i++)
		strbuf_printf(&got, "%.*s;", STR_ARG(of_old[i].name));
	assert_string_equal(got.data, wanted);
	strbuf_deinit(&got);
	profile_destroy(p);
	profile_destroy(q);
	arena_destroy(arena);
}

TEST(addresses_are_of_one_build)
{
	expect_called("a1", "a1", 0, ";;;;");
	expect_called("a1", "b2", 4, "step;step;;[a+0x40] (old);");
	expect_called("a1", "", 4, "step;step;;;");
	expect_called("", "", 4, "step;step;;;");
}

/* A program is built under another name; its library stays. */
TEST(one_program_under_two_names_is_one)
{
	static const struct known old[] = {{"main", "/a/x", "x.c", 3}, {"f", "/a/x", "x.c", 9},
		{"gone", "/a/x", NULL, 0}, {"", "/a/x", NULL, 0}, {"f", "/lib/l.so", NULL, 0}};
	static const struct known new[] = {{"f", "/lib/l.so", NULL, 0}, {"f", "/b/y", "x.c", 8},
		{"main", "/b/y", "x.c", 3}, {"came", "/b/y", NULL, 0}};

	EXPECT(old, new, "-1---", "----");
}

/* One name of many in common, or two that have it: nobody knows. */
TEST(programs_that_differ_are_not_one)
{
	static const struct known old[] = {
		{"main", "/a/x", NULL, 0}, {"f", "/a/x", NULL, 0}, {"g", "/a/x", NULL, 0}};
	static const struct known other[] = {
		{"main", "/b/y", NULL, 0}, {"h", "/b/y", NULL, 0}, {"k", "/b/y", NULL, 0}};
	static const struct known two[] = {{"f", "/b/y", NULL, 0}, {"f", "/b/z", NULL, 0}};

	EXPECT(old, other, "---", "---");
	EXPECT(old, two, "---", "--");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_stay_themselves),
		cmocka_unit_test(what_has_moved_is_the_same),
		cmocka_unit_test(names_are_enough_where_one_side_has_no_more),
		cmocka_unit_test(what_differs_is_not_the_same),
		cmocka_unit_test(of_several_none_is_chosen),
		cmocka_unit_test(addresses_are_of_one_build),
		cmocka_unit_test(one_program_under_two_names_is_one),
		cmocka_unit_test(programs_that_differ_are_not_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
