/*
 * Folded text: the fine print of docs/formats/folded.md, line by line, and the way back.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/escape.h"

static struct error *try_read(struct str text, const char *from, struct profile **p)
{
	return try_profile(text, "test.folded", from, p);
}

static struct profile *read_text(struct str text)
{
	return read_profile(text, "test.folded", "folded");
}

static void expect_error(struct str text, const char *from, const char *part)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, from, &p);

	assert_non_null(err);
	assert_null(p);
	assert_non_null(strstr(err->message, "test.folded"));
	expect_refusal(err, part);
}

/* What the writer makes of a profile; freed by the caller. */
static char *write_text(const struct profile *p, bool with_modules)
{
	struct writer_options options = {.metric = p->default_metric, .with_modules = with_modules};

	return writer_text(&writer_folded, p, &options).data;
}

/* Reading text and writing it with modules gives wanted. */
static void expect_text(struct str text, const char *wanted)
{
	struct profile *p = read_text(text);
	char *got = write_text(p, true);

	assert_string_equal(got, wanted);
	free(got);
	profile_destroy(p);
}

static void expect_note(struct str text, enum note_kind kind, uint64_t count, const char *wanted)
{
	struct profile *p = read_text(text);

	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].kind, kind);
	assert_int_equal(p->notes[0].count, count);
	assert_string_equal(profile_string(p, p->notes[0].text).data, wanted);
	profile_destroy(p);
}

TEST(plain_lines)
{
	struct profile *p = read_text(STR("main;a;b 3\nmain;a 2\nmain;a;b 4\n"));

	assert_int_equal(p->total[0], 9);
	assert_int_equal(p->stack_count, 4);
	assert_int_equal(p->function_count, 3);
	assert_int_equal(p->stats.counted, 9);
	assert_int_equal(p->note_count, 0);
	assert_string_equal(profile_string(p, p->metrics[0].name).data, "samples");
	assert_string_equal(profile_string(p, p->metrics[0].unit).data, "count");
	assert_string_equal(profile_string(p, p->source).data, "test.folded");
	assert_string_equal(profile_string(p, p->format).data, "folded");
	assert_int_equal(p->process_count + p->thread_count, 0);
	profile_destroy(p);
	expect_text(STR("main;a;b 3\nmain;a 2\nmain;a;b 4"), "main;a 2\nmain;a;b 7\n");
}

TEST(line_ends_and_comments)
{
	expect_text(STR("a;b 1\r\na 2\r\n"), "a 2\na;b 1\n");
	expect_text(STR("# a comment 5\n\n   \n\t\r\na 2\n#x\n"), "a 2\n");
	expect_text(STR("a #;b 1"), "a #;b 1\n");
	expect_text(STR("a 2  \n"), "a 2\n");
	expect_text(STR("\xef\xbb\xbf"
			"a 2\n"),
		"a 2\n");
	expect_text(STR("\xff\xfe"
			"a\0;\0\xe9\0 \0"
			"7\0\r\0\n\0"),
		"a;\xc3\xa9 7\n");
	expect_text(STR("\xfe\xff"
			"\0a\0 \0"
			"7"),
		"a 7\n");
}

TEST(last_space_parts_the_weight)
{
	expect_text(STR("operator new(unsigned long);f 5 12\n"),
		"operator new(unsigned long);f 5 12\n");
	expect_text(STR("a  3\n"), "a  3\n");
	expect_text(STR(" a 3\n"), " a 3\n");
}

