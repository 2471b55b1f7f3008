/*
 * The displays of zones by figures worked out by hand: the example of IProf's manual, recursion
 * direct and mutual, threads, keys, text.
 */

#include <stdlib.h>
#include <string.h>

#include "../unit.h"
#include "../zone_frames.h"
#include "zonereport/report.h"

static const uint64_t ms = 1000000;

struct program {
	struct zone_maker m;
	struct zone_frames f;
	uint32_t slot;
	struct zone_query query;
};

static void program_init(struct program *p)
{
	zone_maker_init(&p->m, 256, 4096, 4, 1 << 16);
	zone_frames_init(&p->f, &p->m, 1 << 20);
	p->slot = zone_maker_slot(&p->m, "main", 100);
	p->query = (struct zone_query)ZONE_QUERY_INIT;
}

static void program_deinit(struct program *p)
{
	zone_frames_deinit(&p->f);
	zone_maker_deinit(&p->m);
}

static uint32_t zone(struct program *p, const char *name)
{
	return zone_maker_zone(&p->m, name, "a.c", 1);
}

static void enter(struct program *p, const char *name)
{
	zone_maker_enter(&p->m, p->slot, zone(p, name));
}

static void leave(struct program *p)
{
	zone_maker_leave(&p->m, p->slot);
}

static void spend(struct program *p, const char *name, uint64_t ticks)
{
	zone_maker_spend(&p->m, p->slot, zone(p, name), ticks);
}

static void pass(struct program *p, uint64_t ticks)
{
	zone_maker_pass(&p->m, ticks);
}

static void end_frame(struct program *p)
{
	zone_frames_end(&p->f, &p->m);
}

static struct zone_report *report(struct program *p)
{
	struct zone_report *r = zone_report_create(p->f.history, &p->query);

	assert_non_null(r);
	return r;
}

/* The call graph, or all that is below, around that zone. */
static struct zone_report *graph(struct program *p, enum zone_mode mode, const char *name)
{
	p->query.mode = mode;
	p->query.focus = zone(p, name);
	return report(p);
}

static const struct zone_row *row_of(
	const struct zone_report *r, enum zone_row_kind kind, const char *name)
{
	for (size_t i = 0; i < r->row_count; i++)
		if (r->row[i].kind == kind && strcmp(r->row[i].info.name, name) == 0)
			return &r->row[i];
	return NULL;
}

#define expect_near(a, b) assert_true((a) - (b) < 1e-9 && (b) - (a) < 1e-9)

static void expect_row(const struct zone_report *r, enum zone_row_kind kind, const char *name,
	double self, double hier, double count)
{
	const struct zone_row *row = row_of(r, kind, name);

	if (!row)
		fail_msg("no row of %s", name);
	expect_near(row->self_ms, self);
	expect_near(row->hier_ms, hier);
	expect_near(row->count, count);
}

static struct zone_row sum_of(const struct zone_report *r, enum zone_row_kind kind)
{
	struct zone_row sum = {0};

	for (size_t i = 0; i < r->row_count; i++) {
		if (r->row[i].kind != kind)
			continue;
		sum.self_ms += r->row[i].self_ms;
		sum.hier_ms += r->row[i].hier_ms;
		sum.count += r->row[i].count;
	}
	return sum;
}

/* ---- the manual's example ---- */

/* my_routine, entered so often, so long itself and in two others. */
static void my_routine(
	struct program *p, int entries, uint64_t self, uint64_t child1, uint64_t child2)
{
	for (int i = 0; i < entries; i++) {
		enter(p, "my_routine");
		if (i == 0) {
			pass(p, self);
			spend(p, "child1", child1);
			spend(p, "child2", child2);
		}
		leave(p);
	}
}

static void run_manual(struct program *p)
{
	enter(p, "parent1");
	pass(p, ms);
	my_routine(p, 3, 75 * ms / 100, ms / 2, ms);
	leave(p);
	enter(p, "parent2");
	my_routine(p, 7, ms, ms, 3 * ms / 2);
	leave(p);
	end_frame(p);
}

