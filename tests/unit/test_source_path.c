/* Source paths: what is joined, what is folded. */

#include "obj/source_path.h"
#include "../unit.h"

static void check(
	const char *compilation, const char *directory, const char *name, const char *expected)
{
	struct arena *arena = arena_create();

	assert_string_equal(
		source_path_join(arena, str_from(compilation), str_from(directory), str_from(name))
			.data,
		expected);
	arena_destroy(arena);
}

TEST(parts_are_joined)
{
	check("/src/app", "", "main.c", "/src/app/main.c");
	check("/src/app", "lib", "a.c", "/src/app/lib/a.c");
	check("", "", "a.c", "a.c");
	check("rel", "sub", "a.c", "rel/sub/a.c");
	check("", "", "", "");
}

TEST(the_last_absolute_part_begins_the_path)
{
	check("/src/app", "/usr/include", "stdio.h", "/usr/include/stdio.h");
	check("/src/app", "/usr/include", "/etc/x.h", "/etc/x.h");
	check("/src/app", "lib", "/a.c", "/a.c");
}

TEST(one_header_has_one_path)
{
	check("/src/app", "../include", "x.h", "/src/include/x.h");
	check("/src/lib/deep", "../../include", "x.h", "/src/include/x.h");
	check("/src", "./include/.", "x.h", "/src/include/x.h");
	check("/src//", "include//", "x.h", "/src/include/x.h");
}

TEST(dots_that_lead_out_stay)
{
	check("", "../..", "x.h", "../../x.h");
	check("", "../a/../..", "x.h", "../../x.h");
	check("a", "../..", "x.h", "../x.h");
	check("/", "../..", "x.h", "/x.h");
	check("", "...", "..x", ".../..x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_joined),
		cmocka_unit_test(the_last_absolute_part_begins_the_path),
		cmocka_unit_test(one_header_has_one_path),
		cmocka_unit_test(dots_that_lead_out_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