TEST(two_weights_are_a_difference)
{
	struct profile *p = read_text(STR("# both\nmain;a b 31 33\nmain;c 5.5 0\r\nmain\t0\t4\n"));

	assert_int_equal(p->metric_count, 3);
	assert_string_equal(profile_string(p, p->metrics[0].name).data, "samples");
	assert_string_equal(profile_string(p, p->metrics[1].name).data, "samples (old)");
	assert_string_equal(profile_string(p, p->metrics[2].name).data, "samples (new)");
	assert_int_equal(p->total[0], 0);
	assert_int_equal(p->total[1], 37);
	assert_int_equal(p->total[2], 37);
	assert_int_equal(p->stats.counted, 37);
	assert_int_equal(p->note_count, 1);
	assert_int_equal(p->notes[0].kind, NOTE_GUESSED);
	char *text = write_text(p, false);
	assert_string_equal(text, "main 4\nmain;a b 2\nmain;c -6\n");
	free(text);
	profile_destroy(p);
	/* One line alone, or one that has one weight: names that end in numbers. */
	expect_text(STR("a 31 33\n"), "a 31 33\n");
	expect_text(STR("a 31 33\nb 4\n"), "a 31 33\nb 4\n");
	expect_text(STR("a\t4\n"), "a 4\n");
}

TEST(utf16_without_a_mark)
{
	expect_text(STR("a\0;\0b\0 \0"
			"7\0\n\0"),
		"a;b 7\n");
	expect_text(STR("\0a\0;\0b\0 \0"
			"7\0\n"),
		"a;b 7\n");
}

TEST(blank_frames_are_unknown)
{
	expect_text(STR("a;;b 1\n"), "a;[unknown];b 1\n");
	expect_text(STR(";a 1\n"), "[unknown];a 1\n");
	expect_text(STR("a; 1\n"), "a;[unknown] 1\n");
	expect_text(STR("a; \t;b 1\n"), "a;[unknown];b 1\n");
	expect_text(STR(" 1\n"), "[unknown] 1\n");
	expect_text(STR("a;[unknown];b 1\na;;b 1\n"), "a;[unknown];b 2\n");
}

TEST(load_objects)
{
	struct profile *p = read_text(STR("app`main;libc.so.6`malloc 1\n[kernel.kallsyms]`x 1\n"
					  "`y 1\nz` 1\nmalloc 1\nm`a`b 1\n"));

	assert_int_equal(p->object_count, 4);
	assert_true(str_equal(profile_module(p, p->functions[1].object), STR("libc.so.6")));
	assert_string_equal(profile_string(p, p->functions[1].name).data, "malloc");
	assert_int_equal(p->objects[1].kind, OBJECT_USER);
	assert_int_equal(p->objects[2].kind, OBJECT_KERNEL);
	assert_string_equal(profile_string(p, p->functions[3].name).data, "`y");
	assert_string_equal(profile_string(p, p->functions[4].name).data, "z`");
	assert_int_equal(p->functions[5].object.i, NO_ID);
	assert_string_equal(profile_string(p, p->functions[6].name).data, "a`b");
	char *plain = write_text(p, false);
	assert_string_equal(plain, "main;malloc 1\nx 1\n``y 1\nz`` 1\nmalloc 1\na``b 1\n");
	free(plain);
	char *with = write_text(p, true);
	assert_string_equal(with, "app`main;libc.so.6`malloc 1\n[kernel.kallsyms]`x 1\n"
				  "``y 1\nz`` 1\nmalloc 1\nm`a``b 1\n");
	free(with);
	profile_destroy(p);
}

TEST(kernel_marks_stay)
{
	expect_text(STR("main;sys_read_[k] 4\n"), "main;sys_read_[k] 4\n");
}

static void expect_weight(const char *weight, int64_t wanted)
{
	struct strbuf line = {0};

	strbuf_printf(&line, "a %s\nb 0\n", weight);
	struct profile *p = read_text(strbuf_str(&line));
	assert_true(p->total[0] == wanted);
	profile_destroy(p);
	strbuf_deinit(&line);
}

TEST(weights)
{
	expect_weight("0", 0);
	expect_weight("9223372036854775807", INT64_MAX);
	expect_weight("0000000000000000000000000000012", 12);
	expect_weight("-5", -5);
	expect_weight("-9223372036854775807", -INT64_MAX);
	expect_weight("-0", 0);
	/* Half away from zero. */
	expect_weight("2.5", 3);
	expect_weight("2.499999999999999999999", 2);
	expect_weight("-2.5", -3);
	expect_weight("-0.4", 0);
	expect_weight(".5", 1);
	expect_weight("7.", 7);
	expect_weight("9223372036854775807.4", INT64_MAX);
}