TEST(manual_example)
{
	struct program p;
	struct zone_report *r;
	struct zone_row sum;

	program_init(&p);
	run_manual(&p);
	r = graph(&p, ZONE_MODE_GRAPH, "my_routine");
	assert_int_equal(r->row_count, 5);
	expect_row(r, ZONE_ROW_FOCUS, "my_routine", 1.75, 5.75, 10);
	expect_row(r, ZONE_ROW_PARENT, "parent1", 0.75, 2.25, 3);
	expect_row(r, ZONE_ROW_PARENT, "parent2", 1, 3.5, 7);
	expect_row(r, ZONE_ROW_CHILD, "child2", 2.5, 2.5, 2);
	expect_row(r, ZONE_ROW_CHILD, "child1", 1.5, 1.5, 2);
	sum = sum_of(r, ZONE_ROW_PARENT);
	expect_near(sum.self_ms, 1.75);
	expect_near(sum.hier_ms, 5.75);
	expect_near(sum.count, 10);
	expect_near(sum_of(r, ZONE_ROW_CHILD).hier_ms, 4);
	zone_report_destroy(r);
	program_deinit(&p);
}

static char *text_of(const struct zone_report *r)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *file = open_memstream(&text, &bytes);

	assert_non_null(file);
	assert_true(zone_report_write(r, file));
	fclose(file);
	return text;
}

static void expect_text(const struct zone_report *r, const char *expected)
{
	char *text = text_of(r);

	assert_string_equal(text, expected);
	free(text);
}

TEST(manual_text)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	run_manual(&p);
	r = graph(&p, ZONE_MODE_GRAPH, "my_routine");
	expect_text(r, "6.750 ms/frame (fps: 148.15)  call graph - current frame\n"
		       " zone                                self       hier      count\n"
		       "   +parent1                         0.750      2.250      3.000\n"
		       "   +parent2                         1.000      3.500      7.000\n"
		       "-my_routine                         1.750      5.750     10.000\n"
		       "    child2                          2.500      2.500      2.000\n"
		       "    child1                          1.500      1.500      2.000\n");
	zone_report_destroy(r);
	p.query.mode = ZONE_MODE_HIER;
	r = report(&p);
	expect_text(r, "6.750 ms/frame (fps: 148.15)  sort hier - current frame\n"
		       " zone                                hier       self      count\n"
		       "+_global                            6.750      0.000      1.000\n"
		       "+my_routine                         5.750      1.750     10.000\n"
		       "+parent2                            3.500      0.000      1.000\n"
		       "+parent1                            3.250      1.000      1.000\n"
		       " child2                             2.500      2.500      2.000\n"
		       " child1                             1.500      1.500      2.000\n");
	zone_report_destroy(r);
	p.query.mode = ZONE_MODE_NAME;
	r = report(&p);
	assert_string_equal(r->row[0].info.name, "_global");
	assert_string_equal(r->row[5].info.name, "parent2");
	zone_report_destroy(r);
	program_deinit(&p);
}

/* Names that differ late, as those of templates, are not cut to be the same. */
TEST(long_names)
{
	struct program p;
	struct zone_report *r;
	char longest[201];

	memset(longest, 'x', sizeof(longest) - 1);
	longest[200] = '\0';
	program_init(&p);
	spend(&p, "std::map<std::string, int>::operator[]", 2 * ms);
	spend(&p, "std::map<std::string, int>::operator()", ms);
	end_frame(&p);
	r = report(&p);
	expect_text(r,
		"3.000 ms/frame (fps: 333.33)  sort self - current frame\n"
		" zone                                         self       hier      count\n"
		" std::map<std::string, int>::operator[]      2.000      2.000      1.000\n"
		" std::map<std::string, int>::operator()      1.000      1.000      1.000\n"
		"+_global                                     0.000      3.000      1.000\n");
	zone_report_destroy(r);
	spend(&p, longest, ms);
	end_frame(&p);
	p.query.frame = 0;
	r = report(&p);
	char *text = text_of(r), *line = strstr(text, "\n xxx");

	assert_non_null(line);
	assert_int_equal(strcspn(line + 2, "."), 96);
	assert_int_equal(strncmp(line + 98, "...      ", 9), 0);
	free(text);
	zone_report_destroy(r);
	program_deinit(&p);
}

