/*
 * Jitdumps written out here, of both byte orders, whole and cut.
 */

#include "../jitdump_bytes.h"
#include "../unit.h"
#include "obj/jit_rules.h"
#include "obj/jitdump.h"

/* a.js:3 at low, the same file's line 5 at low + 16, b.js:9 at low + 32 */
static void put_lines(struct jitdump_bytes *w, uint64_t low)
{
	static const struct {
		uint32_t line;
		const char *file;
	} lines[] = {{3, "a.js"}, {5, "\xff"}, {9, "b.js"}};

	jitdump_bytes_record(w, 2, 1, 16 + 16 + 5 + 16 + 2 + 16 + 5);
	jitdump_bytes_put(w, low, 8);
	jitdump_bytes_put(w, 3, 8);
	for (size_t i = 0; i < 3; i++) {
		jitdump_bytes_put(w, low + 16 * i, 8);
		jitdump_bytes_put(w, lines[i].line, 4);
		jitdump_bytes_put(w, 0, 4);
		strbuf_add(&w->out, (struct str){lines[i].file, strlen(lines[i].file) + 1});
	}
}

static void put_all(struct jitdump_bytes *w)
{
	jitdump_bytes_header(w, 0);
	jitdump_bytes_load(w, 100, 0x1000, 64, "early");
	jitdump_bytes_record(w, 99, 150, 8); /* of a kind that is not known */
	jitdump_bytes_put(w, 0, 8);
	put_lines(w, 0x1000);
	jitdump_bytes_load(w, 200, 0x1000, 128, "late");
	jitdump_bytes_move(w, 300, 0x1000, 0x2000, 128);
	jitdump_bytes_load(w, 300, 0x1080, 64, "beside");
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
	struct jitdump_bytes w = {.is_swapped = is_swapped};

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
	struct jitdump_bytes *w, uint64_t time_ns, uint64_t low, const char *name, struct str code)
{
	struct str text = {name, strlen(name) + 1};