TEST(malformed_weights)
{
	static const char *const bad[] = {"9223372036854775808", "-9223372036854775808",
		"9223372036854775807.5", "99999999999999999999999", "1e3", "0x10", "+1", "--1", "-",
		".", "-.", "1.2.3", "1,5", "NaN", "a", "1;", "\xd9\xa1"};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct strbuf text = {0};
		strbuf_printf(&text, "good 1\na %s\n", bad[i]);
		expect_note(strbuf_str(&text), NOTE_BAD_RECORD, 1,
			"a line is malformed and skipped: line 2");
		strbuf_deinit(&text);
	}
}

TEST(malformed_lines_become_a_note)
{
	expect_note(STR("bad\na 1\n\n# c\nworse \nb;c\n12\na 1\na 1\na 1\n"), NOTE_BAD_RECORD, 4,
		"lines are malformed and skipped: lines 1, 5, 6, 7");
	expect_note(STR("a 1\nx\nx\nx\nx\nx\nx\nx\nx\nx\na 1\na 1\na 1\na 1\na 1\na 1\na 1\n"
			"a 1\n"),
		NOTE_BAD_RECORD, 9,
		"lines are malformed and skipped: lines 2, 3, 4, 5, 6, 7, 8, 9, …");
	expect_note(STR("a 1.5\nb 2.0\nc 3\n"), NOTE_GUESSED, 2,
		"weights with a fraction were rounded to whole numbers");
}

TEST(nothing_good_is_an_error)
{
	expect_error(STR("bad\nworse\n"), "folded", "line 1 is the first");
	/* One more than half of the lines. */
	expect_error(STR("a 1\n#\nbad\n\nworse\n"), NULL,
		"line 3 is malformed, as are 2 of its 3 lines: not folded stacks");
	expect_error(STR("a 1\nbad\nworse\n"), "folded", "line 2 is malformed");
	expect_error(STR("# only\n# comments\n"), "folded", "contains no folded stack");
	expect_error(STR("bad\nworse\n"), NULL, "in no format that sonde reads");
	expect_error(STR(""), NULL, "is empty");
	expect_error(STR("\0\1\2 5\n"), NULL, "in no format that sonde reads");
	expect_error(STR("a 9223372036854775807\nb 1\n"), NULL, "exceeds 64 bits");
	expect_error(STR("a -9223372036854775807\nb -1\n"), NULL, "exceeds 64 bits");
}

TEST(zero_weights_are_good_lines)
{
	struct profile *p = read_text(STR("a;b 0\nc 0\n"));

	assert_int_equal(p->total[0], 0);
	assert_int_equal(p->note_count, 0);
	char *text = write_text(p, false);
	assert_string_equal(text, "");
	free(text);
	profile_destroy(p);
}

TEST(deltas_do_not_count_samples)
{
	struct profile *p = read_text(STR("a 5\nb -2\n"));

	assert_int_equal(p->total[0], 3);
	assert_true(p->stats.counted == UINT64_MAX);
	assert_null(p->row_samples);
	profile_destroy(p);
}

TEST(content_decides)
{
	struct profile *p = NULL;

	assert_null(try_read(STR("junk\njunk\njunk\na;b 1\na 2\nb 3\n"), NULL, &p));
	assert_string_equal(profile_string(p, p->format).data, "folded");
	profile_destroy(p);
	expect_error(STR("a 1\n"), "dump", "does not begin with");
	struct strbuf prose = {0};
	for (int i = 0; i < 60; i++)
		strbuf_add(&prose, i == 30 ? STR("See chapter 5\n") : STR("A line of prose.\n"));
	expect_error(strbuf_str(&prose), NULL, "in no format that sonde reads");
	strbuf_deinit(&prose);
	struct error *err = try_read(STR("a 1\n"), "nosuch", &p);
	assert_int_equal(err->kind, ERROR_USAGE);
	assert_non_null(strstr(err->message, "folded"));
	error_destroy(err);
}

