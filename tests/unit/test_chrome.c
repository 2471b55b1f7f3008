/*
 * Traces of Chrome: files made by hand with figures worked out here; the order of events at one
 * time, files that are cut off, frames that call themselves; CPU profiles of V8.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"

static struct error *try_read(struct str text, struct profile **p)
{
	return try_profile(text, "test.json", "chrome", p);
}

static struct profile *read_text(const char *text)
{
	return read_profile(str_from(text), "test.json", "chrome");
}

static void expect_slices(const char *text, const char *time, const char *entries)
{
	struct profile *p = read_text(text);

	expect_folded(p, ZONE_TIME, time);
	expect_folded(p, ZONE_ENTRIES, entries);
	expect_folded(p, "samples", "");
	profile_destroy(p);
}

#define B(name, ts) "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"name\":\"" name "\",\"ts\":" #ts "}"
#define E(name, ts) "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"name\":\"" name "\",\"ts\":" #ts "}"
#define X(name, ts, dur)                                                                           \
	"{\"args\":{\"x\":[{}]},\"dur\":" #dur ",\"name\":\"" name                                 \
	"\",\"ph\":\"X\",\"pid\":1,\"tid\":\"2\",\"ts\":\"" #ts "\"}"

TEST(test_slices)
{
	/* Fractions of µs are ns, exactly. */
	expect_slices("[" B("a", 1.001) "," X("b", 2.5, 0.0625) "," E("a", 11.001) "]",
		"a 9937\na;b 63\n", "a 1\na;b 1\n");
	/* Any order; recursion. */
	expect_slices("[" E("a", 9) "," X("a", 2, 3) "," B("a", 1) "]", "a 5000\na;a 3000\n",
		"a 1\na;a 1\n");
	/* One after the other, at one time: no recursion. */
	expect_slices(
		"[" X("a", 0, 5) "," X("a", 5, 5) "," X("a", 10, 0) "]", "a 10000\n", "a 3\n");
	/* The longer one is outside. */
	expect_slices("[" X("a", 0, 2) "," X("b", 0, 5) "]", "b 3000\nb;a 2000\n", "b 1\nb;a 1\n");
	/* Ends of one time in an order that does not fit. */
	expect_slices("[" B("a", 0) "," B("b", 1) "," E("a", 5) "," E("b", 5) "]",
		"a 1000\na;b 4000\n", "a 1\na;b 1\n");
	/* Of no length. */
	expect_slices("[" B("a", 0) "," B("b", 1) "," E("b", 1) "," E("a", 3) "]", "a 3000\n",
		"a 1\na;b 1\n");
}

TEST(test_bad_slices)
{
	struct profile *p = read_text("[" E("x", 0) "," X("a", 0, 10) "," X(
		"b", 5, 10) ","
			    "{\"ph\":\"B\",\"name\":\"no time\"},{\"name\":\"no kind\",\"ts\":1},7,"
			    "{\"ph\":\"C\",\"ts\":1},{\"ph\":\"b\",\"ts\":1},]");

	/* As speedscope has it: a's end finds b, and a ends with its thread. */
	expect_folded(p, ZONE_TIME, "a 5000\na;b 10000\n");
	expect_note(p, NOTE_BAD_RECORD, 2, "match no open slice");
	expect_note(p, NOTE_BAD_RECORD, 2, "no time or no type");
	expect_note(p, NOTE_INCOMPLETE, 1, "not ended");
	expect_note(p, NOTE_INFO, 2, "not stacks");
	assert_int_equal(p->note_count, 4);
	profile_destroy(p);
}

TEST(test_threads_and_events)
{
	struct profile *p = read_text(
		"{\"traceEvents\":[{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":2,"
		"\"args\":{\"name\":\"t\"}},"
		"{\"args\":{\"name\":\"p\"},\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1}," X(
			"a", 100, 10) "," X("b", 103, 2) "]}");

	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->threads[0].tid, 2);
	assert_true(str_equal(profile_string(p, p->threads[0].name), STR("t")));
	assert_true(str_equal(profile_string(p, p->processes[0].name), STR("p")));
	/* a at 0, b at 3 µs, a again at 5, nothing at 10. */
	static const uint64_t times[] = {0, 3000, 5000, 10000};
	assert_int_equal(p->zone_events.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(p->zone_events.time_ns[i], times[i]);
	assert_int_equal(p->zone_events.stack[3].i, 0);
	assert_int_equal(p->arc_count, 2);
	profile_destroy(p);
}