/* ---- recursion ---- */

/* rec calls itself until it is `depth` deep; each level takes 1 ms and 0.1 ms in leaf. */
static void rec(struct program *p, int depth)
{
	enter(p, "rec");
	pass(p, ms);
	spend(p, "leaf", ms / 10);
	if (depth > 1)
		rec(p, depth - 1);
	leave(p);
}

static void run_recursive(struct program *p)
{
	enter(p, "caller1");
	pass(p, ms / 2);
	rec(p, 4);
	leave(p);
	enter(p, "caller2");
	rec(p, 3);
	leave(p);
	end_frame(p);
}

TEST(direct_recursion)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	run_recursive(&p);
	r = graph(&p, ZONE_MODE_GRAPH, "rec");
	expect_row(r, ZONE_ROW_FOCUS, "rec", 7, 7.7, 7);
	expect_row(r, ZONE_ROW_PARENT, "caller1", 4, 4.4, 4);
	expect_row(r, ZONE_ROW_PARENT, "caller2", 3, 3.3, 3);
	expect_row(r, ZONE_ROW_CHILD, "leaf", 0.7, 0.7, 7);
	/* Not its own parent and child, but one marked row outside of the sums. */
	expect_row(r, ZONE_ROW_RECURSION, "rec", 5, 5.5, 5);
	assert_int_equal(r->row_count, 5);
	assert_int_equal(row_of(r, ZONE_ROW_RECURSION, "rec")->prefix, '~');
	assert_int_equal(row_of(r, ZONE_ROW_RECURSION, "rec")->number, 3);
	zone_report_destroy(r);

	r = graph(&p, ZONE_MODE_GRAPH, "caller1");
	expect_row(r, ZONE_ROW_FOCUS, "caller1", 0.5, 4.9, 1);
	expect_row(r, ZONE_ROW_CHILD, "rec", 4, 4.4, 4);
	zone_report_destroy(r);

	p.query.mode = ZONE_MODE_SELF;
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "rec", 7, 7.7, 7);
	assert_int_equal(row_of(r, ZONE_ROW_FLAT, "rec")->number, 3);
	zone_report_destroy(r);
	program_deinit(&p);
}

TEST(spread_recursion)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	run_recursive(&p);
	p.query.recursion = ZONE_SPREAD;
	p.query.focus_depth = 1;
	r = graph(&p, ZONE_MODE_GRAPH, "rec");
	expect_row(r, ZONE_ROW_FOCUS, "rec", 2, 5.5, 2);
	expect_row(r, ZONE_ROW_PARENT, "rec", 2, 5.5, 2);
	expect_row(r, ZONE_ROW_CHILD, "rec", 2, 3.3, 2);
	expect_row(r, ZONE_ROW_CHILD, "leaf", 0.2, 0.2, 2);
	assert_null(row_of(r, ZONE_ROW_RECURSION, "rec"));
	assert_int_equal(row_of(r, ZONE_ROW_PARENT, "rec")->number, 0);
	assert_int_equal(row_of(r, ZONE_ROW_FOCUS, "rec")->number, 1);
	assert_int_equal(row_of(r, ZONE_ROW_CHILD, "rec")->number, 2);
	zone_report_destroy(r);
	program_deinit(&p);
}