/* Names are bytes: what is not UTF-8 is kept apart. */
TEST(names_are_bytes)
{
	struct profile *p = read_text(STR("\xff 1\n\xfe 1\n\033[31m 1\na\0b 1\n"));

	assert_int_equal(p->function_count, 4);
	assert_true(str_equal(profile_string(p, p->functions[3].name), (struct str){"a\0b", 3}));
	char *text = write_text(p, false);
	assert_string_equal(text, "\\xff 1\n\\xfe 1\n\\x1b[31m 1\na\\x00b 1\n");
	free(text);
	profile_destroy(p);
}

TEST(hostile_names_stay_one_frame)
{
	struct builder *b = builder_create();
	const char *names[] = {"a;b", "#c", "x\ny", "", "  "};
	stack_id stack = {0};
	struct profile *p;

	(void)builder_metric(b, STR("samples"), STR("count"));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		function_id f = builder_function(b, builder_string(b, str_from(names[i])),
			(object_id){NO_ID}, (string_id){0}, 0);
		frame_id frame = builder_frame(b, f, (string_id){0}, 0, false, 0);
		stack = builder_stack(b, stack, frame);
		if (i == 1)
			builder_weight(
				b, builder_stack(b, (stack_id){0}, frame), (int64_t[]){1}, 1);
	}
	builder_weight(b, stack, (int64_t[]){2}, 2);
	builder_weight(b, (stack_id){0}, (int64_t[]){3}, 3);
	assert_null(builder_finish(b, &p));
	char *text = write_text(p, false);
	assert_string_equal(
		text, "\\x23c 1\na\\x3bb;#c;x\\x0ay;[unknown];\\x20  2\n[no stack] 3\n");
	free(text);
	profile_destroy(p);
}

/* Frames that differ only in what folded text cannot hold are one line. */
TEST(same_text_is_one_line)
{
	struct builder *b = builder_create();
	struct profile *p;
	function_id f;

	(void)builder_metric(b, STR("samples"), STR("count"));
	f = builder_function(b, builder_string(b, STR("f")), (object_id){NO_ID}, (string_id){0}, 0);
	for (uint32_t line = 1; line <= 3; line++) {
		frame_id frame = builder_frame(b, f, (string_id){0}, line, false, 0);
		stack_id stack = builder_stack(b, (stack_id){0}, frame);
		builder_weight(b, builder_stack(b, stack, frame), (int64_t[]){line}, 1);
	}
	assert_null(builder_finish(b, &p));
	char *text = write_text(p, false);
	assert_string_equal(text, "f;f 6\n");
	free(text);
	profile_destroy(p);
}

TEST(deep_stacks)
{
	struct strbuf text = {0};
	const uint32_t depth = 1000000;

	strbuf_add(&text, STR("main"));
	for (uint32_t i = 1; i < depth; i++)
		strbuf_add(&text, i % 2 ? STR(";f") : STR(";g"));
	strbuf_add(&text, STR(" 1\n"));
	struct profile *p = read_text(strbuf_str(&text));
	assert_int_equal(p->depth_max, depth);
	assert_int_equal(p->stack_count, depth + 1);
	char *again = write_text(p, false);
	assert_string_equal(again, text.data);
	free(again);
	profile_destroy(p);
	/* Past 2^22 frames it is no stack any more. */
	strbuf_clear(&text);
	for (uint32_t i = 0; i < 1u << 22; i++)
		strbuf_add_char(&text, ';');
	strbuf_add(&text, STR(" 1\ngood 1\n"));
	expect_note(
		strbuf_str(&text), NOTE_BAD_RECORD, 1, "a line is malformed and skipped: line 1");
	strbuf_deinit(&text);
}

/* Prefixes of the line before, taken over where they end at a frame's end, and only there. */
TEST(prefixes)
{
	expect_text(STR("main;abc;d 1\nmain;ab;d 1\nmain;abcd 1\nmain;abc 1\nmai 1\nmain 1\n"
			"main;abc;d;e 1\nmain;abc; 1\nmain;abc;d 1\n"),
		"main 1\nmain;abc 1\nmain;abc;d 2\nmain;ab;d 1\nmain;abcd 1\nmai 1\n"
		"main;abc;d;e 1\nmain;abc;[unknown] 1\n");
}

