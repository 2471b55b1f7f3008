/*
 * Jitdumps written out here, of both byte orders, whole and cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "obj/jitdump.h"

struct writer {
	struct strbuf out;
	bool is_swapped;
};

static void put(struct writer *w, uint64_t number, size_t size)
{
	for (size_t i = 0; i < size; i++)
		strbuf_add_char(&w->out, (char)(number >> 8 * (w->is_swapped ? size - 1 - i : i)));
}

static void put_header(struct writer *w, uint64_t flags)
{
	put(w, 0x4a695444, 4);
	put(w, 1, 4);
	put(w, 40, 4);
	put(w, 62, 4);
	put(w, 0, 4);
	put(w, 7, 4);
	put(w, 1, 8);
	put(w, flags, 8);
}

static void put_record(struct writer *w, uint32_t kind, uint64_t time_ns, size_t body_size)
{
	put(w, kind, 4);
	put(w, 16 + body_size, 4);
	put(w, time_ns, 8);
}

static void load(struct writer *w, uint64_t time_ns, uint64_t low, uint64_t size, const char *name)
{
	struct str text = {name, strlen(name) + 1};

	put_record(w, 0, time_ns, 40 + text.size + 3);
	put(w, 7, 4);
	put(w, 7, 4);
	put(w, low, 8);
	put(w, low, 8);
	put(w, size, 8);
	put(w, 1, 8);
	strbuf_add(&w->out, text);
	put(w, 0xcccccc, 3);
}

static void move(struct writer *w, uint64_t time_ns, uint64_t from, uint64_t to, uint64_t size)
{
	put_record(w, 1, time_ns, 48);
	put(w, 7, 4);
	put(w, 7, 4);
	put(w, to, 8);
	put(w, from, 8);
	put(w, to, 8);
	put(w, size, 8);
	put(w, 1, 8);
}

/* a.js:3 at low, the same file's line 5 at low + 16, b.js:9 at low + 32 */
static void put_lines(struct writer *w, uint64_t low)
{
	static const struct {
		uint32_t line;
		const char *file;
	} lines[] = {{3, "a.js"}, {5, "\xff"}, {9, "b.js"}};

	put_record(w, 2, 1, 16 + 16 + 5 + 16 + 2 + 16 + 5);
	put(w, low, 8);
	put(w, 3, 8);
	for (size_t i = 0; i < 3; i++) {
		put(w, low + 16 * i, 8);
		put(w, lines[i].line, 4);
		put(w, 0, 4);
		strbuf_add(&w->out, (struct str){lines[i].file, strlen(lines[i].file) + 1});
	}
}

static void put_all(struct writer *w)
{
	put_header(w, 0);
	load(w, 100, 0x1000, 64, "early");
	put_record(w, 99, 150, 8); /* of a kind that is not known */
	put(w, 0, 8);
	put_lines(w, 0x1000);
	load(w, 200, 0x1000, 128, "late");
	move(w, 300, 0x1000, 0x2000, 128);
	load(w, 300, 0x1080, 64, "beside");
}

static void check(struct jitdump *dump, uint64_t va, uint64_t time_ns, const char *function,
	const char *file, uint32_t line)
{
	struct arena *arena = arena_create();
	struct jitdump_place place;
	bool found = jitdump_find(dump, va, time_ns, arena, &place);

	assert_int_equal(found, function != NULL);
	if (found) {
		assert_true(str_equal(place.function, str_from(function)));
		assert_true(str_equal(place.file, str_from(file)));
		assert_int_equal(place.line, line);
	}
	arena_destroy(arena);
}

static void check_all(bool is_swapped)
{
	struct writer w = {.is_swapped = is_swapped};

	put_all(&w);
	struct jitdump *dump = jitdump_parse(strbuf_str(&w.out));

	assert_int_equal(jitdump_count(dump), 4);
	assert_false(jitdump_is_cut(dump));
	check(dump, 0x1010, 150, "early", "", 0);
	check(dump, 0x1010, 50, "early", "", 0); /* nothing stood there yet */
	check(dump, 0x1010, 200, "late", "a.js", 5);
	check(dump, 0x1000, 900, "late", "a.js", 3);
	check(dump, 0x1050, 100, "late", "b.js", 9); /* early was shorter */
	check(dump, 0x2010, 300, "late", "a.js", 5);
	check(dump, 0x1090, 300, "beside", "", 0);
	check(dump, 0x0fff, 300, NULL, NULL, 0);
	check(dump, 0x10c0, 300, NULL, NULL, 0);
	jitdump_close(dump);
	strbuf_deinit(&w.out);
}

