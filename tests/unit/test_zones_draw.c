/*
 * The displays of zones, drawn on a device that writes down what it is told: where titles, header,
 * rows and numbers stand, which rows are seen, and what becomes of a zone's history.  What the
 * report says is made by hand here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <stdio.h>
#include <math.h>
#include <cmocka.h>

#include <prof_gl.h>

#include "zones_gl/font.h"
#include "zones_gl/glyphs.h"
#include "zones_gl/number.h"
#include "zones_gl/paint.h"

/* ---- the device ---- */

struct box {
	float x0, y0, x1, y1, rgba[4];
};

struct text {
	float x, y, rgba[4];
	char text[128];
};

struct strip {
	int num;
	float xy[600], rgba[4];
};

static struct tape {
	int boxes, texts, strips;
	int boxes_after_text;
	struct box box[20000];
	struct text text[500];
	struct strip strip[50];
} tape;

static void record_box(void *data, float x0, float y0, float x1, float y1, const float rgba[4])
{
	struct tape *t = data;
	struct box *b = &t->box[t->boxes++];

	assert_in_range(t->boxes, 1, 20000);
	*b = (struct box){fminf(x0, x1), fminf(y0, y1), fmaxf(x0, x1), fmaxf(y0, y1), {0}};
	memcpy(b->rgba, rgba, sizeof b->rgba);
	t->boxes_after_text += t->texts > 0;
}

static void record_text(void *data, float x, float y, const char *text, const float rgba[4])
{
	struct tape *t = data;
	struct text *to = &t->text[t->texts++];

	assert_in_range(t->texts, 1, 500);
	assert_in_range(strlen(text), 0, sizeof to->text - 1);
	to->x = x;
	to->y = y;
	strcpy(to->text, text);
	memcpy(to->rgba, rgba, sizeof to->rgba);
}

/* Each character is 8 wide. */
static float record_width(void *data, const char *text)
{
	(void)data;
	return 8 * (float)strlen(text);
}

static void record_strip(void *data, const float *xy, int num, const float rgba[4])
{
	struct tape *t = data;
	struct strip *s = &t->strip[t->strips++];

	assert_in_range(t->strips, 1, 50);
	assert_in_range(num, 2, 300);
	s->num = num;
	memcpy(s->xy, xy, sizeof(float) * 2 * (size_t)num);
	memcpy(s->rgba, rgba, sizeof s->rgba);
}

static const Prof_Device with_text = {&tape, record_box, record_strip, record_text, record_width};
static const Prof_Device without_text = {&tape, record_box, record_strip, NULL, NULL};

/* The text of the tape that is this one; it must be there, and once. */
static const struct text *find(const char *text)
{
	const struct text *found = NULL;

	for (int i = 0; i < tape.texts; i++)
		if (strcmp(tape.text[i].text, text) == 0) {
			if (found)
				fail_msg("'%s' is there twice", text);
			found = &tape.text[i];
		}
	if (!found)
		fail_msg("there is no '%s'", text);
	return found;
}

static bool is_there(const char *text)
{
	for (int i = 0; i < tape.texts; i++)
		if (strcmp(tape.text[i].text, text) == 0)
			return true;
	return false;
}

/* The box that a point is in; the last drawn, if several. */
static const struct box *box_at(float x, float y)
{
	for (int i = tape.boxes - 1; i >= 0; i--) {
		const struct box *b = &tape.box[i];

		if (b->x0 <= x && x < b->x1 && b->y0 <= y && y < b->y1)
			return b;
	}
	fail_msg("no box at %g, %g", (double)x, (double)y);
	return NULL;
}

/* ---- the report ---- */

static Prof_Report_Record records[100];
static Prof_Report report;
static int reports_made, reports_freed, depth;
static char name_zone[] = "zone", name_self[] = "self", name_hier[] = "hier",
	    name_count[] = "count";
static char title_first[] = "16.667 ms/frame (fps: 60.00)  sort self",
	    title_second[] = "WARNING: a";

static Prof_Report_Record row(const char *name, double self, double hier, double count)
{
	return (Prof_Report_Record){
		.name = (char *)name, .value_flag = 1 | 2 | 4, .values = {self, hier, count}};
}

