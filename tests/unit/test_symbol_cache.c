/* The symbol cache's files and folder: what goes in comes out, what is not sound is not read. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cache_directory.h"
#include "symbolize/cache_file.h"
#include "symbolize/section_store.h"
#include "../unit.h"

static const struct symbol_frame frames[] = {
	{STR("inner"), STR(""), STR("/src/a.h"), 3, STR("/src/a.h"), 1, true, false, false},
	{STR("outer"), STR("__outer\0"), STR("/src/a.c"), 30, STR("/src/a.c"), 20, false, false,
		false},
	{STR("[a+0x1]"), STR(""), STR(""), 0, STR(""), 0, false, true, true},
};
static const uint64_t addrs[] = {0x1000, 0x1004, 0x2000};
static const struct symbol_place places[] = {{frames, 2}, {NULL, 0}, {frames + 2, 1}};
static const struct cache_contents sample = {
	.obj_addrs = addrs, .places = places, .count = 3, .has_names = true, .has_lines = true};

static void check_frame(const struct symbol_frame *a, const struct symbol_frame *b)
{
	assert_true(str_equal(a->function, b->function));
	assert_true(str_equal(a->aliases, b->aliases));
	assert_true(str_equal(a->file, b->file));
	assert_true(str_equal(a->function_file, b->function_file));
	assert_int_equal(a->line, b->line);
	assert_int_equal(a->function_line, b->function_line);
	assert_int_equal(a->is_inline, b->is_inline);
	assert_int_equal(a->is_nameless, b->is_nameless);
	assert_int_equal(a->is_guessed_start, b->is_guessed_start);
}

TEST(what_goes_in_comes_out)
{
	struct arena *arena = arena_create();
	struct cache_contents got;
	struct strbuf file = {0};

	cache_file_encode(&sample, &file);
	assert_true(cache_file_decode(strbuf_str(&file), arena, &got));
	assert_int_equal(got.count, sample.count);
	assert_true(got.has_names && got.has_lines);
	for (size_t i = 0; i < got.count; i++) {
		assert_int_equal(got.obj_addrs[i], addrs[i]);
		assert_int_equal(got.places[i].count, places[i].count);
		for (uint32_t k = 0; k < places[i].count; k++)
			check_frame(&got.places[i].frames[k], &places[i].frames[k]);
	}
	strbuf_deinit(&file);
	arena_destroy(arena);
}

TEST(any_damage_makes_it_void)
{
	struct arena *arena = arena_create();
	struct cache_contents got;
	struct strbuf file = {0};

	cache_file_encode(&sample, &file);
	for (size_t size = 0; size < file.size; size++)
		assert_false(cache_file_decode((struct str){file.data, size}, arena, &got));
	for (size_t i = 0; i < file.size; i++) {
		file.data[i] ^= 0x10;
		assert_false(cache_file_decode(strbuf_str(&file), arena, &got));
		file.data[i] ^= 0x10;
	}
	strbuf_add_char(&file, 0);
	assert_false(cache_file_decode(strbuf_str(&file), arena, &got));
	strbuf_deinit(&file);
	arena_destroy(arena);
}

/* A folder of our own; the caller's. */
static char *make_folder(void)
{
	const char *base = getenv("TMPDIR");
	char *folder = xasprintf("%s/sonde-cache-XXXXXX", base ? base : "/tmp");

	assert_non_null(mkdtemp(folder));
	return folder;
}

static size_t count_files(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	size_t count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL)
		count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
	closedir(dir);
	return count;
}