/* A slow reading of lines, a sum per stack: the sums must be the same, whatever the order. */
TEST(random_texts)
{
	struct random r = random_from(5);
	struct strbuf text = {0};

	for (int round = 0; round < 300; round++) {
		int64_t sums[4][4][4] = {0};
		int64_t total = 0;
		strbuf_clear(&text);
		for (uint32_t n = random_below(&r, 60) + 1; n > 0; n--) {
			uint32_t x = random_below(&r, 4), y = random_below(&r, 4),
				 z = random_below(&r, 4), w = random_below(&r, 100);
			strbuf_printf(&text, "%.*s;%.*s;longer_name_%u %u\n", (int)x + 1, "aaaa",
				(int)y + 1, "bbbb", z, w);
			sums[x][y][z] += w;
			total += w;
		}
		struct profile *p = read_text(strbuf_str(&text));
		assert_true(p->total[0] == total);
		char *out = write_text(p, false);
		for (uint32_t i = 0; i < 64; i++) {
			int64_t sum = sums[i / 16][i / 4 % 4][i % 4];
			strbuf_clear(&text);
			strbuf_printf(&text, "%.*s;%.*s;longer_name_%u %lld\n", (int)(i / 16) + 1,
				"aaaa", (int)(i / 4 % 4) + 1, "bbbb", i % 4, (long long)sum);
			assert_true((strstr(out, text.data) != NULL) == (sum != 0));
		}
		free(out);
		profile_destroy(p);
	}
	strbuf_deinit(&text);
}

/* A profile of one stack for each name, in that module; "": none. */
static struct profile *profile_of_names(const struct str *names, size_t count, const char *module)
{
	struct builder *b = builder_create();
	object_id object = {NO_ID};
	struct profile *p;

	(void)builder_metric(b, STR("samples"), STR("count"));
	if (*module)
		object = builder_object(b, str_from(module), STR(""), OBJECT_USER);
	for (size_t i = 0; i < count; i++) {
		function_id f =
			builder_function(b, builder_string(b, names[i]), object, (string_id){0}, 0);
		frame_id frame = builder_frame(b, f, (string_id){0}, 0, false, 0);

		builder_weight(b, builder_stack(b, (stack_id){0}, frame), (int64_t[]){5}, 5);
	}
	assert_null(builder_finish(b, &p));
	return p;
}

/* Writes the profile, and reads the same names back; its folded text must recognize itself. */
static void expect_names_back(const struct str *names, size_t count, const char *module)
{
	struct profile *p = profile_of_names(names, count, module), *q = NULL;
	char *text = write_text(p, true);
	struct error *err = try_read(str_from(text), NULL, &q);

	if (err)
		fail_msg("%s\n%s", err->message, text);
	assert_int_equal(q->metric_count, 1);
	assert_int_equal(q->note_count, 0);
	assert_int_equal(q->function_count, p->function_count);
	for (size_t i = 0; i < count; i++) {
		struct str name = profile_string(q, q->functions[i].name);

		if (!str_equal(name, names[i]))
			fail_msg("%s: '%s' was '%s'", text, name.data, names[i].data);
		assert_true(str_equal(profile_module(q, q->functions[i].object), str_from(module)));
	}
	free(text);
	profile_destroy(p);
	profile_destroy(q);
}

/* A '`' before a .NET type's arity ends no load object, nor does a doubled one. */
TEST(ticks_of_names)
{
	expect_text(STR("Dict`2[A,B].Try(!0) 1\nIt`1[X]::get() 1\na``b 1\nlib.dll`List`1[X] 1\n"
			"a`0x40 1\na`1b 1\na`1234 1\n"),
		"Dict``2[A,B].Try(!0) 1\nIt``1[X]::get() 1\na``b 1\nlib.dll`List``1[X] 1\n"
		"a`0x40 1\na`\\x31b 1\na`\\x31234 1\n");
}

