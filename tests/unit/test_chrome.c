/*
 * Traces of Chrome: files made by hand with figures worked out here; the order of events at one
 * time, slices that overlap, files that are cut off, frames that call themselves; CPU profiles of
 * V8.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../profile_checks.h"
#include "../property.h"
#include "../random_profile.h"
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

	expect_folded(p, ZONE_TIME, "a 5000\na;b 5000\nb 5000\n");
	expect_note(p, NOTE_BAD_RECORD, 1, "matches no open slice");
	/* An asynchronous event without an id is one. */
	expect_note(p, NOTE_BAD_RECORD, 3, "no time or no type");
	expect_note(p, NOTE_INFO, 1, "without a stack");
	expect_note(p, NOTE_INFO, 1, "goes on without it");
	assert_int_equal(p->note_count, 4);
	profile_destroy(p);
}

#define E_ANY(ts) "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":" #ts "}"

/* Every slice has the time that it says, and none ends late. */
TEST(test_overlaps)
{
	/* A child that ends a nanosecond late, by rounding; what comes later is in neither. */
	expect_slices("[" X("p", 100, 10) "," X("c", 105, 5.001) "," X("n", 500, 5.001) "]",
		"p 5000\np;c 5000\nc 1\nn 5001\n", "p 1\np;c 1\nn 1\n");
	/* With what is in it, within what is around. */
	expect_slices("[" X("g", 0, 20) "," X("p", 1, 9) "," X("c", 5, 10) "," X("d", 8, 4) "]",
		"g 6000\ng;p 4000\ng;p;c 3000\ng;p;c;d 2000\ng;c 3000\ng;c;d 2000\n",
		"g 1\ng;p 1\ng;p;c 1\ng;p;c;d 1\n");
	expect_slices("[" X("o", 0, 100) "," X("late", 50, 100) "," X("far", 10000, 10) "]",
		"o 50000\no;late 50000\nlate 50000\nfar 10000\n", "o 1\no;late 1\nfar 1\n");
	/* Separate ends that cross. */
	expect_slices(
		"[" B("A", 0) "," B("B", 3) "," E("A", 5) "," E("B", 7) "," X("Z", 1000, 1) "]",
		"A 3000\nA;B 2000\nB 2000\nZ 1000\n", "A 1\nA;B 1\nZ 1\n");
	/* An end without a name is of the innermost separate beginning, whatever X is open. */
	expect_slices("[" X("C", 10, 10) "," B("G", 10) "," E_ANY(15) "," X("D", 20, 10) "," B(
			      "H", 22) "," X("i", 23, 4) "," E_ANY(25) "]",
		"C 5000\nC;G 5000\nD 5000\nD;H 1000\nD;H;i 2000\nD;i 2000\n",
		"C 1\nC;G 1\nD 1\nD;H 1\nD;H;i 1\n");
	/* A beginning of no length in one that goes on, ended without a name. */
	expect_slices("[" B("a", 0) "," B("b", 5) "," E_ANY(5) "," E_ANY(9) "]", "a 9000\n",
		"a 1\na;b 1\n");
	/* One without an end ends with the one around it, not with the thread. */
	struct profile *p = read_text("[" B("a", 0) "," B("lost", 1) "," E("a", 4) "," X(
		"x", 5, 4) "," B("lost", 6) "," X("y", 20, 1) "]");
	expect_folded(p, ZONE_TIME, "a 1000\na;lost 3000\nx 1000\nx;lost 3000\ny 1000\n");
	expect_note(p, NOTE_INCOMPLETE, 2, "not ended");
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
}

/* One ends within many others: those that are too many end with it, and are counted. */
TEST(test_many_overlaps)
{
	enum { SLICES = 200, KEPT = 64, LENGTH = 1000 };
	struct strbuf text = {0};
	uint64_t time = 0;

	for (int i = 0; i < SLICES; i++)
		strbuf_printf(&text,
			"%c{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"f\",\"ts\":%d,\"dur\":%d}",
			i ? ',' : '[', i, LENGTH);
	strbuf_add_char(&text, ']');
	struct profile *p = read_text(text.data);
	/* The first ends, and with it all but 64; then these end one by one. */
	expect_note(p, NOTE_BAD_RECORD, SLICES - 1 - KEPT, "slices end early");
	expect_note(p, NOTE_INFO, KEPT, "go on without it");
	metric_id zone_time;
	assert_true(profile_find_metric(p, STR(ZONE_TIME), &zone_time));
	for (size_t i = 0; i < p->samples.count; i++)
		time += (uint64_t)p->samples.weight[zone_time.i][i];
	assert_int_equal(time, 1000 * (LENGTH + KEPT));
	profile_destroy(p);
	strbuf_deinit(&text);
}