/* The manual's call graph. */
static void make_report(void)
{
	memset(&tape, 0, sizeof tape);
	records[0] = row("my_parent1", 0.75, 2.5, 4);
	records[0].prefix = '+';
	records[0].indent = 3;
	records[1] = row("my_parent2", 1, 3.25, 6);
	records[1].prefix = '+';
	records[1].indent = 3;
	records[2] = row("my_routine", 1.75, 5.75, 10);
	records[2].prefix = '-';
	records[3] = row("my_child3", 0.5, 0.4996, 3);
	records[3].indent = 3;
	records[3].number = 2;
	report = (Prof_Report){.title = {title_first, NULL},
		.header = {name_zone, name_self, name_hier, name_count, NULL},
		.num_record = 4,
		.hilight = 2,
		.record = records};
}

/* So many rows named r0, r1 .... */
static void make_rows(int count, int cursor)
{
	static char names[100][8];

	make_report();
	for (int i = 0; i < count; i++) {
		snprintf(names[i], sizeof names[i], "r%d", i);
		records[i] = row(names[i], i, i, i);
	}
	report.num_record = count;
	report.hilight = cursor;
}

/* What the library asks the runtime for. */
Prof_Report *Prof_create_report(void)
{
	reports_made++;
	return &report;
}

void Prof_free_report(Prof_Report *r)
{
	assert_ptr_equal(r, &report);
	reports_freed++;
}

void Prof_enter(Prof_Zone *zone)
{
	assert_memory_equal(zone->name, "prof_draw", 9);
	depth++;
}

void Prof_leave(void)
{
	depth--;
}

static float history[3][400];
static int history_from[3], shown_frame, frames_asked;

void Prof_graph(int num_frames, void (*callback)(int id, int x0, int x1, float *values, void *data),
	void *data)
{
	static const char *const names[3] = {"scene", "build", "walk"};

	frames_asked = num_frames;
	for (int i = 0; i < 3; i++)
		callback((int)zone_hash(names[i]), history_from[i], num_frames, history[i], data);
	if (shown_frame)
		callback(0, num_frames - 1 - shown_frame, num_frames - 1 - shown_frame, history[0],
			data);
}

static void forget_history(void)
{
	memset(&tape, 0, sizeof tape);
	memset(history, 0, sizeof history);
	memset(history_from, 0, sizeof history_from);
	shown_frame = 0;
}

/* ---- numbers ---- */

static void expect_number(double value, int decimals, const char *wanted)
{
	char text[32];

	number_text(text, sizeof text, value, decimals, 7);
	assert_string_equal(text, wanted);
}

static void numbers_are_rounded(void **state)
{
	(void)state;
	expect_number(1.999, 2, "2.00");
	expect_number(0.006, 2, "0.01");
	expect_number(99.996, 2, "100.00");
	expect_number(9.9996, 3, "10.000");
	expect_number(0.99996, 4, "1.0000");
	expect_number(0.0456, 1, "0.0");
	expect_number(16.66667, 4, "16.6667");
}

static void numbers_fit(void **state)
{
	(void)state;
	expect_number(116.66667, 4, "116.667");
	expect_number(99999.996, 2, "100000");
	expect_number(1234567, 2, "1234567");
	expect_number(12345678, 2, "12.35M");
	expect_number(999999999, 2, "1.00G");
	expect_number(4e12, 2, "4.00T");
	expect_number(1e30, 2, "1e+30");
	expect_number(-12345678, 2, "-12.35M");
	expect_number(999.5e3 * 1e3, 2, "999.50M");
}

/* ---- the font ---- */

static void glyphs_are_whole_and_different(void **state)
{
	(void)state;
	for (int i = 0; i < GLYPHS; i++) {
		size_t size = strlen(glyphs[i]);

		/* Rows of five, a blank between them, nine at most. */
		assert_true(size == 0 || size % 6 == 5);
		assert_in_range(size, 0, 9 * 6 - 1);
		for (size_t k = 0; k < size; k++)
			assert_true(k % 6 == 5 ? glyphs[i][k] == ' '
					       : strchr(".#", glyphs[i][k]) != NULL);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(glyphs[i], glyphs[k]);
	}
}