TEST(any_name_comes_back)
{
	const struct str names[] = {STR("a;b c\nd"), STR(" "), STR("  x "), STR("#c"), STR("[x]"),
		STR("List`1[X].Add(!0)"), STR("Select``2(a, b)"), STR("`"), STR("``1"), STR("1"),
		STR("1`2`x"), STR("a`1\n"), STR("a`1\xff"), STR("a`0"), STR("a`1_"), STR("\\"),
		STR("\\x3b"), STR("\\x41"), STR("\\u{200b}"), STR("\\\\x0a"), STR("\xe2\x80\x8b"),
		STR("\xc2\x85"), STR("\xc3"), STR("Thread 1"), STR("@[x]: 3"), STR("\t"),
		STR("a\r")};
	const struct str numbers[] = {STR("f 1"), STR("g -2.5")};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		expect_names_back(&names[i], 1, "");
		expect_names_back(&names[i], 1, "lib`1.so");
	}
	expect_names_back(names, ARRAY_SIZE(names), "");
	expect_names_back(names, ARRAY_SIZE(names), "a;\\x3b`");
	/* As a difference looks; only its first line has to be unlike one. */
	expect_names_back(numbers, ARRAY_SIZE(numbers), "");
	struct profile *p = profile_of_names(numbers, ARRAY_SIZE(numbers), "");
	char *text = write_text(p, true);
	assert_string_equal(text, "f\\x201 5\ng -2.5 5\n");
	free(text);
	profile_destroy(p);
}

/* Names of random bytes, with many of those that mean something. */
TEST(random_names_come_back)
{
	static const char marks[] = "` ;\\x123ab3b60u{}20#\n\xe2\x80\x8b";
	struct random r = random_from(9);

	for (int round = 0; round < 2000; round++) {
		char bytes[12];
		size_t size = random_below(&r, sizeof(bytes)) + 1;

		for (size_t i = 0; i < size; i++)
			bytes[i] = random_below(&r, 8) ? marks[random_below(&r, sizeof(marks))]
						       : (char)random_below(&r, 256);
		struct str name = {bytes, size};
		expect_names_back(&name, 1, round % 2 ? "m" : "");
	}
}

/* Writing what was read changes nothing, order included. */
TEST(write_and_read_again)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape);
		for (int modules = 0; modules < 2; modules++) {
			char *once = write_text(p, modules);
			struct profile *q;
			if (*once == '\0') {
				free(once);
				continue;
			}
			q = read_text(str_from(once));
			assert_true(q->total[0] == p->total[p->default_metric.i]);
			assert_int_equal(q->note_count, 0);
			char *twice = write_text(q, modules);
			assert_string_equal(once, twice);
			free(twice);
			free(once);
			profile_destroy(q);
		}
		profile_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_lines),
		cmocka_unit_test(line_ends_and_comments),
		cmocka_unit_test(last_space_parts_the_weight),
		cmocka_unit_test(two_weights_are_a_difference),
		cmocka_unit_test(utf16_without_a_mark),
		cmocka_unit_test(blank_frames_are_unknown),
		cmocka_unit_test(load_objects),
		cmocka_unit_test(kernel_marks_stay),
		cmocka_unit_test(weights),
		cmocka_unit_test(malformed_weights),
		cmocka_unit_test(malformed_lines_become_a_note),
		cmocka_unit_test(nothing_good_is_an_error),
		cmocka_unit_test(zero_weights_are_good_lines),
		cmocka_unit_test(deltas_do_not_count_samples),
		cmocka_unit_test(content_decides),
		cmocka_unit_test(names_are_bytes),
		cmocka_unit_test(hostile_names_stay_one_frame),
		cmocka_unit_test(same_text_is_one_line),
		cmocka_unit_test(deep_stacks),
		cmocka_unit_test(prefixes),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(ticks_of_names),
		cmocka_unit_test(any_name_comes_back),
		cmocka_unit_test(random_names_come_back),
		cmocka_unit_test(write_and_read_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
