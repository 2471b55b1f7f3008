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
	check(map, 0x2000, "empty");
	check(map, 0x3000, "good");
	perfmap_close(map);
}

TEST(tabs_and_prefixes_are_read)
{
	struct perfmap *map = perfmap_parse(STR("0x1000\t0x10\ttabbed name\n"
						"0X2000 \t 0X10\t both\tin it\n"
						"ABCDEF0 1F UPPER\r\n"));

	check(map, 0x100f, "tabbed name");
	check(map, 0x2000, "both\tin it");
	check(map, 0xabcdf0e, "UPPER");
	assert_int_equal(perfmap_bad_lines(map), 0);
	perfmap_close(map);
}

TEST(size_0_reaches_to_the_next)
{
	struct perfmap *map = perfmap_parse(STR("3000 0 last\n1000 0 first\n2000 8 sized\n"
						"2800 0 middle\n1800 10 within\n"));

	check(map, 0xfff, NULL);
	check(map, 0x1000, "first");
	check(map, 0x17ff, "first");
	check(map, 0x1808, "within");
	check(map, 0x1810, NULL);
	check(map, 0x2007, "sized");
	check(map, 0x2008, NULL);
	check(map, 0x2fff, "middle");
	check(map, 0x3fff, "last");
	check(map, 0x3000 + (1 << 20), NULL);
	perfmap_close(map);
}

/* ---- maps that grow ---- */

static void add(struct perfmap *map, const char *bytes, uint64_t from_ns, uint64_t until_ns)
{
	perfmap_add(map, str_from(bytes), from_ns, until_ns);
}

TEST(names_have_times)
{
	struct perfmap *map = perfmap_create();

	add(map, "1000 10 old\n2000 10 ot", 0, 0);
	add(map, "her\n1000 10 new\n", 50, 50);
	perfmap_advance(map, 49);
	check(map, 0x1000, "old");
	check(map, 0x2000, NULL);
	perfmap_advance(map, 50);
	check(map, 0x1000, "new");
	check(map, 0x2000, "other");
	add(map, "3000 10 unfinished", 60, 60);
	perfmap_advance(map, 100);
	check(map, 0x3000, NULL);
	perfmap_end(map, 100);
	perfmap_advance(map, 100);
	check(map, 0x3000, "unfinished");
	assert_int_equal(perfmap_bad_lines(map), 0);
	perfmap_close(map);
}

TEST(names_that_came_together_are_unsure)
{
	struct perfmap *map = perfmap_create();

	add(map, "1000 10 old\n2000 10 other\n3000 10 same\n1008 10 new\n3000 10 same\n", 0, 50);
	perfmap_advance(map, 10);
	assert_true(perfmap_is_unsure(map, perfmap_find_line(map, 0x1008), 49));
	assert_false(perfmap_is_unsure(map, perfmap_find_line(map, 0x1008), 50));
	assert_false(perfmap_is_unsure(map, perfmap_find_line(map, 0x1000), 49));
	assert_false(perfmap_is_unsure(map, perfmap_find_line(map, 0x2000), 49));
	assert_false(perfmap_is_unsure(map, perfmap_find_line(map, 0x3000), 49));
	perfmap_close(map);
}

TEST(a_map_that_begins_again_is_not_kept_twice)
{
	struct perfmap *map = perfmap_create();

	add(map, "1000 10 a\n2000 10 b\n300", 0, 0);
	perfmap_advance(map, 0);
	perfmap_rewind(map);
	add(map, "1000 10 a\n2000 10 c\n4000 10 d\n", 5, 5);
	perfmap_advance(map, 5);
	assert_int_equal(perfmap_count(map), 4);
	assert_int_equal(perfmap_bad_lines(map), 0);
	check(map, 0x1000, "a");
	check(map, 0x2000, "c");
	check(map, 0x4000, "d");
	perfmap_close(map);
}

/* In whatever pieces a map comes, it takes about the time and memory of one piece. */
TEST(many_pieces_are_quick)
{
	struct perfmap *map = perfmap_create();
	char line[64];

	for (unsigned int i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), "%x 10 f%u\n", 0x1000 + (i * 7919 % 100003) * 16, i);
		add(map, line, i, i);
		perfmap_advance(map, i);
	}
	check(map, 0x1000, "f0");
	check(map, 0x1000 + 7919 * 16, "f1");
	assert_true(perfmap_memory(map) < (uint64_t)100000 * 192);
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
		cmocka_unit_test(tabs_and_prefixes_are_read),
		cmocka_unit_test(size_0_reaches_to_the_next),
		cmocka_unit_test(names_have_times),
		cmocka_unit_test(names_that_came_together_are_unsure),
		cmocka_unit_test(a_map_that_begins_again_is_not_kept_twice),
		cmocka_unit_test(many_pieces_are_quick),
		cmocka_unit_test(overlapping_lines_are_quick),
		cmocka_unit_test(only_own_regular_files_are_read),
		cmocka_unit_test(strangers_are_not_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