static void remove_folder(char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	while ((entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	assert_int_equal(rmdir(folder), 0);
	free(folder);
}

TEST(files_are_whole_and_private)
{
	char *folder = make_folder(), *path = xasprintf("%s/x.sym", folder);
	struct file_bytes bytes;
	struct stat st;

	cache_directory_write(folder, "x.sym", STR("first"), 1000);
	cache_directory_write(folder, "x.sym", STR("second"), 1000);
	assert_true(cache_directory_read(folder, "x.sym", 1000, &bytes));
	assert_int_equal(bytes.size, 6);
	assert_memory_equal(bytes.data, "second", 6);
	file_bytes_deinit(&bytes);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_false(cache_directory_read(folder, "x.sym", 5, &bytes));
	assert_false(cache_directory_read(folder, "y.sym", 1000, &bytes));
	free(path);
	remove_folder(folder);
}

TEST(links_are_not_followed)
{
	char *folder = make_folder(), *path = xasprintf("%s/x.sym", folder);
	struct file_bytes bytes;

	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_false(cache_directory_read(folder, "x.sym", 1 << 20, &bytes));
	free(path);
	remove_folder(folder);
}

TEST(the_oldest_go_first)
{
	char *folder = make_folder();
	struct file_bytes bytes;
	char name[32];

	for (int i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "%d.sym", i);
		cache_directory_write(folder, name, STR("0123456789"), 35);
		usleep(20000);
		if (i == 1) { /* used again: it is no longer the oldest */
			assert_true(cache_directory_read(folder, "0.sym", 100, &bytes));
			file_bytes_deinit(&bytes);
			usleep(20000);
		}
	}
	assert_int_equal(count_files(folder), 3);
	assert_false(cache_directory_read(folder, "1.sym", 100, &bytes));
	assert_true(cache_directory_read(folder, "4.sym", 100, &bytes));
	file_bytes_deinit(&bytes);
	remove_folder(folder);
}

TEST(folders_are_made)
{
	char *folder = make_folder(), *inner = xasprintf("%s/sonde", folder);
	char *inmost = xasprintf("%s/sym", inner);
	struct file_bytes bytes;

	cache_directory_write(inmost, "x.sym", STR("a"), 1000);
	assert_true(cache_directory_read(inmost, "x.sym", 100, &bytes));
	file_bytes_deinit(&bytes);
	remove_folder(inmost);
	rmdir(inner);
	free(inner);
	remove_folder(folder);
}

TEST(the_environment_says_where)
{
	setenv("XDG_CACHE_HOME", "/x", 1);
	setenv("HOME", "/h", 1);
	char *path = cache_directory_path("sym");
	assert_string_equal(path, "/x/sonde/sym");
	free(path);
	setenv("XDG_CACHE_HOME", "relative", 1);
	path = cache_directory_path("sym");
	assert_string_equal(path, "/h/.cache/sonde/sym");
	free(path);
	unsetenv("HOME");
	assert_null(cache_directory_path("sym"));
}

/* Old files are removed from a cache, so another user's link must not choose the folder. */
TEST(another_users_link_is_no_cache)
{
	char *folder = make_folder(), *precious = xasprintf("%s/precious", folder),
	     *link = xasprintf("%s-link", folder);
	struct file_bytes bytes;

	if (geteuid() != 0)
		skip();
	cache_directory_write(folder, "precious", STR("0123456789"), 1000);
	assert_int_equal(symlink(folder, link), 0);
	assert_int_equal(lchown(link, 65534, (gid_t)-1), 0);
	cache_directory_write(link, "x.sym", STR("0123456789"), 10);
	assert_int_equal(access(precious, F_OK), 0);
	assert_false(cache_directory_read(folder, "x.sym", 100, &bytes));
	assert_int_equal(unlink(link), 0);
	free(link);
	free(precious);
	remove_folder(folder);
}

TEST(sections_are_kept)
{
	char *folder = make_folder();
	struct objfile_store store, none;

	section_store_init(&store, folder);
	section_store_init(&none, NULL);
	assert_null(store.load(store.context, "ab-1-2", 5));
	store.keep(store.context, "ab-1-2", (const uint8_t *)"bytes", 5);
	none.keep(none.context, "ab-1-2", (const uint8_t *)"bytes", 5);
	uint8_t *bytes = store.load(store.context, "ab-1-2", 5);

	assert_non_null(bytes);
	assert_memory_equal(bytes, "bytes", 5);
	free(bytes);
	assert_null(store.load(store.context, "ab-1-2", 4)); /* not the one that was meant */
	assert_null(store.load(store.context, "ab-1-3", 5));
	assert_null(none.load(none.context, "ab-1-2", 5));
	remove_folder(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_goes_in_comes_out),
		cmocka_unit_test(any_damage_makes_it_void),
		cmocka_unit_test(files_are_whole_and_private),
		cmocka_unit_test(links_are_not_followed),
		cmocka_unit_test(another_users_link_is_no_cache),
		cmocka_unit_test(sections_are_kept),
		cmocka_unit_test(the_oldest_go_first),
		cmocka_unit_test(folders_are_made),
		cmocka_unit_test(the_environment_says_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