	jitdump_bytes_record(w, 0, time_ns, 40 + text.size + code.size);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, 7, 4);
	jitdump_bytes_put(w, low, 8);
	jitdump_bytes_put(w, low, 8);
	jitdump_bytes_put(w, code.size, 8);
	jitdump_bytes_put(w, 1, 8);
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
TEST(test_code)
{
	struct jitdump_bytes w = {.is_swapped = false};

	jitdump_bytes_header(&w, 0);
	load_code(&w, 100, 0x1000, "early", STR("0123456789"));
	load_code(&w, 100, 0x100c, "beside", STR("abcdefgh"));
	load_code(&w, 200, 0x1000, "late", STR("ABCDEFGHIJ"));
	jitdump_bytes_load(&w, 300, 0x2000, 64, "cut"); /* its code is not there */
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

TEST(test_both_byte_orders)
{
	check_all(false);
	check_all(true);
}

TEST(test_cut_anywhere)
{
	struct jitdump_bytes w = {0};
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

TEST(test_times_of_another_clock)
{
	struct jitdump_bytes w = {0};

	jitdump_bytes_header(&w, 1);
	jitdump_bytes_load(&w, 1u << 30, 0x1000, 64, "early");
	jitdump_bytes_load(&w, 1u << 31, 0x1000, 64, "late");
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

TEST(test_what_is_no_jitdump)
{
	static const char text[] = "this is a text that is longer than the header of a jitdump";
	struct jitdump *dump = jitdump_parse((struct str){text, sizeof(text)});

	assert_int_equal(jitdump_count(dump), 0);
	assert_true(jitdump_is_cut(dump));
	jitdump_close(dump);
}

/* ---- unwind information ---- */

/* CFA = sp + 8, from byte 4 on sp + 8 + frame, in .eh_frame as it stands behind so much code. */
static void put_eh_frame(struct jitdump_bytes *w, size_t code_size, uint8_t frame)
{
	static const char cie[] = "\x14\0\0\0\0\0\0\0\1zR\0\1\x78\x10\1\x1b\x0c\7\10\x90\1\0";
	size_t from_code = ((code_size + 7) & ~(size_t)7) + sizeof(cie) + 8;

	strbuf_add(&w->out, (struct str){cie, sizeof(cie)});
	jitdump_bytes_put(w, 20, 4);
	jitdump_bytes_put(w, sizeof(cie) + 4, 4);
	jitdump_bytes_put(w, UINT64_C(0) - from_code, 4);
	jitdump_bytes_put(w, code_size, 4);
	jitdump_bytes_put(w, 0, 1);
	jitdump_bytes_put(w, 0x44, 1); /* 4 bytes further on */
	jitdump_bytes_put(w, 0x0e, 1);
	jitdump_bytes_put(w, 8 + frame, 1);
	jitdump_bytes_put(w, 0, 4);
}

enum { EH_FRAME_SIZE = 48, HDR_SIZE = 20 };

/* Sizes as told, and a header of nothing. */
static void put_unwinding(
	struct jitdump_bytes *w, uint64_t size, uint64_t hdr_size, size_t code_size, uint8_t frame)
{
	jitdump_bytes_record(w, 4, 50, 24 + EH_FRAME_SIZE + HDR_SIZE);
	jitdump_bytes_put(w, size, 8);
	jitdump_bytes_put(w, hdr_size, 8);
	jitdump_bytes_put(w, 80, 8);
	put_eh_frame(w, code_size, frame);
	for (size_t i = 0; i < HDR_SIZE; i++)
		jitdump_bytes_put(w, 0xff, 1);
}

static void tell(struct jitdump_bytes *w, size_t code_size, uint8_t frame)
{
	put_unwinding(w, EH_FRAME_SIZE + HDR_SIZE, HDR_SIZE, code_size, frame);
}

static bool read_written(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct strbuf *out = context;

	if (offset > out->size || out->size - offset < size)
		return false;
	memcpy(bytes, out->data + offset, size);
	return true;
}

/* The rules of what is written so far; the reader goes on where it was. */
static void read_on(struct jitdump_reader *reader, struct jit_rules *rules)
{
	struct jitdump_record record;

	while (jitdump_next(reader, &record))
		jit_rules_add(rules, &record);
}

/* offset: of the CFA from sp; 0: there is no rule. */
static void check_rule(struct jit_rules *rules, const struct jitdump_reader *reader, uint64_t va,
	uint64_t time_ns, int32_t offset)
{
	struct cfi_rule rule;

	assert_int_equal(jit_rules_find(rules, reader, va, time_ns, &rule), offset != 0);
	if (offset) {
		assert_int_equal(rule.kind, CFI_CODE_SP);
		assert_int_equal(rule.cfa_offset, offset);
	}
}

/* By place and time, while the file grows; information is of the next code and of no other. */
TEST(test_rules)
{
	struct jitdump_bytes w = {.is_swapped = false};
	struct jitdump_reader reader = {.read = read_written, .context = &w.out};
	struct jit_rules rules = {0};

	jitdump_bytes_header(&w, 0);
	jitdump_bytes_load(&w, 90, 0x5000, 64, "before");
	tell(&w, 61, 0x10);
	put_lines(&w, 0x1000);
	jitdump_bytes_load(&w, 100, 0x1000, 61, "early");
	jitdump_bytes_load(&w, 100, 0x1040, 64, "silent");
	read_on(&reader, &rules);
	check_rule(&rules, &reader, 0x1000, 100, 8);
	check_rule(&rules, &reader, 0x1004, 100, 0x18);
	check_rule(&rules, &reader, 0x1004, 50, 0x18); /* nothing stood there yet */
	check_rule(&rules, &reader, 0x103d, 100, 0);
	check_rule(&rules, &reader, 0x1050, 100, 0);
	check_rule(&rules, &reader, 0x5004, 100, 0);
	tell(&w, 128, 0x20);
	jitdump_bytes_load(&w, 200, 0x1000, 128, "late");
	jitdump_bytes_move(&w, 300, 0x1000, 0x2000, 128);
	jitdump_bytes_load(&w, 400, 0x1000, 64, "silent");
	read_on(&reader, &rules);
	check_rule(&rules, &reader, 0x1004, 150, 0x18);
	check_rule(&rules, &reader, 0x1004, 200, 0x28);
	check_rule(&rules, &reader, 0x1050, 200, 0x28);
	check_rule(&rules, &reader, 0x2004, 300, 0x28);
	check_rule(&rules, &reader, 0x2003, 300, 8);
	check_rule(&rules, &reader, 0x1004, 400, 0);
	assert_int_equal(rules.bad + reader.bad_records, 0);
	jit_rules_deinit(&rules);
	strbuf_deinit(&w.out);
}

/* Each of many pieces of code that come one by one has its own rule. */
TEST(test_rules_of_much_code)
{
	enum { PIECES = 2000 };
	struct jitdump_bytes w = {.is_swapped = false};
	struct jitdump_reader reader = {.read = read_written, .context = &w.out};
	struct jit_rules rules = {0};

	jitdump_bytes_header(&w, 0);
	for (uint64_t i = 0; i < PIECES; i++) {
		/* 7 and PIECES have no common divisor, so each place is taken once. */
		uint64_t at = i * 7 % PIECES;
		tell(&w, 32, (uint8_t)(8 * (at % 8)));
		jitdump_bytes_load(&w, i, 0x1000 + 32 * at, 32, "piece");
		read_on(&reader, &rules);
		check_rule(&rules, &reader, 0x1004 + 32 * at, i, (int32_t)(8 + 8 * (at % 8)));
		assert_true(rules.runs.count <= 12);
	}
	for (uint64_t at = 0; at < PIECES; at++)
		check_rule(&rules, &reader, 0x1010 + 32 * at, PIECES, (int32_t)(8 + 8 * (at % 8)));
	jit_rules_deinit(&rules);
	strbuf_deinit(&w.out);
}

TEST(test_hostile_unwinding)
{
	enum { WHOLE = EH_FRAME_SIZE + HDR_SIZE };
	static const struct {
		uint64_t size, hdr_size;
		size_t bad_records, bad_rules;
	} cases[] = {
		{UINT64_MAX, 0, 1, 0},				       /* more than there is */
		{WHOLE + 1, HDR_SIZE, 1, 0}, {WHOLE, WHOLE + 1, 1, 0}, /* less than nothing */
		{0, UINT64_MAX, 1, 0}, {WHOLE, WHOLE, 0, 0},	       /* nothing, as V8 has it */
		{0, 0, 0, 0}, {WHOLE, 0, 0, 1},			       /* entries that are none */
		{30, 0, 0, 1},					       /* cut */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct jitdump_bytes w = {.is_swapped = false};
		struct jitdump_reader reader = {.read = read_written, .context = &w.out};
		struct jit_rules rules = {0};
		struct cfi_rule rule;

		jitdump_bytes_header(&w, 0);
		put_unwinding(&w, cases[i].size, cases[i].hdr_size, 64, 0x10);
		jitdump_bytes_load(&w, 100, 0x1000, 64, "bad");
		tell(&w, 64, 0x20);
		jitdump_bytes_load(&w, 100, 0x2000, 64, "good");
		read_on(&reader, &rules);
		assert_false(jit_rules_find(&rules, &reader, 0x1004, 100, &rule));
		assert_false(jit_rules_find(&rules, &reader, 0x1004, 100, &rule));
		check_rule(&rules, &reader, 0x2004, 100, 0x28);
		assert_int_equal(reader.bad_records, cases[i].bad_records);
		assert_int_equal(rules.bad, cases[i].bad_rules);
		jit_rules_deinit(&rules);
		strbuf_deinit(&w.out);
	}
}

/* Information of more than is read at a time is counted, and is not read. */
TEST(test_large_unwinding)
{
	struct jitdump_bytes w = {.is_swapped = false};
	struct jitdump_reader reader = {.read = read_written, .context = &w.out};
	struct jit_rules rules = {0};

	jitdump_bytes_header(&w, 0);
	jitdump_bytes_record(&w, 4, 50, 24 + JIT_RULES_EH_FRAME_MAX + 1);
	jitdump_bytes_put(&w, JIT_RULES_EH_FRAME_MAX + 1, 8);
	jitdump_bytes_put(&w, 0, 8);
	jitdump_bytes_put(&w, 0, 8);
	for (size_t i = 0; i < JIT_RULES_EH_FRAME_MAX + 1; i++)
		jitdump_bytes_put(&w, 0, 1);
	jitdump_bytes_load(&w, 100, 0x1000, 64, "large");
	read_on(&reader, &rules);
	check_rule(&rules, &reader, 0x1004, 100, 0);
	assert_int_equal(rules.bad, 1);
	jit_rules_deinit(&rules);
	strbuf_deinit(&w.out);
}

/* However much code the file has, no more than so much is kept; the rest is counted. */
TEST(test_bound_of_code)
{
	struct jit_rules rules = {0};
	struct jitdump_record record = {.kind = JITDUMP_UNWINDING, .body_size = 8};

	jit_rules_add(&rules, &record);
	record.kind = JITDUMP_LOAD;
	for (uint64_t i = 0; i < JIT_RULES_CODES_MAX + 3; i++) {
		record.low = 64 * i;
		record.size = 64;
		jit_rules_add(&rules, &record);
	}
	assert_int_equal(rules.codes.count, JIT_RULES_CODES_MAX);
	assert_int_equal(rules.left_out, 3);
	jit_rules_deinit(&rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_byte_orders),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_times_of_another_clock),
		cmocka_unit_test(test_what_is_no_jitdump),
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_rules_of_much_code),
		cmocka_unit_test(test_hostile_unwinding),
		cmocka_unit_test(test_large_unwinding),
		cmocka_unit_test(test_bound_of_code),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