static void dots_stand_where_they_should(void **state)
{
	static const float white[4] = {1, 1, 1, 1};

	(void)state;
	memset(&tape, 0, sizeof tape);
	font_draw(&without_text, 100, 50, 2, " L", white);
	/* Seven rows of dots two wide, the last of them as wide as the glyph. */
	assert_int_equal(tape.boxes, 7);
	assert_true(tape.box[0].x0 == 112 && tape.box[0].x1 == 114);
	assert_true(tape.box[0].y0 == 36 && tape.box[0].y1 == 38);
	assert_true(tape.box[6].x0 == 112 && tape.box[6].x1 == 122);
	assert_true(tape.box[6].y0 == 48 && tape.box[6].y1 == 50);
	/* And where y grows upwards. */
	memset(&tape, 0, sizeof tape);
	font_draw(&without_text, 100, 50, -2, "L", white);
	assert_true(tape.box[6].y0 == 50 && tape.box[6].y1 == 52);
	assert_true(tape.box[6].x0 == 100 && tape.box[6].x1 == 110);
	assert_true(tape.box[0].y0 == 62 && tape.box[0].y1 == 64);
}

static void what_is_no_ascii_is_one_glyph(void **state)
{
	(void)state;
	assert_int_equal(font_width(""), 0);
	assert_int_equal(font_width("ab"), 12);
	assert_int_equal(font_width("\xe2\x80\xa6other"), 36);
	assert_int_equal(font_width("\n\xff"), 12);
}

/* ---- the report, drawn ---- */

static void texts_and_numbers_are_there(void **state)
{
	(void)state;
	make_report();
	Prof_draw_report(&with_text, &report, 10, 30, 600, 200, 20, 2);
	find("zone");
	find("self");
	find("hier");
	find("count");
	find("+my_parent1");
	find("-my_routine");
	/* No prefix, and a depth of recursion. */
	find("my_child3 (2)");
	find("5.75");
	find("4.00");
	/* Both the self time and, rounded, the hierarchical one. */
	assert_false(is_there("0.49"));
	assert_int_equal(tape.boxes_after_text, 0);
}

static void titles_and_headers_are_seen(void **state)
{
	(void)state;
	make_report();
	report.title[1] = title_second;
	Prof_draw_report(&with_text, &report, 10, 30, 600, 200, 20, 2);
	for (int i = 0; i < tape.texts; i++)
		assert_true(tape.text[i].rgba[3] == 1);
	assert_true(find(title_first)->y == 30);
	/* A line and a half lower. */
	assert_true(find(title_second)->y == 60);
	assert_true(find("zone")->y == 90);
	assert_true(find("+my_parent1")->y == 110);
	/* Green, red. */
	assert_true(box_at(300, 28)->rgba[1] > box_at(300, 28)->rgba[0]);
	assert_true(box_at(300, 58)->rgba[1] < box_at(300, 58)->rgba[0]);
}

static void numbers_end_below_each_other(void **state)
{
	float field = 7 * 8 + 12;

	(void)state;
	make_report();
	Prof_draw_report(&with_text, &report, 10, 30, 600, 200, 20, 2);
	const struct text *routine = find("1.75"), *parent = find("0.75"), *last = find("10.00");

	/* Indented rows end one "+" further right, the others so far from the field's end. */
	assert_true(routine->x + 32 == 610 - 2 * field - 10);
	assert_true(parent->x + 32 == 610 - 2 * field - 2);
	assert_true(last->x + 40 == 610 - 10);
	/* The header is amid its field. */
	assert_true(fabsf(find("self")->x + 16 - (610 - 2.5f * field)) < .01f);
	/* Names: indented by spaces; without prefix by a "+" more. */
	assert_true(find("-my_routine")->x == 10 + 4);
	assert_true(find("+my_parent1")->x == 10 + 4 + 24);
	assert_true(find("my_child3 (2)")->x == 10 + 12 + 24);
}

