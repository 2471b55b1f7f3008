/*
 * speedscope's JSON: files made by hand with figures worked out here, what is wrong with files in
 * the wild, and the way there and back of random profiles.
 */
#include <stdlib.h>

#include "../profile_checks.h"
#include "../property.h"
#include "../random_profile.h"
#include "../read_profile.h"
#include "../unit.h"
#include "../writer_text.h"
#include "base/vec.h"

static struct error *try_read(struct str text, const char *from, struct profile **p)
{
	return try_profile(text, "test.json", from, p);
}

static struct profile *read_text(struct str text)
{
	struct profile *p = read_profile(text, "test.json", NULL);

	assert_true(str_equal(profile_string(p, p->format), STR("speedscope")));
	return p;
}

static int compare_lines(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* The folded text of a metric, its lines sorted; freed by the caller. */
static char *folded(const struct profile *p, metric_id metric)
{
	struct writer_options options = {.metric = metric};
	struct strbuf text = writer_text(&writer_folded, p, &options), sorted = {0};
	VEC(struct str) lines = {0};

	folded_for_people(&text);
	struct str rest = strbuf_str(&text);

	while (rest.size)
		vec_push(&lines, str_take_line(&rest));
	if (lines.count)
		qsort(lines.data, lines.count, sizeof(*lines.data), compare_lines);
	strbuf_add(&sorted, STR(""));
	for (size_t i = 0; i < lines.count; i++)
		strbuf_printf(&sorted, "%.*s\n", STR_ARG(lines.data[i]));
	strbuf_deinit(&text);
	vec_deinit(&lines);
	return sorted.data;
}

static void expect_sorted(const struct profile *p, const char *metric, const char *wanted)
{
	metric_id id;

	if (!profile_find_metric(p, str_from(metric), &id))
		fail_msg("no metric %s", metric);
	char *got = folded(p, id);
	assert_string_equal(got, wanted);
	free(got);
}

#define SCHEMA "\"$schema\":\"https://www.speedscope.app/file-format-schema.json\""
#define FRAMES                                                                                     \
	"\"shared\":{\"frames\":[{\"name\":\"a\",\"file\":\"a.c\",\"line\":3,\"col\":9},{"         \
	"\"name\":\"b\"},{\"name\":\"_ZN1x1yEv\"}]}"

/* Two units, two threads; weights in fractions of them; the members in another order. */
TEST(test_sampled)
{
	struct profile *p = read_text(
		STR("{\"profiles\":["
		    "{\"weights\":[0.5,1.0000004,2],\"samples\":[[0],[0,1],[0]],\"endValue\":13,"
		    "\"startValue\":10,"
		    "\"unit\":\"milliseconds\",\"name\":\"main (tid 7)\",\"type\":\"sampled\"},"
		    "{\"type\":\"sampled\",\"name\":\"srv (pid 4), io (tid "
		    "9)\",\"unit\":\"microseconds\","
		    "\"startValue\":9000,\"endValue\":9001,\"samples\":[[1,2]],\"weights\":[1.5]}]"
		    "," FRAMES ",\"exporter\":\"x@1\"," SCHEMA "}"));

	assert_int_equal(p->metric_count, 1);
	assert_true(str_equal(profile_string(p, p->metrics[0].unit), STR("ns")));
	expect_sorted(p, "time", "a 2500000\na;b 1000000\nb;x::y() 1500\n");
	assert_int_equal(p->samples.count, 4);
	/* Since the lowest start. */
	assert_int_equal(p->samples.time_ns[0], 1000000);
	assert_int_equal(p->samples.time_ns[1], 1500000);
	assert_int_equal(p->samples.time_ns[3], 0);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[0].tid, 7);
	assert_true(str_equal(profile_string(p, p->threads[0].name), STR("main")));
	assert_int_equal(p->threads[1].tid, 9);
	assert_true(str_equal(profile_string(p, p->threads[1].name), STR("io")));
	assert_int_equal(p->processes[p->threads[1].process.i].pid, 4);
	assert_true(str_equal(
		profile_string(p, p->processes[p->threads[1].process.i].name), STR("srv")));
	function_id a = p->frames[p->stack_frame[1].i].function;
	assert_true(str_equal(profile_string(p, p->functions[a.i].file), STR("a.c")));
	assert_int_equal(p->functions[a.i].line, 3);
	profile_destroy(p);
}