static void load_code(
	struct writer *w, uint64_t time_ns, uint64_t low, const char *name, struct str code)
{
	struct str text = {name, strlen(name) + 1};

	put_record(w, 0, time_ns, 40 + text.size + code.size);
	put(w, 7, 4);
	put(w, 7, 4);
	put(w, low, 8);
	put(w, low, 8);
	put(w, code.size, 8);
	put(w, 1, 8);
	strbuf_add(&w->out, text);
	strbuf_add(&w->out, code);
}

static void check_code(struct jitdump *dump, uint64_t va, uint64_t time_ns, const char *expected)
{
	uint8_t bytes[8];

	assert_int_equal(jitdump_code(dump, va, time_ns, bytes, sizeof(bytes)), expected != NULL);
	if (expected)
		assert_memory_equal(bytes, expected, sizeof(bytes));
}

/* What stood somewhere, and traps where nothing did. */
static void test_code(void **state)
{
	struct writer w = {.is_swapped = false};

	(void)state;
	put_header(&w, 0);
	load_code(&w, 100, 0x1000, "early", STR("0123456789"));
	load_code(&w, 100, 0x100c, "beside", STR("abcdefgh"));
	load_code(&w, 200, 0x1000, "late", STR("ABCDEFGHIJ"));
	load(&w, 300, 0x2000, 64, "cut"); /* its code is not there */
	struct jitdump *dump = jitdump_parse(strbuf_str(&w.out));

	check_code(dump, 0x1001, 150, "12345678");
	check_code(dump, 0x1001, 200, "BCDEFGHI");
	check_code(dump, 0x0ffc, 150,
		"\xcc\xcc\xcc\xcc"
		"0123");
	check_code(dump, 0x1007, 150,
		"789\xcc\xcc"
		"abc");
	check_code(dump, 0x1010, 150, "efgh\xcc\xcc\xcc\xcc");
	check_code(dump, 0x1018, 150, NULL);
	check_code(dump, 0x2000, 300, NULL);
	jitdump_close(dump);
	strbuf_deinit(&w.out);
}

static void test_both_byte_orders(void **state)
{
	(void)state;
	check_all(false);
	check_all(true);
}

static void test_cut_anywhere(void **state)
{
	(void)state;
	struct writer w = {0};
	size_t whole = 0;

	put_all(&w);
	for (size_t size = 0; size <= w.out.size; size++) {
		struct jitdump *dump = jitdump_parse((struct str){w.out.data, size});
		assert_true(jitdump_count(dump) >= whole && jitdump_count(dump) <= 4);
		whole = jitdump_count(dump);
		jitdump_close(dump);
	}
	assert_int_equal(whole, 4);
	strbuf_deinit(&w.out);
}

static void test_times_of_another_clock(void **state)
{
	(void)state;
	struct writer w = {0};

	put_header(&w, 1);
	load(&w, 1u << 30, 0x1000, 64, "early");
	load(&w, 1u << 31, 0x1000, 64, "late");
	struct jitdump *dump = jitdump_parse(strbuf_str(&w.out));
	/* Then what came last is what stood there. */
	struct arena *arena = arena_create();
	struct jitdump_place place;
	assert_true(jitdump_find(dump, 0x1000, 5, arena, &place));
	assert_true(str_equal(place.function, STR("late")));
	arena_destroy(arena);
	jitdump_close(dump);
	strbuf_deinit(&w.out);
}

static void test_what_is_no_jitdump(void **state)
{
	(void)state;
	static const char text[] = "this is a text that is longer than the header of a jitdump";
	struct jitdump *dump = jitdump_parse((struct str){text, sizeof(text)});

	assert_int_equal(jitdump_count(dump), 0);
	assert_true(jitdump_is_cut(dump));
	jitdump_close(dump);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_byte_orders),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_times_of_another_clock),
		cmocka_unit_test(test_what_is_no_jitdump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
