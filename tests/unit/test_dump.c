/*
 * The canonical dump: writing what was read changes nothing, whatever the profile; the text does
 * not depend on how a profile was built; and each way to get a dump wrong is an error with its
 * line.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/escape.h"
#include "formats/common/line_scan.h"

static struct error *try_read(struct str text, struct profile **p)
{
	return try_profile(text, "test.dump", "dump", p);
}

static struct profile *read_dump(struct str text)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, &p);

	if (err)
		fail_msg("%s in\n%.*s", err->message, STR_ARG(text));
	return p;
}

/* Freed by the caller. */
static struct strbuf write_dump(const struct profile *p)
{
	return writer_text(&writer_dump, p, &(struct writer_options){.with_modules = false});
}

static void assert_same_dump(const struct profile *p, const struct profile *q)
{
	struct strbuf a = write_dump(p), b = write_dump(q);

	if (!str_equal(strbuf_str(&a), strbuf_str(&b)))
		fail_msg("these differ:\n%s\n%s", a.data, b.data);
	strbuf_deinit(&a);
	strbuf_deinit(&b);
}

/* Columns too long for the text to be looked at: stacks in the order of their ids, samples. */
static void assert_same_columns(const struct profile *p, const struct profile *q)
{
	assert_int_equal(p->stack_count, q->stack_count);
	assert_int_equal(p->depth_max, q->depth_max);
	assert_int_equal(p->samples.count, q->samples.count);
	for (uint32_t i = 0; i < p->stack_count; i++) {
		assert_int_equal(profile_stack_parent(p, i), profile_stack_parent(q, i));
		for (size_t m = 0; m < p->metric_count; m++)
			assert_true(profile_weight(p, m, i) == profile_weight(q, m, i));
	}
	for (size_t i = 0; i < p->samples.count; i++) {
		assert_int_equal(p->samples.stack[i].i, q->samples.stack[i].i);
		assert_true(p->samples.time_ns[i] == q->samples.time_ns[i]);
	}
}

TEST(random_profiles_come_back)
{
	for (uint64_t seed = 0; seed < 400; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape);
		struct strbuf text = write_dump(p);
		struct profile *q = read_dump(strbuf_str(&text));
		assert_same_dump(p, q);
		assert_same_columns(p, q);
		strbuf_deinit(&text);
		profile_destroy(p);
		profile_destroy(q);
	}
}

static bool is_about_order(struct str line)
{
	return str_starts_with(line, STR("order ")) || str_starts_with(line, STR("sample "));
}

static struct strbuf without_order(struct strbuf text)
{
	struct strbuf out = {0};
	struct str rest = strbuf_str(&text);

	while (rest.size) {
		struct str line = str_take_line(&rest);
		if (is_about_order(line))
			continue;
		strbuf_add(&out, line);
		strbuf_add_char(&out, '\n');
	}
	strbuf_deinit(&text);
	return out;
}

TEST(text_does_not_depend_on_the_order_of_building)
{
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape);
		struct profile *q = random_profile_shuffled(seed, 7, &shape);
		struct strbuf a = without_order(write_dump(p));
		struct strbuf b = without_order(write_dump(q));
		assert_true(str_equal(strbuf_str(&a), strbuf_str(&b)));
		strbuf_deinit(&a);
		strbuf_deinit(&b);
		profile_destroy(p);
		profile_destroy(q);
	}
}

TEST(text_is_harmless)
{
	struct random_shape shape = random_shape_small;

	shape.hostile = shape.places = shape.samples = shape.notes = true;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct profile *p = random_profile(seed, &shape);
		struct strbuf text = write_dump(p);
		struct str rest = strbuf_str(&text);
		while (rest.size) {
			struct strbuf escaped = {0};
			struct str line = str_take_line(&rest);
			escape_text(&escaped, line);
			assert_true(str_equal(strbuf_str(&escaped), line));
			strbuf_deinit(&escaped);
		}
		strbuf_deinit(&text);
		profile_destroy(p);
	}
}