static void rows_alternate_and_the_cursor_differs(void **state)
{
	(void)state;
	make_report();
	Prof_draw_report(&with_text, &report, 10, 30, 600, 200, 20, 2);
	const float *first = box_at(300, 78)->rgba, *second = box_at(300, 98)->rgba;
	const float *cursor = box_at(300, 118)->rgba, *fourth = box_at(300, 138)->rgba;

	assert_memory_not_equal(first, second, 16);
	assert_memory_equal(second, fourth, 16);
	assert_memory_not_equal(cursor, first, 16);
	/* Olive. */
	assert_true(cursor[0] == cursor[1] && cursor[2] < cursor[0]);
	/* A zone's colour marks its row, the same as its line's in the graph. */
	float colour[4];

	zone_colour(zone_hash("my_routine"), colour);
	assert_memory_equal(box_at(11, 118)->rgba, colour, 16);
}

static void precision_is_of_times(void **state)
{
	static const char *const times[] = {"5.8", "5.8", "5.75", "5.750", "5.7500", "5.7500"};

	(void)state;
	for (int precision = 0; precision <= 5; precision++) {
		make_report();
		Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 20, precision);
		find(times[precision]);
		find("10.00");
	}
}

static void values_without_flag_are_left_out(void **state)
{
	(void)state;
	make_report();
	records[2].value_flag = 2;
	Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 20, 2);
	assert_false(is_there("1.75"));
	find("5.75");
	assert_false(is_there("10.00"));
}

static void heat_changes_colours(void **state)
{
	(void)state;
	make_report();
	records[0].heat = .5;
	records[1].heat = 1;
	Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 20, 2);
	const struct text *cold = find("-my_routine"), *warm = find("+my_parent1");
	int glows = 0;

	assert_true(fabsf(cold->rgba[0] - .15f) < .001f && fabsf(cold->rgba[1] - .9f) < .001f);
	assert_true(fabsf(warm->rgba[0] - .575f) < .001f);
	for (int i = 0; i + 1 < tape.texts; i++) {
		const struct text *glow = &tape.text[i], *hot = glow + 1;

		if (strcmp(glow->text, "+my_parent2") != 0)
			continue;
		glows++;
		assert_string_equal(hot->text, glow->text);
		assert_true(glow->x == hot->x + 2 && glow->y == hot->y - 1);
		assert_true(glow->rgba[3] == .5f && hot->rgba[3] == 1);
		assert_true(hot->rgba[0] == 1 && hot->rgba[1] == 1);
		break;
	}
	assert_int_equal(glows, 1);
}