/* ---- Random slices, and what each nanosecond must show */

enum { SLICES_MAX = 24, NS_MAX = 120 };

struct slice {
	unsigned int start, end;
	bool is_separate;
	char name[8];
};

/* Whether x is outside of y, if both are open: it began first, or is longer, or comes first. */
static bool is_outside(const struct slice *x, const struct slice *y)
{
	if (x->start != y->start)
		return x->start < y->start;
	if (x->end != y->end)
		return x->end > y->end;
	if (x->is_separate != y->is_separate)
		return x->is_separate;
	return x < y;
}

/* Adds a line for each nanosecond in which something is open: the names, outside first. */
static void show_each_ns(const struct slice *slices, size_t count, struct strbuf *lines)
{
	for (unsigned int ns = 0; ns < NS_MAX; ns++) {
		const struct slice *last = NULL, *next;
		do {
			next = NULL;
			for (const struct slice *s = slices; s < slices + count; s++)
				if (s->start <= ns && s->end > ns &&
					(!last || is_outside(last, s)) &&
					(!next || is_outside(s, next)))
					next = s;
			if (next)
				strbuf_printf(lines, last ? ";%s" : "%s", next->name);
			last = next ? next : last;
		} while (next);
		if (last)
			strbuf_add_char(lines, '\n');
	}
}

static void put_random(
	struct random *random, struct slice *slices, size_t count, struct strbuf *json)
{
	strbuf_add_char(json, '[');
	for (size_t i = 0; i < count; i++) {
		struct slice *s = &slices[i];
		s->start = random_below(random, NS_MAX / 2);
		s->end = s->start + 1 + random_below(random, NS_MAX / 2);
		s->is_separate = random_below(random, 3) == 0;
		/* Separate ones have names of their own: which end is of which beginning. */
		snprintf(s->name, sizeof(s->name), s->is_separate ? "b%zu" : "x%zu",
			s->is_separate ? i : i % 4);
		strbuf_printf(json,
			"%s{\"ph\":\"%s\",\"name\":\"%s\",\"ts\":0.%03u,\"dur\":0.%03u}",
			i ? "," : "", s->is_separate ? "B" : "X", s->name, s->start,
			s->end - s->start);
	}
	for (size_t i = count; i-- > 0;)
		if (slices[i].is_separate)
			strbuf_printf(json, ",{\"ph\":\"E\",\"name\":\"%s\",\"ts\":0.%03u}",
				slices[i].name, slices[i].end);
	strbuf_add_char(json, ']');
}