/* a (1 ms) calls b (1 ms) calls a (1 ms) calls b (1 ms) calls c (1 ms) */
TEST(mutual_recursion)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	for (int i = 0; i < 4; i++) {
		enter(&p, i % 2 ? "b" : "a");
		pass(&p, ms);
	}
	spend(&p, "c", ms);
	for (int i = 0; i < 4; i++)
		leave(&p);
	end_frame(&p);

	r = graph(&p, ZONE_MODE_GRAPH, "a");
	expect_row(r, ZONE_ROW_FOCUS, "a", 2, 5, 2);
	expect_row(r, ZONE_ROW_PARENT, "_global", 2, 5, 2);
	expect_row(r, ZONE_ROW_CHILD, "b", 2, 3, 2);
	expect_row(r, ZONE_ROW_RECURSION, "a", 1, 3, 1);
	assert_int_equal(r->row_count, 4);
	zone_report_destroy(r);

	r = graph(&p, ZONE_MODE_GRAPH, "b");
	expect_row(r, ZONE_ROW_FOCUS, "b", 2, 4, 2);
	expect_row(r, ZONE_ROW_PARENT, "a", 2, 4, 2);
	expect_row(r, ZONE_ROW_CHILD, "a", 1, 1, 1);
	expect_row(r, ZONE_ROW_CHILD, "c", 1, 1, 1);
	zone_report_destroy(r);

	r = graph(&p, ZONE_MODE_DESCENDANTS, "a");
	expect_row(r, ZONE_ROW_CHILD, "b", 2, 4, 2);
	expect_row(r, ZONE_ROW_CHILD, "c", 1, 1, 1);
	expect_near(sum_of(r, ZONE_ROW_CHILD).self_ms, 3);
	zone_report_destroy(r);
	program_deinit(&p);
}

/* ---- threads ---- */

TEST(threads)
{
	struct program p;
	struct zone_report *r;
	uint32_t other;

	program_init(&p);
	other = zone_maker_slot(&p.m, "worker", 101);
	zone_maker_enter(&p.m, other, zone(&p, "work"));
	spend(&p, "work", 2 * ms);
	pass(&p, ms);
	zone_maker_leave(&p.m, other);
	end_frame(&p);
	p.query.mode = ZONE_MODE_HIER;
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "work", 5, 5, 2);
	expect_row(r, ZONE_ROW_FLAT, "_global", 1, 6, 2);
	zone_report_destroy(r);
	p.query.slot = other;
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "work", 3, 3, 1);
	expect_near(r->total_ms, 3);
	zone_report_destroy(r);

	/* What others alone have entered is none of its rows, what it does not do now is. */
	spend(&p, "elsewhere", ms);
	end_frame(&p);
	p.query.average = 0;
	r = report(&p);
	assert_int_equal(r->row_count, 2);
	expect_row(r, ZONE_ROW_FLAT, "_global", 1, 1, 0);
	expect_row(r, ZONE_ROW_FLAT, "work", 0, 0, 0);
	zone_report_destroy(r);
	p.query.slot = ZONE_SLOT_ALL;
	r = report(&p);
	assert_int_equal(r->row_count, 3);
	expect_row(r, ZONE_ROW_FLAT, "elsewhere", 1, 1, 1);
	zone_report_destroy(r);
	program_deinit(&p);
}

/* 15 workers that wait would be 94 % of all, and the frame's own time nothing. */
TEST(threads_without_frames)
{
	struct program p;
	struct zone_report *r;
	uint32_t worker = 0;

	program_init(&p);
	p.f.ends_frames = p.slot;
	for (int i = 0; i < 15; i++)
		worker = zone_maker_slot(&p.m, "worker", 101 + i);
	for (int i = 0; i < 3; i++) {
		spend(&p, "draw", ms / 5);
		zone_maker_enter(&p.m, worker, zone(&p, "load"));
		pass(&p, ms / 10);
		zone_maker_leave(&p.m, worker);
		end_frame(&p);
	}
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "draw", 0.2, 0.2, 1);
	expect_row(r, ZONE_ROW_FLAT, "load", 0.1, 0.1, 1);
	expect_row(r, ZONE_ROW_FLAT, "_global", 0.1, 0.4, 0);
	expect_near(r->total_ms, 0.4);
	/* All threads' time but what they do in zones, and the frame's own. */
	expect_near(r->row[r->row_count - 1].self_ms, 15 * 0.3 - 0.1);
	assert_int_equal(r->row[r->row_count - 1].kind, ZONE_ROW_FRAMELESS);
	assert_string_equal(r->unit.name, "us");
	assert_non_null(strstr(r->title, "300.000 us/frame"));
	zone_report_destroy(r);

	/* Of a thread that is asked for, all is shown. */
	p.query.slot = worker;
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "_global", 0.2, 0.3, 0);
	assert_null(row_of(r, ZONE_ROW_FRAMELESS, "[threads without frames]"));
	zone_report_destroy(r);
	program_deinit(&p);
}