TEST(quoted_strings_come_back)
{
	struct random r = random_from(9);
	struct strbuf line = {0}, buffer = {0};
	char bytes[40];

	for (int i = 0; i < 5000; i++) {
		struct str s = {bytes, random_below(&r, sizeof(bytes))};
		for (size_t k = 0; k < s.size; k++)
			bytes[k] = (char)random_next(&r);
		strbuf_clear(&line);
		strbuf_add_char(&line, '"');
		escape_bytes(&line, s);
		strbuf_add(&line, STR("\"#12@3 x"));
		struct line_scan scan = line_scan_from(strbuf_str(&line));
		assert_true(str_equal(line_scan_string(&scan, &buffer), s));
		assert_int_equal(line_scan_nth(&scan, '#'), 12);
		assert_int_equal(line_scan_nth(&scan, '@'), 3);
		assert_int_equal(line_scan_nth(&scan, '@'), 1);
		assert_true(line_scan_is(&scan, "x"));
		line_scan_end(&scan);
		assert_null(scan.problem);
	}
	strbuf_deinit(&line);
	strbuf_deinit(&buffer);
}

static const char by_hand[] = "sonde-dump 1\n"
			      "# the worked figure of semantics.md, in part\n"
			      "metric \"cpu-time\" \"ns\"\n"
			      "metric \"samples\" \"count\" default\n"
			      "\n"
			      "object user \"/bin/app\" \"ab12\"\n"
			      "object user \"/bin/app\" \"cd34\"\n"
			      "function \"main\" object \"/bin/app\"#2 file \"m.c\" line 3\n"
			      "frame\n"
			      "frame file \"m.c\" line 5 addr 0x1136 inline\n"
			      "function \"A\"\r\n"
			      "frame\n"
			      "stack 1 \"main\"@2\n"
			      "stack 2 \"A\" 10 1 samples 1\n"
			      "stack 2 \"main\" 32 2 samples 2\n"
			      "stack 1 \"A\" -5 0 samples 0\n"
			      "order 0 4 1-3\n"
			      "end\n";

TEST(a_dump_by_hand)
{
	struct profile *p = read_dump(STR(by_hand));

	assert_int_equal(p->metric_count, 2);
	assert_int_equal(p->default_metric.i, 1);
	assert_int_equal(p->total[0], 37);
	assert_int_equal(p->stats.counted, 3);
	assert_int_equal(p->functions[0].object.i, 1);
	/* Row 4 was seen first. */
	assert_string_equal(
		profile_string(p, p->functions[p->frames[p->stack_frame[1].i].function.i].name)
			.data,
		"A");
	assert_int_equal(profile_weight(p, 0, 1), -5);
	assert_int_equal(p->source.i, 0);
	struct strbuf text = write_dump(p);
	assert_string_equal(text.data,
		"sonde-dump 1\n"
		"stat counted 3\n"
		"metric \"cpu-time\" \"ns\"\n"
		"metric \"samples\" \"count\" default\n"
		"object user \"/bin/app\" \"ab12\"\n"
		"object user \"/bin/app\" \"cd34\"\n"
		"function \"A\"\n"
		"frame\n"
		"function \"main\" object \"/bin/app\"#2 file \"m.c\" line 3\n"
		"frame\n"
		"frame file \"m.c\" line 5 addr 0x1136 inline\n"
		"stack 0 0 0 samples 0\n"
		"stack 1 \"A\" -5 0 samples 0\n"
		"stack 1 \"main\"@2\n"
		"stack 2 \"A\" 10 1 samples 1\n"
		"stack 2 \"main\" 32 2 samples 2\n"
		"end\n");
	strbuf_deinit(&text);
	profile_destroy(p);
}

static const char of_calls[] = "sonde-dump 1\n"
			       "no-stacks\n"
			       "stat counted 9\n"
			       "metric \"samples\" \"count\" default\n"
			       "function \"f\"\n"
			       "frame\n"
			       "function \"spontaneous\"\n"
			       "arc spontaneous \"f\" calls 1\n"
			       "arc \"f\" \"spontaneous\" calls 3\n"
			       "arc \"spontaneous\" \"f\" calls 0\n"
			       "stack 0 0 samples 0\n"
			       "stack 1 \"f\" 9 samples 9\n"
			       "end\n";

TEST(calls_come_back)
{
	struct profile *p = read_dump(STR(of_calls));
	struct strbuf text = write_dump(p);

	assert_false(p->has_stacks);
	assert_int_equal(p->arc_count, 3);
	assert_string_equal(text.data, of_calls);
	strbuf_deinit(&text);
	profile_destroy(p);
}