/* Adds a line for each nanosecond that the profile has, by its folded text. */
static void show_profile(const struct profile *p, struct strbuf *lines)
{
	struct writer_options options = {0};
	char *at = NULL;

	assert_true(profile_find_metric(p, STR(ZONE_TIME), &options.metric));
	struct strbuf text = writer_text(&writer_folded, p, &options);
	for (char *line = strtok_r(text.data, "\n", &at); line; line = strtok_r(NULL, "\n", &at)) {
		char *space = strrchr(line, ' ');
		for (long ns = strtol(space, NULL, 10); ns > 0; ns--)
			strbuf_printf(lines, "%.*s\n", (int)(space - line), line);
	}
	strbuf_deinit(&text);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static size_t sort_lines(struct strbuf *text, char **lines)
{
	size_t count = 0;
	char *at = NULL;

	for (char *l = strtok_r(text->data, "\n", &at); l; l = strtok_r(NULL, "\n", &at))
		lines[count++] = l;
	qsort(lines, count, sizeof(*lines), compare_lines);
	return count;
}

TEST(test_random_slices)
{
	for (struct property_seeds p = property_seeds(400, 100); property_next(&p);) {
		struct random random = random_from(property_seed);
		struct slice slices[SLICES_MAX];
		struct strbuf json = {0}, wanted = {0}, found = {0};
		char *wanted_lines[NS_MAX + 1], *found_lines[NS_MAX + 1];
		size_t count = 1 + random_below(&random, SLICES_MAX);

		put_random(&random, slices, count, &json);
		struct profile *profile = read_text(json.data);
		show_each_ns(slices, count, &wanted);
		show_profile(profile, &found);
		/* As many as the nanoseconds in which something is open: no time is made up. */
		size_t lines = sort_lines(&wanted, wanted_lines);
		check(wanted.size == found.size);
		check(sort_lines(&found, found_lines) == lines);
		for (size_t i = 0; i < lines; i++)
			check(strcmp(wanted_lines[i], found_lines[i]) == 0);
		strbuf_deinit(&json);
		strbuf_deinit(&wanted);
		strbuf_deinit(&found);
		profile_destroy(profile);
	}
}

/* ---- Threads and lanes */

/* The folded text of one thread alone. */
static int64_t thread_time(const struct profile *p, const char *process, const char *thread)
{
	metric_id zone_time;
	int64_t time = 0;

	assert_true(profile_find_metric(p, STR(ZONE_TIME), &zone_time));
	for (size_t i = 0; i < p->samples.count; i++) {
		const struct thread *t = &p->threads[p->samples.thread[i].i];
		if (str_equal(profile_string(p, t->name), str_from(thread)) &&
			str_equal(profile_string(p, p->processes[t->process.i].name),
				str_from(process)))
			time += p->samples.weight[zone_time.i][i];
	}
	return time;
}

#define ON(pid, tid, name, ts, dur)                                                                \
	"{\"ph\":\"X\",\"pid\":" pid ",\"tid\":" tid ",\"name\":\"" name "\",\"ts\":" #ts          \
	",\"dur\":" #dur "}"

/* A pid or tid that is a text is a process or a thread of that name. */
TEST(test_text_ids)
{
	struct profile *p = read_text("[" ON("\"CPU\"", "1", "a", 0, 10) "," ON("\"GPU\"", "1", "k",
		5, 9) "," ON("7", "\"stream 7\"", "s", 0, 3) "," ON("7", "\"stream 8\"", "s", 1,
		4) "," ON("\"7\"", "\"9\"", "n", 0, 5) "," ON("-1", "-1", "m", 0, 6) "]");

	assert_int_equal(p->process_count, 4);
	assert_int_equal(p->thread_count, 6);
	assert_int_equal(thread_time(p, "CPU", ""), 10000);
	assert_int_equal(thread_time(p, "GPU", ""), 9000);
	assert_int_equal(thread_time(p, "", "stream 7"), 3000);
	assert_int_equal(thread_time(p, "", "stream 8"), 4000);
	/* No two have one number. */
	for (size_t i = 0; i < p->process_count; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(p->processes[i].pid != p->processes[k].pid);
	for (size_t i = 0; i < p->thread_count; i++)
		for (size_t k = 0; k < i; k++)
			assert_true(p->threads[i].tid != p->threads[k].tid ||
				    p->threads[i].process.i != p->threads[k].process.i);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

#define ASYNC(ph, id, name, ts)                                                                    \
	"{\"ph\":\"" ph "\",\"pid\":1,\"tid\":2,\"cat\":\"net\"," id ",\"name\":\"" name           \
	"\",\"ts\":" #ts "}"

/* What is asynchronous is in none of its thread's slices, and nests by its id alone. */
TEST(test_async)
{
	struct profile *p = read_text("[" X("main", 0, 50) "," ASYNC("b", "\"id\":\"0x1\"", "req",
		0) "," ASYNC("b", "\"id\":\"0x2\"", "req", 5) "," ASYNC("b", "\"id\":\"0x2\"",
		"dns", 6) "," ASYNC("n", "\"id\":\"0x2\"", "seen", 7) "," ASYNC("e",
		"\"id\":\"0x2\"", "dns",
		8) "," ASYNC("e", "\"id\":\"0x1\"", "req", 10) "," ASYNC("e", "\"id\":\"0x2\"",
		"req", 20) "," ASYNC("S", "\"id\":3", "req", 30) "," ASYNC("F", "\"id\":3", "req",
		40) "," ASYNC("b", "\"id2\":{\"local\":\"0x4\"}", "req", 31) "," ASYNC("e",
		"\"id2\":{\"local\":\"0x4\"}", "req", 33) "]");

	expect_folded(p, ZONE_TIME, "main 50000\nreq 35000\nreq;dns 2000\n");
	expect_folded(p, ZONE_ENTRIES, "main 1\nreq 4\nreq;dns 1\n");
	/* Two at once: two lanes, which those of later use again. */
	assert_int_equal(p->thread_count, 3);
	assert_int_equal(thread_time(p, "", ""), 50000);
	assert_int_equal(thread_time(p, "", "async net"), 37000);
	expect_note(p, NOTE_INFO, 1, "without a stack");
	assert_int_equal(p->note_count, 1);
	profile_destroy(p);
	/* Without an end: until the one around it ends, or the trace. */
	p = read_text("[" ASYNC("b", "\"id\":1", "a", 0) "," ASYNC(
		"b", "\"id\":1", "b", 2) "," ASYNC("e", "\"id\":1", "a", 5) "," ASYNC("b",
		"\"id\":2", "c", 8) "," X("x", 0, 10) "]");
	expect_folded(p, ZONE_TIME, "x 10000\na 2000\na;b 3000\nc 2000\n");
	expect_note(p, NOTE_INCOMPLETE, 2, "not ended");
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

/* Before 2015: nodes in each other, whose ids may come last; lines from 1; seconds. */
TEST(test_v8_head)
{
	struct profile *p = read_text(
		"{\"head\":{\"functionName\":\"(root)\",\"hitCount\":0,\"children\":["
		"{\"functionName\":\"a\",\"url\":\"x/a.js\",\"lineNumber\":7,\"children\":[3,"
		"{\"functionName\":\"b\",\"lineNumber\":0,\"children\":[],\"id\":3}],"
		"\"hitCount\":9,\"id\":2},"
		"{\"functionName\":\"(program)\",\"id\":4}],\"id\":1},"
		"\"startTime\":1.5,\"endTime\":1.6,"
		"\"samples\":[2,3,4,2,1],\"timestamps\":[1500010,1500030,1500060,1500050,1500090]"
		"}");

	expect_folded(p, "time", "a 50000\na;b 30000\n");
	function_id f = p->frames[p->stack_frame[1].i].function;
	assert_int_equal(p->functions[f.i].line, 7);
	assert_true(p->samples.time_ns[0] == 0);
	profile_destroy(p);
}

/* Only hits: their part of the duration is a guess. */
TEST(test_v8_hits)
{
	struct profile *p = read_text(
		"{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\"},"
		"\"hitCount\":1,\"children\":[2,3]},"
		"{\"id\":2,\"callFrame\":{\"functionName\":\"a\"},\"hitCount\":3,\"children\":[4]},"
		"{\"id\":3,\"callFrame\":{\"functionName\":\"(program)\"},\"hitCount\":2},"
		"{\"id\":4,\"callFrame\":{\"functionName\":\"b\"},\"hitCount\":4}],"
		"\"startTime\":1000,\"endTime\":6000}");

	expect_folded(p, "time", "a 1500000\n(program) 1000000\na;b 2000000\n");
	expect_note(p, NOTE_GUESSED, 10, "no times in the file");
	assert_int_equal(p->stats.counted, 9);
	profile_destroy(p);

	p = read_text("{\"head\":{\"functionName\":\"(root)\",\"id\":1,\"children\":["
		      "{\"functionName\":\"a\",\"id\":2,\"hitCount\":3},"
		      "{\"functionName\":\"b\",\"id\":3,\"hitCount\":-1}]}}");
	expect_folded(p, "samples", "a 3\n");
	assert_int_equal(p->note_count, 0);
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
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_many_overlaps),
		cmocka_unit_test(test_random_slices),
		cmocka_unit_test(test_text_ids),
		cmocka_unit_test(test_async),
		cmocka_unit_test(test_threads_and_events),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_v8),
		cmocka_unit_test(test_v8_head),
		cmocka_unit_test(test_v8_hits),
		cmocka_unit_test(test_v8_children),
		cmocka_unit_test(test_v8_chunks),
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