/* ---- marks, keys, titles ---- */

TEST(overhead)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	for (int i = 0; i < 1000; i++)
		spend(&p, "tiny", 100);
	spend(&p, "long", ms);
	end_frame(&p);
	p.query.mode = ZONE_MODE_SELF;
	r = report(&p);
	assert_int_equal(row_of(r, ZONE_ROW_FLAT, "tiny")->prefix, 0);
	assert_string_equal(r->trouble, "");
	zone_report_destroy(r);
	p.query.call_ns = 50;
	r = report(&p);
	assert_int_equal(row_of(r, ZONE_ROW_FLAT, "tiny")->prefix, '!');
	assert_int_equal(row_of(r, ZONE_ROW_FLAT, "long")->prefix, 0);
	/* 1,001 entries of 50 ns, and no root's, in 1.1 ms */
	assert_string_equal(r->trouble,
		"estimated 4.55% profile overhead--0.050 microsec/call, 0.0500 ms total");
	zone_report_destroy(r);
	program_deinit(&p);
}

TEST(troubles)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	p.m.header->trouble_open = zone(&p, "phy\033[2Jsics");
	p.m.header->trouble_ended = zone(&p, "draw");
	p.m.header->trouble[ZONEWIRE_MISSING_END] = 3;
	p.m.header->trouble[ZONEWIRE_EXTRA_END] = 1;
	p.m.header->trouble[ZONEWIRE_NO_NODES] = 7;
	pass(&p, ms);
	end_frame(&p);
	r = report(&p);
	assert_string_equal(r->trouble,
		"3 missing Prof_End; 1 extra Prof_End; last: draw ended where phy\\x1b[2Jsics was "
		"open; 7 entries without room for their stack, with all below them");
	zone_report_destroy(r);
	program_deinit(&p);

	program_init(&p);
	p.m.header->trouble_open = ZONEWIRE_ZONE_GLOBAL;
	p.m.header->trouble[ZONEWIRE_EXTRA_END] = 2;
	p.m.header->trouble[ZONEWIRE_TOO_DEEP] = 1;
	p.m.header->trouble[ZONEWIRE_NO_SLOTS] = 23603; /* of a few threads */
	pass(&p, ms);
	end_frame(&p);
	r = report(&p);
	assert_string_equal(r->trouble,
		"2 extra Prof_End; last: where no zone was open; "
		"1 entry too deep to measure, with all below it; "
		"23603 entries by threads without room, with all below them");
	zone_report_destroy(r);
	program_deinit(&p);
}

TEST(keys)
{
	struct program p;
	struct zone_query *q = &p.query;
	struct zone_report *r;

	program_init(&p);
	run_manual(&p);
	zone_query_set_mode(q, ZONE_MODE_HIER);
	zone_query_move_cursor(q, p.f.history, 1000);
	assert_int_equal(q->cursor, 5);
	zone_query_move_cursor(q, p.f.history, -4);
	assert_int_equal(q->cursor, 1);
	assert_true(zone_query_select(q, p.f.history));
	assert_int_equal(q->mode, ZONE_MODE_GRAPH);
	assert_int_equal(q->focus, zone(&p, "my_routine"));
	assert_int_equal(q->cursor, 2);
	assert_true(zone_query_select_parent(q, p.f.history));
	assert_int_equal(q->focus, zone(&p, "parent2"));
	r = report(&p);
	assert_int_equal(r->cursor_row, r->focus_row);
	zone_report_destroy(r);
	assert_true(zone_query_select_parent(q, p.f.history));
	assert_int_equal(q->focus, ZONEWIRE_ZONE_GLOBAL);
	assert_false(zone_query_select_parent(q, p.f.history));
	q->cursor = -5;
	r = report(&p);
	assert_int_equal(r->cursor_row, 0);
	zone_report_destroy(r);
	zone_query_set_mode(q, ZONE_MODE_DESCENDANTS);
	q->cursor = 1;
	assert_true(zone_query_select(q, p.f.history));
	assert_int_equal(q->mode, ZONE_MODE_DESCENDANTS);
	program_deinit(&p);
}