/* One profile of plain numbers: totals, and each sample is one. */
TEST(test_totals)
{
	struct profile *p =
		read_text(STR("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\","
			      "\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,\"endValue\":6,"
			      "\"samples\":[[0,0,1],[0,0,1],[]],\"weights\":[1,2,3]}]}"));

	expect_sorted(p, "weight", "[no stack] 3\na;a;b 3\n");
	assert_int_equal(p->samples.count, 0);
	assert_int_equal(p->stats.counted, 3);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

/* Samples in the same words are the same; those of other kinds of words, with faults or with
 * further arrays in them are read anew each time. */
TEST(test_samples_again)
{
	struct profile *p = read_text(
		STR("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\","
		    "\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9,"
		    "\"samples\":[[0,1], [0,1],[0, 1],[0,[7],1],[0,[7],0],[9],[9],[\"]\",1],"
		    "[\"]\",0],[0,1]],\"weights\":[1,2,3,10,20,100,200,1000,2000,4]}]}"));

	expect_sorted(p, "weight", "[unknown] 300\na 2000\na;a 20\na;b 20\nb 1000\n");
	expect_note(p, NOTE_BAD_RECORD, 2, "missing frames");
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
}

/* A sample that the file ends in is not taken for a whole one in the same words. */
TEST(test_cut_again)
{
	struct profile *p =
		read_text(STR("{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"sampled\","
			      "\"name\":\"x\",\"unit\":\"none\",\"startValue\":0,\"endValue\":9,"
			      "\"weights\":[1,2],\"samples\":[[0,1],[0,1"));

	expect_note(p, NOTE_INCOMPLETE, 1, "ends early");
	assert_int_equal(p->stack_count, 3);
	profile_destroy(p);
}

/* Two metrics in a file: samples are counted as well. */
TEST(test_two_units)
{
	struct profile *p = read_text(STR(
		"{" SCHEMA "," FRAMES ",\"profiles\":["
		"{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"nanoseconds\",\"startValue\":0,"
		"\"endValue\":6,\"samples\":[[0],[0]],\"weights\":[5,6]},"
		"{\"type\":\"sampled\",\"name\":\"t\",\"unit\":\"bytes\",\"startValue\":0,"
		"\"endValue\":6,\"samples\":[[1]],\"weights\":[100]}]}"));

	assert_int_equal(p->metric_count, 3);
	expect_sorted(p, "time", "a 11\n");
	expect_sorted(p, "bytes", "b 100\n");
	expect_sorted(p, "samples", "a 2\nb 1\n");
	assert_null(p->samples.time_ns);
	profile_destroy(p);
}

/* A note counts metrics beyond the maximum. */
TEST(test_many_metrics)
{
	struct strbuf text = {0};

	strbuf_add(&text, STR("{" SCHEMA "," FRAMES ",\"profiles\":["));
	for (int i = 0; i < 19; i++)
		strbuf_printf(&text,
			"%s{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\","
			"\"startValue\":0,\"endValue\":6,\"sonde\":{\"metric\":\"m%d\",\"unit\":"
			"\"count\"},\"samples\":[[0]],\"weights\":[6]}",
			i ? "," : "", i);
	strbuf_add(&text, STR("]}"));
	struct profile *p = read_text(strbuf_str(&text));

	assert_int_equal(p->metric_count, 16);
	expect_note(p, NOTE_BAD_RECORD, 3, "metrics beyond the 16");
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
	strbuf_deinit(&text);
}

#define EVENTED(events)                                                                            \
	"{" SCHEMA "," FRAMES ",\"profiles\":[{\"type\":\"evented\",\"name\":\"e\","               \
	"\"unit\":\"nanoseconds\",\"startValue\":100,\"endValue\":150,\"events\":[" events "]}]}"
#define OPEN(frame, at)	 "{\"type\":\"O\",\"frame\":" #frame ",\"at\":" #at "}"
#define CLOSE(frame, at) "{\"at\":" #at ",\"frame\":" #frame ",\"type\":\"C\"}"

TEST(test_evented)
{
	struct profile *p = read_text(STR(
		EVENTED(OPEN(0, 100) "," OPEN(0, 103) "," OPEN(1, 103) "," CLOSE(1, 110) "," CLOSE(
			0, 112) "," CLOSE(0, 113) "," OPEN(1, 120) "," CLOSE(1, 121))));

	expect_sorted(p, "time", "a 4\na;a 2\na;a;b 7\nb 1\n");
	/* What is between events is no sample. */
	expect_sorted(p, "samples", "");
	assert_int_equal(p->samples.time_ns[0], 0);
	assert_int_equal(p->samples.time_ns[1], 3);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(test_bad_events)
{
	struct profile *p =
		read_text(STR(EVENTED(CLOSE(0, 101) "," OPEN(0, 101) "," OPEN(1, 103) "," CLOSE(0,
			105) "," OPEN(9, 104) "," OPEN(1, 106) ",7,{\"type\":\"O\",\"frame\":0}")));

	/* b is closed in a's place; 104 is behind 105; frame 9 is not there; two are no events;
	 * three are open until the end. */
	expect_sorted(p, "time", "a 2\na;[unknown] 1\na;[unknown];b 44\na;b 2\n");
	expect_note(p, NOTE_BAD_RECORD, 2, "not the innermost");
	expect_note(p, NOTE_BAD_RECORD, 3, "order of time");
	expect_note(p, NOTE_BAD_RECORD, 1, "a missing frame");
	expect_note(p, NOTE_INCOMPLETE, 3, "still open");
	profile_destroy(p);
}

TEST(test_bad_samples)
{
	struct profile *p =
		read_text(STR("{" SCHEMA "," FRAMES ",\"profiles\":["
			      "{\"type\":\"sampled\",\"name\":\"x\",\"unit\":\"none\","
			      "\"startValue\":0,\"endValue\":6,"
			      "\"samples\":[[0,-1],[0],[1],[1],[1]],\"weights\":[1,-2,\"x\",3]},"
			      "{\"type\":\"later\",\"samples\":[]},{},17]}"));

	expect_sorted(p, "weight", "a;[unknown] 1\nb 3\n");
	expect_note(p, NOTE_BAD_RECORD, 2, "negative, or no numbers");
	expect_note(p, NOTE_BAD_RECORD, 1, "as many weights");
	expect_note(p, NOTE_BAD_RECORD, 1, "unknown kind");
	profile_destroy(p);
}

/* Cut off anywhere: what is there, and that it is not all; or that it is nothing. */
TEST(test_cut)
{
	static const char whole[] =
		EVENTED(OPEN(0, 100) "," OPEN(1, 103) "," CLOSE(1, 110) "," CLOSE(0, 112));
	size_t read = 0;

	for (size_t size = 0; size < sizeof(whole) - 2; size++) {
		struct profile *p = NULL;
		struct error *err =
			try_read((struct str){whole, size}, size ? "speedscope" : NULL, &p);
		if (err) {
			assert_non_null(strstr(err->message, "test.json"));
			error_destroy(err);
			continue;
		}
		bool is_incomplete = false;
		for (size_t i = 0; i < p->note_count; i++)
			is_incomplete |= p->notes[i].kind == NOTE_INCOMPLETE;
		assert_true(is_incomplete);
		read++;
		profile_destroy(p);
	}
	assert_true(read > 200);
}

TEST(test_refused)
{
	static const char *const texts[] = {"{}", "[1]", "{\"profiles\":[]," SCHEMA "}",
		"{\"profiles\":3," FRAMES "}", "{" SCHEMA ",\"profiles\":[{}]}"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct profile *p = NULL;
		struct error *err = try_read(str_from(texts[i]), "speedscope", &p);
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_INPUT);
		error_destroy(err);
	}
}

/* ---- There and back */

static bool is_negative(const struct profile *p)
{
	for (size_t m = 0; m < p->metric_count; m++) {
		for (size_t i = 0; i < p->samples.count; i++)
			if (p->samples.weight[m][i] < 0)
				return true;
		for (uint32_t i = 0; i < p->stack_count && p->samples.count == 0; i++)
			if (profile_weight(p, m, i) < 0)
				return true;
	}
	return false;
}

static void compare(const struct profile *p, const struct profile *q)
{
	for (uint32_t m = 0; m < p->metric_count; m++) {
		struct str name = profile_string(p, p->metrics[m].name);
		metric_id id;
		if (!profile_find_metric(q, name, &id)) {
			assert_int_equal(p->total[m], 0);
			continue;
		}
		assert_int_equal(q->total[id.i], p->total[m]);
		assert_true(str_equal(profile_string(p, p->metrics[m].unit),
			profile_string(q, q->metrics[id.i].unit)));
		char *wanted = folded(p, (metric_id){m}), *got = folded(q, id);
		assert_string_equal(got, wanted);
		free(wanted);
		free(got);
	}
}

static void round_trip(uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_any(&r);
	struct profile *p = random_profile(seed, &shape), *q = NULL;
	struct writer_options options = {.metric = p->default_metric};
	struct strbuf text = {0};
	struct error *err = writer_try(&writer_speedscope, p, &options, &text);

	if (!p->has_stacks || is_negative(p)) {
		assert_non_null(err);
		assert_int_equal(err->kind, ERROR_UNSUPPORTED);
		error_destroy(err);
	} else {
		assert_null(err);
		q = read_text(strbuf_str(&text));
		compare(p, q);
		assert_int_equal(q->note_count, 0);
	}
	strbuf_deinit(&text);
	profile_destroy(p);
	profile_destroy(q);
}

TEST(test_round_trip)
{
	for (struct property_seeds p = property_seeds(400, 100); property_next(&p);)
		round_trip(property_seed);
}

/* Deep stacks that share most of themselves are written as events. */
TEST(test_deep)
{
	struct strbuf text = {0};
	struct profile *p = NULL;

	for (unsigned int i = 0; i < 100; i++) {
		for (unsigned int depth = 0; depth < 1000 + i; depth++)
			strbuf_add(&text, STR("eval;"));
		strbuf_printf(&text, "leaf 1\n");
	}
	assert_null(try_read(strbuf_str(&text), "folded", &p));
	strbuf_deinit(&text);
	struct writer_options options = {.metric = p->default_metric};
	text = writer_text(&writer_speedscope, p, &options);
	assert_non_null(strstr(text.data, "\"evented\""));
	assert_true(text.size < 200000);
	struct profile *q = read_text(strbuf_str(&text));
	compare(p, q);
	assert_int_equal(q->depth_max, 1100);
	profile_destroy(p);
	profile_destroy(q);
	strbuf_deinit(&text);
}

/* A stack of a million frames in 2 MB: as many as the file's size may have, the others counted. */
TEST(test_too_deep)
{
	const unsigned int frames = 1000000;
	struct strbuf text = {0};

	strbuf_printf(&text, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
			     "\"shared\":{\"frames\":[{\"name\":\"f\"}]},\"profiles\":[{"
			     "\"type\":\"sampled\",\"unit\":\"none\",\"weights\":[7],"
			     "\"samples\":[[0");
	for (unsigned int i = 1; i < frames; i++)
		strbuf_add(&text, STR(",0"));
	strbuf_add(&text, STR("]]}]}"));
	const size_t most = 400000 + text.size / 24;
	struct profile *p = read_text(strbuf_str(&text));
	assert_int_equal(p->depth_max, most);
	expect_note(p, NOTE_TRUNCATED, frames - most, "frames were left out");
	profile_destroy(p);
	strbuf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_samples_again),
		cmocka_unit_test(test_cut_again),
		cmocka_unit_test(test_two_units),
		cmocka_unit_test(test_many_metrics),
		cmocka_unit_test(test_evented),
		cmocka_unit_test(test_bad_events),
		cmocka_unit_test(test_bad_samples),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
