/*
 * Source files found by the paths that debug information has, and read as lines whatever they hold.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../scratch.h"
#include "../unit.h"
#include "base/alloc.h"
#include "obj/source_file.h"

static void expect_mapped(const char *rule, const char *path, const char *expected)
{
	struct arena *arena = arena_create();
	struct source_map map = {0};
	struct error *err = source_map_add(&map, rule);

	assert_null(err);
	struct str mapped = source_map_apply(&map, str_from(path), arena);

	assert_int_equal(mapped.size, strlen(expected));
	assert_memory_equal(mapped.data, expected, mapped.size);
	source_map_deinit(&map);
	arena_destroy(arena);
}

TEST(a_rule_fits_whole_components)
{
	expect_mapped("/build=/home/me", "/build/a.c", "/home/me/a.c");
	expect_mapped("/build/=/home/me", "/build/a.c", "/home/me/a.c");
	expect_mapped("/build/=/home/me/", "/build/a.c", "/home/me/a.c");
	expect_mapped("/build=", "/build/a.c", "/a.c");
	expect_mapped("/build=.", "/building/a.c", "/building/a.c");
	expect_mapped("/build=.", "/a.c", "/a.c");
	expect_mapped("/b/a.c=x.c", "/b/a.c", "x.c");
	expect_mapped("/a=b=c", "/a/x", "b=c/x");
}

TEST(the_first_rule_that_fits_counts)
{
	struct arena *arena = arena_create();
	struct source_map map = {0};
	struct error *err;

	assert_null(source_map_add(&map, "/a/b=/1"));
	assert_null(source_map_add(&map, "/a=/2"));
	assert_true(str_equal(source_map_apply(&map, STR("/a/b/c"), arena), STR("/1/c")));
	assert_true(str_equal(source_map_apply(&map, STR("/a/x"), arena), STR("/2/x")));
	for (size_t i = 0; i < 2; i++) {
		err = source_map_add(&map, i ? "=new" : "no rule");
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_USAGE);
		error_destroy(err);
	}
	source_map_deinit(&map);
	arena_destroy(arena);
}

/* A file of these bytes, read under its own path. */
static struct source_file read_bytes(const char *folder, struct str bytes, struct arena *arena)
{
	static const struct source_map none;
	char *path = arena_printf(arena, "%s/source", folder);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
	fclose(file);
	return source_file_read(str_from(path), &none, NULL, arena);
}

TEST(lines_end_as_they_may)
{
	struct arena *arena = arena_create();
	char *folder = scratch_create();
	struct source_file f = read_bytes(folder, STR("a\r\n\n\xff\xfe\tc\rd\n last"), arena);

	assert_null(f.problem);
	assert_int_equal(f.line_count, 4);
	assert_true(str_equal(f.lines[0], STR("a")));
	assert_int_equal(f.lines[1].size, 0);
	assert_true(str_equal(f.lines[2], STR("\xff\xfe\tc\rd")));
	assert_true(str_equal(f.lines[3], STR(" last")));
	assert_true(f.changed_unix_ns > 0);
	f = read_bytes(folder, STR(""), arena);
	assert_null(f.problem);
	assert_int_equal(f.line_count, 0);
	scratch_destroy(folder);
	arena_destroy(arena);
}

TEST(what_is_no_text_is_told)
{
	struct arena *arena = arena_create();
	char *folder = scratch_create();
	static const struct source_map none;
	struct source_file f = read_bytes(folder,
		STR("\x7f"
		    "ELF\0\0"),
		arena);

	assert_non_null(strstr(f.problem, "not a text file"));
	assert_int_equal(f.line_count, 0);
	f = source_file_read(str_from(folder), &none, NULL, arena);
	assert_non_null(f.problem);
	f = source_file_read(STR("/dev/zero"), &none, NULL, arena);
	assert_non_null(f.problem);
	f = source_file_read(STR("/not/there.c"), &none, NULL, arena);
	assert_non_null(strstr(f.problem, "--source-map"));
	assert_int_equal(f.path.size, 0);
	f = source_file_read(STR(""), &none, NULL, arena);
	assert_non_null(f.problem);
	scratch_destroy(folder);
	arena_destroy(arena);
}

/* By the end of its path, if that says more than a file's name. */
TEST(a_file_may_be_below_here)
{
	struct arena *arena = arena_create();
	char *folder = scratch_create(), before[4096];
	static const struct source_map none;

	assert_true(scratch_run(folder, "mkdir -p src/b && echo 1 >src/b/x.c && echo 2 >y.c"));
	assert_non_null(getcwd(before, sizeof(before)));
	assert_int_equal(chdir(folder), 0);
	struct source_file f = source_file_read(STR("/build/app/src/b/x.c"), &none, NULL, arena);

	assert_null(f.problem);
	assert_true(str_equal(f.path, STR("src/b/x.c")));
	assert_true(str_equal(f.lines[0], STR("1")));
	f = source_file_read(STR("/build/y.c"), &none, NULL, arena);
	assert_non_null(f.problem);
	f = source_file_read(STR("y.c"), &none, NULL, arena);
	assert_null(f.problem);
	assert_int_equal(chdir(before), 0);
	scratch_destroy(folder);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_rule_fits_whole_components),
		cmocka_unit_test(the_first_rule_that_fits_counts),
		cmocka_unit_test(lines_end_as_they_may),
		cmocka_unit_test(what_is_no_text_is_told),
		cmocka_unit_test(a_file_may_be_below_here),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