TEST(frames)
{
	struct program p;
	struct zone_report *r;

	program_init(&p);
	for (uint64_t i = 1; i <= 5; i++) {
		spend(&p, "work", i * ms);
		end_frame(&p);
	}
	zone_query_move_frame(&p.query, p.f.history, -2);
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "work", 3, 3, 1);
	assert_string_equal(r->title, "3.000 ms/frame (fps: 333.33)  sort self - 2 frames ago");
	zone_report_destroy(r);
	zone_query_move_frame(&p.query, p.f.history, -100);
	assert_int_equal(p.query.frame, 4);
	zone_query_move_frame(&p.query, p.f.history, 3);
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "work", 4, 4, 1);
	assert_string_equal(r->title, "4.000 ms/frame (fps: 250.00)  sort self - 1 frame ago");
	zone_report_destroy(r);
	p.query.frame = 0;
	p.query.average = 0;
	r = report(&p);
	expect_row(r, ZONE_ROW_FLAT, "work", 5, 5, 1);
	zone_report_destroy(r);
	program_deinit(&p);
}

TEST(nothing_yet)
{
	struct program p;

	zone_maker_init(&p.m, 8, 8, 4, 1 << 12);
	zone_frames_init(&p.f, &p.m, 0);
	p.query = (struct zone_query)ZONE_QUERY_INIT;
	for (unsigned mode = 0; mode < ZONE_MODES; mode++) {
		struct zone_report *r;

		p.query.mode = (enum zone_mode)mode;
		r = report(&p);
		assert_true(r->row_count <= 1);
		assert_string_equal(r->trouble, "");
		zone_report_destroy(r);
	}
	zone_query_select(&p.query, p.f.history);
	zone_query_move_frame(&p.query, p.f.history, -1);
	assert_int_equal(p.query.frame, 0);
	program_deinit(&p);
}

/* ---- names ---- */

static void expect_label(const char *name, uint32_t number, size_t bytes, const char *expected)
{
	struct zone_row row = {.info = {.name = name}, .number = number, .prefix = '+'};
	char label[128];

	assert_int_equal(zone_row_label(&row, label, bytes), strlen(expected));
	assert_string_equal(label, expected);
}

TEST(labels)
{
	expect_label("plain", 0, 128, "+plain");
	expect_label("rec", 12, 128, "+rec (12)");
	expect_label("\x1b]0;x\x07", 0, 128, "+\\x1b]0;x\\x07");
	expect_label("na\xc3\xafve \xe2\x82\xac", 0, 128, "+na\xc3\xafve \xe2\x82\xac");
	expect_label("bad \xc3( \xed\xa0\x80 \xc0\xaf", 0, 128,
		"+bad \\xc3( \\xed\\xa0\\x80 \\xc0\\xaf");
	expect_label("\xe2\x80\xae"
		     "cba",
		0, 128,
		"+\\xe2\\x80\\xae"
		"cba");
	expect_label("\xc2\x9b", 0, 128, "+\\xc2\\x9b");
	expect_label("cut \xe2\x82\xac", 0, 8, "+cut ");
	expect_label("", 0, 128, "+?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manual_example),
		cmocka_unit_test(manual_text),
		cmocka_unit_test(long_names),
		cmocka_unit_test(direct_recursion),
		cmocka_unit_test(spread_recursion),
		cmocka_unit_test(mutual_recursion),
		cmocka_unit_test(threads),
		cmocka_unit_test(threads_without_frames),
		cmocka_unit_test(overhead),
		cmocka_unit_test(troubles),
		cmocka_unit_test(keys),
		cmocka_unit_test(frames),
		cmocka_unit_test(nothing_yet),
		cmocka_unit_test(labels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