/* Cut off anywhere: what is there, and that it is not all. */
TEST(test_cut)
{
	static const char whole[] = "{\"traceEvents\":[" B("a", 1) "," X("b", 2, 1) "," E(
		"a", 4) "," X("c", 9, 1) "],\"stackFrames\":{}}";
	size_t read = 0;

	for (size_t size = 1; size < sizeof(whole) - 2; size++) {
		struct profile *p = NULL;
		struct error *err = try_read((struct str){whole, size}, &p);
		if (err) {
			error_destroy(err);
			continue;
		}
		assert_true(p->note_count > 0);
		assert_int_equal(p->notes[0].kind, NOTE_INCOMPLETE);
		read++;
		profile_destroy(p);
	}
	assert_true(read > 200);
	/* A trailing comma, and no bracket at the end, are common. */
	expect_slices("[" X("a", 0, 1) ",", "a 1000\n", "a 1\n");
	expect_slices("[" X("a", 0, 1), "a 1000\n", "a 1\n");
	struct profile *p = read_text("[" X("a", 0, 1) ",]");
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(test_samples)
{
	struct profile *p = read_text(
		"{\"stackFrames\":{\"1\":{\"name\":\"r\"},\"2\":{\"name\":\"f\",\"parent\":1},"
		"\"x\":{\"name\":\"g\",\"parent\":\"2\"},\"4\":{\"name\":\"l\",\"parent\":5},"
		"\"5\":{\"name\":\"m\",\"parent\":4}},\"samples\":["
		"{\"ts\":\"10\",\"pid\":1,\"tid\":7,\"sf\":2},{\"ts\":30,\"pid\":1,\"tid\":7,"
		"\"sf\":\"x\"},"
		"{\"ts\":20,\"pid\":1,\"tid\":\"7\",\"sf\":4},{\"ts\":37.5,\"pid\":1,\"tid\":7,"
		"\"sf\":99},"
		"{\"ts\":40,\"pid\":1,\"tid\":7,\"sf\":1}],\"traceEvents\":[]}");

	expect_folded(p, "time", "r;f 10000\nm;l 10000\nr;f;g 7500\n[no stack] 2500\n");
	assert_int_equal(p->stats.counted, 5);
	expect_note(
		p, NOTE_BAD_RECORD, 2, "missing frames, or to frames that are their own callers");
	profile_destroy(p);
}

TEST(test_v8)
{
	struct profile *p =
		read_text("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},"
			  "\"children\":[2,4]},"
			  "{\"id\":2,\"callFrame\":{\"functionName\":\"main\",\"url\":\"x/"
			  "a.js\",\"lineNumber\":0},\"children\":[3]},"
			  "{\"id\":3,\"callFrame\":{\"functionName\":\"\",\"url\":\"x/"
			  "a.js\",\"lineNumber\":6}},"
			  "{\"id\":4,\"callFrame\":{\"functionName\":\"(garbage "
			  "collector)\"}}],\"startTime\":1000,"
			  "\"samples\":[2,3,4,3,1,9,2],\"timeDeltas\":[0,10,20,-5,30,1,2]}");

	/* main 10, its call 20, the collector upon that: its 5 runs backwards, and so does 5 of the
	 * next 30; nothing for 1, and still nothing for an unknown node's 2. */
	expect_folded(p, "time", "main 10000\nmain;(anonymous a.js:7) 45000\n");
	expect_note(p, NOTE_BAD_RECORD, 1, "a missing frame");
	function_id f = p->frames[p->stack_frame[1].i].function;
	assert_int_equal(p->functions[f.i].line, 1);
	profile_destroy(p);
}

/* Children that no node lists: the tree is what it is without them. */
TEST(test_v8_children)
{
	const unsigned int children = 400000;
	struct strbuf text = {0};

	strbuf_printf(&text, "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"a\"},"
			     "\"children\":[2");
	for (unsigned int i = 1; i < children; i++)
		strbuf_printf(&text, ",%u", 2 + i);
	strbuf_printf(&text, "]},{\"id\":2,\"callFrame\":{\"functionName\":\"b\"}}],"
			     "\"startTime\":0,\"samples\":[1,2,1],\"timeDeltas\":[0,5,3]}");
	/* Node 1 is one of them. */
	const size_t most = 200000 + text.size / 32 - 1;
	struct profile *p = read_text(text.data);
	expect_folded(p, "time", "a 5000\na;b 3000\n");
	expect_note(p, NOTE_BAD_RECORD, children - most, "");
	profile_destroy(p);
	strbuf_deinit(&text);
}

TEST(test_v8_chunks)
{
	struct profile *p = read_text(
		"[{\"name\":\"Profile\",\"ph\":\"P\",\"id\":\"0x1\",\"pid\":1,\"tid\":2,\"ts\":5,"
		"\"args\":{\"data\":{\"startTime\":100}}},"
		"{\"args\":{\"data\":{\"cpuProfile\":{\"nodes\":[{\"id\":1,\"callFrame\":{"
		"\"functionName\":\"f\"}},"
		"{\"id\":2,\"parent\":1,\"callFrame\":{\"functionName\":\"g\"}}],\"samples\":[1,2]}"
		",\"timeDeltas\":[5,6]}},"
		"\"name\":\"ProfileChunk\",\"ph\":\"P\",\"id\":\"0x1\",\"pid\":1,\"tid\":9,\"ts\":"
		"6},"
		"{\"name\":\"ProfileChunk\",\"ph\":\"P\",\"id\":\"0x1\",\"pid\":1,\"tid\":9,\"ts\":"
		"7,"
		"\"args\":{\"data\":{\"cpuProfile\":{\"samples\":[2,1]},\"timeDeltas\":[7,8]}}}]");

	expect_folded(p, "time", "f 6000\nf;g 15000\n");
	assert_int_equal(p->thread_count, 1);
	assert_int_equal(p->threads[0].tid, 2);
	assert_int_equal(p->samples.time_ns[0], 5000);
	profile_destroy(p);
}

TEST(test_refused)
{
	static const char *const texts[] = {
		"[]", "{}", "[1,2]", "{\"traceEvents\":[]}", "x", "[{\"ph\":\"M\"}]"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct profile *p = NULL;
		struct error *err = try_read(str_from(texts[i]), &p);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_INPUT);
		assert_non_null(strstr(err->message, "test.json"));
		error_destroy(err);
	}
}

