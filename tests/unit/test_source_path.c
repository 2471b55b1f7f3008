/* Source paths: what is joined, what is folded. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

#include "obj/source_path.h"

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

static void parts_are_joined(void **state)
{
	(void)state;
	check("/src/app", "", "main.c", "/src/app/main.c");
	check("/src/app", "lib", "a.c", "/src/app/lib/a.c");
	check("", "", "a.c", "a.c");
	check("rel", "sub", "a.c", "rel/sub/a.c");
	check("", "", "", "");
}

static void the_last_absolute_part_begins_the_path(void **state)
{
	(void)state;
	check("/src/app", "/usr/include", "stdio.h", "/usr/include/stdio.h");
	check("/src/app", "/usr/include", "/etc/x.h", "/etc/x.h");
	check("/src/app", "lib", "/a.c", "/a.c");
}

static void one_header_has_one_path(void **state)
{
	(void)state;
	check("/src/app", "../include", "x.h", "/src/include/x.h");
	check("/src/lib/deep", "../../include", "x.h", "/src/include/x.h");
	check("/src", "./include/.", "x.h", "/src/include/x.h");
	check("/src//", "include//", "x.h", "/src/include/x.h");
}

static void dots_that_lead_out_stay(void **state)
{
	(void)state;
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
