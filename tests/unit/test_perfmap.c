/* Perf maps: what is read, and what is not believed. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "obj/perfmap.h"
#include "../unit.h"

static void check(const struct perfmap *map, uint64_t va, const char *expected)
{
	struct str name = STR("");

	assert_int_equal(perfmap_find(map, va, &name), expected != NULL);
	assert_true(str_equal(name, str_from(expected)));
}

TEST(lines_are_read)
{
	struct perfmap *map = perfmap_parse(STR("1000 10 LazyCompile:~fib /tmp/a b.js:3\n"
						"0x2000 0x20 stub\r\n"
						"\n"
						"FFFFFFFFFFFFFFF0 100 last"));

	check(map, 0xfff, NULL);
	check(map, 0x1000, "LazyCompile:~fib /tmp/a b.js:3");
	check(map, 0x1010, NULL);
	check(map, 0x201f, "stub");
	check(map, 0xfffffffffffffff5, "last");
	assert_int_equal(perfmap_bad_lines(map), 0);
	perfmap_close(map);
}

TEST(later_lines_win)
{
	struct perfmap *map = perfmap_parse(STR("1000 100 old\n1040 20 new\n1000 100 newest\n"
						"10f0 20 end\n"));

	check(map, 0x1000, "newest");
	check(map, 0x1050, "newest");
	check(map, 0x10ef, "newest");
	check(map, 0x10f0, "end");
	perfmap_close(map);
}

TEST(bad_lines_are_counted)
{
	struct perfmap *map = perfmap_parse(STR("hello\n1000\n1000 10\n1000 10 \nxyz 10 a\n"
						"11112222333344445 1 a\n 1000 10 a\n2000 0 empty\n"
						"3000 8 good\n"));

	assert_int_equal(perfmap_bad_lines(map), 7);
	check(map, 0x2000, NULL);
	check(map, 0x3000, "good");
	perfmap_close(map);
}

TEST(overlapping_lines_are_quick)
{
	struct strbuf text = {0};

	for (unsigned int i = 0; i < 200000; i++)
		strbuf_printf(&text, "%x %x f%u\n", i, 0x10000000 - i, i);
	struct perfmap *map = perfmap_parse(strbuf_str(&text));
	check(map, 0x100, "f256");
	check(map, 0x0fffffff, "f199999");
	perfmap_close(map);
	strbuf_deinit(&text);
}

/* A folder with a map in it, and its path; both the caller's. */
static char *make_map(char **folder)
{
	const char *base = getenv("TMPDIR");
	*folder = xasprintf("%s/sonde-perfmap-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(*folder));
	char *path = xasprintf("%s/perf-1.map", *folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs("1000 10 f\n", file);
	fclose(file);
	return path;
}

static void remove_map(char *path, char *folder)
{
	unlink(path);
	rmdir(folder);
	free(path);
	free(folder);
}

TEST(only_own_regular_files_are_read)
{
	struct perfmap *map = NULL;
	char *folder, *path = make_map(&folder);
	char *link = xasprintf("%s/link", folder), *fifo = xasprintf("%s/fifo", folder);
	const char *const refused[] = {link, fifo, folder, "/dev/zero", "/nonexistent"};

	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	struct error *err = perfmap_open_file(path, getuid(), &map);
	assert_null(err);
	check(map, 0x1000, "f");
	perfmap_close(map);
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		err = perfmap_open_file(refused[i], getuid(), &map);
		assert_non_null(err);
		error_destroy(err);
	}
	unlink(link);
	unlink(fifo);
	free(link);
	free(fifo);
	remove_map(path, folder);
}

TEST(strangers_are_not_believed)
{
	struct perfmap *map = NULL;
	char *folder, *path = make_map(&folder);

	if (chown(path, 12345, 12345) != 0) { /* only root can try this */
		remove_map(path, folder);
		skip();
		return;
	}
	struct error *err = perfmap_open_file(path, getuid(), &map);
	assert_non_null(err);
	error_destroy(err);
	err = perfmap_open_file(path, 12345, &map);
	assert_null(err);
	perfmap_close(map);
	remove_map(path, folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read),
		cmocka_unit_test(later_lines_win),
		cmocka_unit_test(bad_lines_are_counted),
		cmocka_unit_test(overlapping_lines_are_quick),
		cmocka_unit_test(only_own_regular_files_are_read),
		cmocka_unit_test(strangers_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