static void the_cursor_is_always_seen(void **state)
{
	(void)state;
	/* A title, a header, 5.5 lines: five rows. */
	make_rows(12, 8);
	Prof_draw_report(&with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(is_there("r8") && is_there("r4"));
	assert_false(is_there("r3") || is_there("r9"));
	assert_true(find("r8")->y == 30 + 5 * 20);
	/* The bar that says there is more: rows 5 to 9 of 12. */
	const struct box *bar = box_at(599, 34.4f + 100 * 4.0f / 12 + 1);

	assert_true(fabsf(bar->y1 - bar->y0 - 100 * 5.0f / 12) < .1f);
	make_rows(12, 2);
	Prof_draw_report(&with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(is_there("r0") && is_there("r4") && !is_there("r5"));
	make_rows(12, -1);
	Prof_draw_report(&with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(is_there("r0") && !is_there("r5"));
}

static void no_room_is_no_row(void **state)
{
	(void)state;
	for (int height = -1; height <= 50; height++) {
		make_rows(12, 11);
		Prof_draw_report(&with_text, &report, 0, 0, 600, (float)height, 20, 2);
		assert_false(is_there("r11"));
	}
	make_rows(0, -1);
	Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 20, 2);
	find("zone");
	make_rows(5, 0);
	Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 0, 2);
	assert_int_equal(tape.boxes + tape.texts, 0);
}

static void lines_closer_than_a_unit(void **state)
{
	(void)state;
	/* Half a unit a line, upwards: abs() of an int would make that none. */
	make_rows(12, 0);
	Prof_draw_report(&without_text, &report, 0, 9, 40, 8, -.5f, 2);
	assert_true(tape.boxes > 100);
	for (int i = 0; i < tape.boxes; i++) {
		assert_in_range(tape.box[i].x1, 0, 40);
		assert_true(tape.box[i].y1 <= 9.5f && tape.box[i].y0 >= 1);
	}
}

static void upwards_is_a_mirror(void **state)
{
	static struct tape down;

	(void)state;
	make_report();
	Prof_draw_report(&without_text, &report, 10, 30, 600, 200, 20, 2);
	down = tape;
	make_report();
	Prof_draw_report(&without_text, &report, 10, -30, 600, 200, -20, 2);
	assert_int_equal(tape.boxes, down.boxes);
	for (int i = 0; i < tape.boxes; i++) {
		assert_true(fabsf(tape.box[i].y0 + down.box[i].y1) < .01f);
		assert_true(tape.box[i].x0 == down.box[i].x0);
	}
}

static void long_names_end_in_dots(void **state)
{
	(void)state;
	make_report();
	records[0].name = (char *)"std::vector<std::pair<int, std::string>>::emplace_back";
	records[1].name = (char *)"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
	records[1].indent = 0;
	/* Names have 400 - 3 * 68. */
	Prof_draw_report(&with_text, &report, 0, 0, 400, 200, 20, 2);
	find("+std::vector<std::p..");
	find("+\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	make_report();
	records[1].name = (char *)"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
	records[1].indent = 0;
	Prof_draw_report(&with_text, &report, 0, 0, 204 + 100, 200, 20, 2);
	find("+\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4..");
	/* And none at all. */
	make_report();
	Prof_draw_report(&with_text, &report, 0, 0, 100, 200, 20, 2);
	find("5.75");
}

static void control_characters_are_not_printed(void **state)
{
	(void)state;
	make_report();
	records[2].name = (char *)"a\nb\x1b[1m";
	Prof_draw_report(&with_text, &report, 0, 0, 600, 200, 20, 2);
	find("-a?b?[1m");
}

static void a_report_is_made_and_freed(void **state)
{
	(void)state;
	make_report();
	reports_made = reports_freed = 0;
	Prof_draw_device(&with_text, 0, 0, 600, 200, 20, 2);
	find("5.75");
	assert_int_equal(reports_made, 1);
	assert_int_equal(reports_freed, 1);
	assert_int_equal(depth, 0);
}

/* ---- the graph ---- */

static void zones_are_lines(void **state)
{
	float colour[4];

	(void)state;
	forget_history();
	for (int i = 0; i < 128; i++)
		history[0][i] = .001f * (float)(i + 1);
	Prof_draw_graph_device(&with_text, 100, 500, 2, -10, 128);
	assert_int_equal(frames_asked, 128);
	/* The others took no time. */
	assert_int_equal(tape.strips, 1);
	assert_int_equal(tape.strip[0].num, 128);
	assert_true(tape.strip[0].xy[0] == 100);
	assert_true(fabsf(tape.strip[0].xy[1] - 490) < .001f);
	assert_true(tape.strip[0].xy[2 * 127] == 354);
	assert_true(fabsf(tape.strip[0].xy[2 * 127 + 1] - (500 - 1280)) < .01f);
	zone_colour(zone_hash("scene"), colour);
	assert_memory_equal(tape.strip[0].rgba, colour, 16);
	assert_int_equal(depth, 0);
}

static void ends_that_took_nothing_are_trimmed(void **state)
{
	(void)state;
	forget_history();
	for (int i = 40; i < 60; i++)
		history[0][i] = .001f;
	history[0][50] = 0;
	history[1][70] = .00019f;
	/* One slow frame is a spike. */
	history[2][90] = .005f;
	Prof_draw_graph_device(&with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	assert_int_equal(tape.strip[0].num, 22);
	assert_true(tape.strip[0].xy[0] == 39 && tape.strip[0].xy[2 * 21] == 60);
	assert_int_equal(tape.strip[1].num, 3);
	assert_true(tape.strip[1].xy[2] == 90 && fabsf(tape.strip[1].xy[3] - 5) < .001f);
}

static void few_frames_are_at_the_right(void **state)
{
	(void)state;
	forget_history();
	history_from[0] = 125;
	history_from[1] = 127;
	for (int i = 0; i < 3; i++)
		history[0][i] = .001f;
	history[1][0] = .002f;
	Prof_draw_graph_device(&with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	assert_int_equal(tape.strip[0].num, 3);
	assert_true(tape.strip[0].xy[0] == 125);
	/* A single frame has no line through it, so it has one below it. */
	assert_int_equal(tape.strip[1].num, 2);
	assert_true(tape.strip[1].xy[0] == 127 && tape.strip[1].xy[1] == 0);
	assert_true(tape.strip[1].xy[2] == 127 && tape.strip[1].xy[3] == 2);
}

static void the_shown_frame_is_marked(void **state)
{
	const struct strip *mark;

	(void)state;
	forget_history();
	for (int i = 0; i < 128; i++)
		history[0][i] = .010f;
	shown_frame = 27;
	Prof_draw_graph_device(&with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	mark = &tape.strip[1];
	assert_true(mark->xy[0] == 100 && mark->xy[2] == 100);
	assert_true(mark->xy[1] == 0 && fabsf(mark->xy[3] - 11) < .001f);
	assert_true(mark->rgba[0] == 1 && mark->rgba[2] == 1);
}

static void long_lines_are_joined(void **state)
{
	float last[2] = {0, 0};
	int points = 0;

	(void)state;
	forget_history();
	for (int i = 0; i < 400; i++)
		history[0][i] = .001f * (float)(i % 7 + 1);
	for (int frames = 255; frames <= 259; frames++) {
		memset(&tape, 0, sizeof tape);
		points = 0;
		Prof_draw_graph_device(&with_text, 0, 0, 1, 1, frames);
		for (int i = 0; i < tape.strips; i++) {
			const struct strip *s = &tape.strip[i];

			if (i)
				assert_memory_equal(s->xy, last, sizeof last);
			memcpy(last, s->xy + (ptrdiff_t)2 * (s->num - 1), sizeof last);
			points += s->num - (i > 0);
		}
		assert_int_equal(points, frames);
	}
}

static void colours_are_the_same_in_each_run(void **state)
{
	float a[4], b[4];

	(void)state;
	assert_int_equal(zone_hash("a"), 0xaaaaab0bU);
	zone_colour(zone_hash("build"), a);
	zone_colour(zone_hash("walk"), b);
	assert_memory_not_equal(a, b, sizeof a);
	for (int i = 0; i < 3; i++)
		assert_true(a[i] >= 80 / 255.0f && a[i] <= 207 / 255.0f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_rounded),
		cmocka_unit_test(numbers_fit),
		cmocka_unit_test(glyphs_are_whole_and_different),
		cmocka_unit_test(dots_stand_where_they_should),
		cmocka_unit_test(what_is_no_ascii_is_one_glyph),
		cmocka_unit_test(texts_and_numbers_are_there),
		cmocka_unit_test(titles_and_headers_are_seen),
		cmocka_unit_test(numbers_end_below_each_other),
		cmocka_unit_test(rows_alternate_and_the_cursor_differs),
		cmocka_unit_test(precision_is_of_times),
		cmocka_unit_test(values_without_flag_are_left_out),
		cmocka_unit_test(heat_changes_colours),
		cmocka_unit_test(the_cursor_is_always_seen),
		cmocka_unit_test(no_room_is_no_row),
		cmocka_unit_test(lines_closer_than_a_unit),
		cmocka_unit_test(upwards_is_a_mirror),
		cmocka_unit_test(long_names_end_in_dots),
		cmocka_unit_test(control_characters_are_not_printed),
		cmocka_unit_test(a_report_is_made_and_freed),
		cmocka_unit_test(zones_are_lines),
		cmocka_unit_test(ends_that_took_nothing_are_trimmed),
		cmocka_unit_test(few_frames_are_at_the_right),
		cmocka_unit_test(the_shown_frame_is_marked),
		cmocka_unit_test(long_lines_are_joined),
		cmocka_unit_test(colours_are_the_same_in_each_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