/* Our own: ticks are ticks again, and zones are dealt to them as they were. */
TEST(test_own)
{
	struct profile *p = NULL, *q = NULL;
	static const char zones[] = "[" X("_global", 0, 30) "," X("a", 2, 5) "," X(
		"b", 8, 20) ","
			    "{\"ph\":\"X\",\"cat\":\"tick\",\"name\":\"frame "
			    "3\",\"pid\":1,\"tid\":1073741825,\"ts\":0,\"dur\":10},"
			    "{\"ph\":\"X\",\"cat\":\"tick\",\"name\":\"frame "
			    "4\",\"pid\":1,\"tid\":1073741825,\"ts\":10,\"dur\":11}]";

	p = read_text(zones);
	assert_int_equal(p->tick_count, 2);
	assert_int_equal(p->ticks[1].number, 4);
	assert_int_equal(p->ticks[1].end_ns, 21000);
	expect_folded(p, ZONE_TIME, "_global 5000\n_global;a 5000\n_global;b 20000\n");
	/* b: 2 of the first, 11 of the second, 7 of none. */
	static const int64_t of_b[] = {2000, 11000, 7000};
	size_t found = 0;
	metric_id time;
	assert_true(profile_find_metric(p, STR(ZONE_TIME), &time));
	for (size_t i = 0; i < p->samples.count; i++)
		if (p->samples.stack[i].i == 3)
			assert_int_equal(p->samples.weight[time.i][i], of_b[found++]);
	assert_int_equal(found, 3);
	struct writer_options options = {.metric = p->default_metric};
	struct strbuf text = writer_text(&writer_chrome, p, &options), again;
	q = read_text(text.data);
	expect_folded(q, ZONE_TIME, "_global 5000\n_global;a 5000\n_global;b 20000\n");
	again = writer_text(&writer_chrome, q, &options);
	assert_string_equal(again.data, text.data);
	strbuf_deinit(&text);
	strbuf_deinit(&again);
	profile_destroy(p);
	profile_destroy(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_bad_slices),
		cmocka_unit_test(test_threads_and_events),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_v8),
		cmocka_unit_test(test_v8_children),
		cmocka_unit_test(test_v8_chunks),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