static const char of_costs[] = "sonde-dump 1\n"
			       "no-stacks\n"
			       "metric \"Ir\" \"count\" default\n"
			       "metric \"Dr\" \"count\"\n"
			       "function \"f\"\n"
			       "frame\n"
			       "function \"g\"\n"
			       "arc \"f\" \"g\" calls 3 cost 40 -2\n"
			       "stack 0 0 0\n"
			       "stack 1 \"f\" 9 1\n"
			       "end\n";

TEST(costs_of_calls_come_back)
{
	struct profile *p = read_dump(STR(of_costs));
	struct strbuf text = write_dump(p);

	assert_int_equal(p->arc_cost[0][0], 40);
	assert_int_equal(p->arc_cost[1][0], -2);
	assert_string_equal(text.data, of_costs);
	strbuf_deinit(&text);
	profile_destroy(p);
}

static void expect_error(struct str text, const char *wanted)
{
	struct profile *p = NULL;
	struct error *err = try_read(text, &p);

	assert_non_null(err);
	assert_non_null(strstr(err->message, "test.dump: "));
	expect_refusal(err, wanted);
}

#define HEAD "sonde-dump 1\nmetric \"m\" \"u\"\nfunction \"f\"\nframe\n"

TEST(wrong_lines_are_errors)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"sonde-dump 2\n", "another version"},
		{"a 1\n", "does not begin with"},
		{"sonde-dump 1\nend\n", "no metric"},
		{"sonde-dump 1\nmetric \"m\" \"u\"\n", "cut off"},
		{HEAD "nonsense\nend\n", "line 5: an unknown kind of line"},
		{HEAD "end\nhost \"h\"\n", "line 6: a line after the end"},
		{HEAD "end more\n", "line 5: there is more"},
		{HEAD "metric \"m\" \"u\"\nend\n", "line 5: the same metric again"},
		{HEAD "stack 1 \"f\" 1\nmetric \"n\" \"u\"\n", "line 6: a metric after the stacks"},
		{"sonde-dump 1\nstack 0 1\n", "line 2: a stack before any metric"},
		{"sonde-dump 1\nsample 0 weight 1\n", "line 2: a sample before any metric"},
		{"sonde-dump 1\nframe\n", "line 2: a frame before any function"},
		{HEAD "stat speed 3\n", "line 5: an unknown figure"},
		{HEAD "stat lost x\n", "line 5: not a number"},
		{HEAD "stat lost 18446744073709551616\n", "line 5: not a number"},
		{HEAD "note sad 1 \"x\"\n", "line 5: an unknown kind"},
		{HEAD "note info 1 \"a\\x00b\"\n", "line 5: a note with a NUL"},
		{HEAD "host h\n", "line 5: a quoted string is missing"},
		{HEAD "host \"h\n", "line 5: a quoted string without end"},
		{HEAD "host \"\\q\"\n", "line 5: a quoted string without end"},
		{HEAD "host \"\\x0\"\n", "line 5: a quoted string without end"},
		{HEAD "host\n", "line 5: a quoted string is missing"},
		{HEAD "object\n", "line 5: the line is truncated"},
		{HEAD "function \"g\" object \"o\"\n", "line 5: a name that no earlier line"},
		{HEAD "function \"g\" line 4294967296\n", "line 5: not a number"},
		{HEAD "arc \"f\" \"g\" calls 1\n", "line 5: a name that no earlier line"},
		{HEAD "arc spontaneous calls 1\n", "line 5: a quoted string is missing"},
		{HEAD "arc \"f\" \"f\"\n", "line 5: the calls are missing"},
		{HEAD "arc \"f\" \"f\" calls -1\n", "line 5: not a number"},
		{HEAD "arc \"f\" \"f\" calls 1 cost x\n", "line 5: not a number"},
		{HEAD "arc \"f\" \"f\" calls 1 cost 1\nmetric \"m\" \"n\"\n",
			"line 6: a metric after the stacks"},
		{HEAD "arc \"f\" \"f\" calls 9223372036854775808\nend\n", "exceeds 64 bits"},
		{HEAD "no-stacks\nstack 1 \"f\"\nstack 2 \"f\"\nend\n", "a stack has callers"},
		{HEAD "thread 1 process 0 \"t\"\n", "line 5: a process that no earlier line"},
		{HEAD "stack 1 \"g\" 1\n", "line 5: a name that no earlier line"},
		{HEAD "stack 1 \"f\"#2 1\n", "line 5: a name that no earlier line"},
		{HEAD "stack 1 \"f\"#0 1\n", "line 5: not a number"},
		{HEAD "stack 1 \"f\"@2 1\n", "line 5: a frame that its function does not have"},
		{HEAD "stack 2 \"f\" 1\n", "line 5: the stack it is called from is missing"},
		{HEAD "stack 1 \"f\" 1\nstack 0 1\n", "line 6: the stack it is called from"},
		{HEAD "stack 1 \"f\" 9223372036854775808\n", "line 5: not a number"},
		{HEAD "stack 1 \"f\" 1 samples\n", "line 5: the line is truncated"},
		{HEAD "stack 1 \"f\" 1 2\n", "line 5: there is more"},
		{HEAD "stack 1 \"f\" 9223372036854775807\nstack 0\nend\n", "line 6: the stack"},
		{HEAD "stack 0 1\nstack 1 \"f\" 9223372036854775807\nend\n", "exceeds 64 bits"},
		{HEAD "stack 1 \"f\" 1\norder 0\nend\n", "line 7: the order before this line"},
		{HEAD "stack 1 \"f\" 1\norder 1 0\nend\n", "line 7: the order before this line"},
		{HEAD "stack 1 \"f\" 1\norder 0 0\nend\n", "line 7: the order before this line"},
		{HEAD "stack 1 \"f\" 1\norder 0 7\nend\n", "line 7: the order before this line"},
		{HEAD "stack 1 \"f\" 1\norder 0-4294967295\nend\n", "line 6: not an order"},
		{HEAD "stack 1 \"f\" 1\norder 0-1-2\nend\n", "line 6: not an order"},
		{HEAD "stack 1 \"f\" 1\norder 1-0\nend\n", "line 6: not an order"},
		{HEAD "stack 1 \"f\" 1\norder 0-1\nstack 1 \"f\"\n", "line 7: a stack after order"},
		{HEAD "stack 1 \"f\"\nstack 2 \"f\"\norder 0 2 1\nend\n",
			"line 8: the order before"},
		{HEAD "stack 1 \"f\" 1\nsample 1 weight 1\n", "line 6: samples, though"},
		{HEAD "stack 1 \"f\"\nsample 2 weight 1\n", "line 6: a stack that no earlier line"},
		{HEAD "stack 1 \"f\"\nsample 1 thread 0 weight 1\n", "line 6: a thread that no"},
		{HEAD "stack 1 \"f\"\nsample 1\n", "line 6: the weight is missing"},
		{HEAD "sample 0 weight 1\nsample 0 time 1 weight 1\n", "line 6: not the same"},
		{HEAD "sample 0 weight 1\nstack 1 \"f\"\n", "line 6: a stack after order"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_error(str_from(cases[i].text), cases[i].wanted);
}

/* A dump is exact: no part of one is taken for a whole. */
TEST(cut_dumps_are_errors)
{
	static const struct random_shape shape = {.functions = 4,
		.objects = 2,
		.stacks = 12,
		.depth_max = 4,
		.metrics = 2,
		.weight_max = 9,
		.samples = true,
		.places = true,
		.hostile = true,
		.notes = true};
	struct profile *p = random_profile(1, &shape), *q = NULL;
	struct strbuf text = write_dump(p);

	for (size_t size = 0; size + 1 < text.size; size++) {
		struct error *err = try_read((struct str){text.data, size}, &q);
		assert_non_null(err);
		error_destroy(err);
	}
	strbuf_deinit(&text);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_profiles_come_back),
		cmocka_unit_test(text_does_not_depend_on_the_order_of_building),
		cmocka_unit_test(text_is_harmless),
		cmocka_unit_test(quoted_strings_come_back),
		cmocka_unit_test(a_dump_by_hand),
		cmocka_unit_test(calls_come_back),
		cmocka_unit_test(costs_of_calls_come_back),
		cmocka_unit_test(wrong_lines_are_errors),
		cmocka_unit_test(cut_dumps_are_errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
