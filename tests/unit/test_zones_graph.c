/*
 * The graph of zones, and the font and the numbers of both displays, drawn on a device that writes
 * down what it draws.  The history is made by hand here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "../draw_tape.h"
#include "../unit.h"
#include "zones_gl/font.h"
#include "zones_gl/glyphs.h"
#include "zones_gl/graph.h"
#include "zones_gl/number.h"
#include "zones_gl/paint.h"

/* No report is asked for. */
Prof_Report *Prof_create_report(void)
{
	fail();
	return NULL;
}

void Prof_free_report(Prof_Report *report)
{
	(void)report;
	fail();
}

static int depth;

void Prof_enter(Prof_Zone *zone)
{
	assert_string_equal(zone->name, "prof_draw_graph");
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
	tape_erase();
	memset(history, 0, sizeof history);
	memset(history_from, 0, sizeof history_from);
	shown_frame = 0;
}

/* ---- the graph ---- */

TEST(zones_are_lines)
{
	float colour[4];

	forget_history();
	for (int i = 0; i < 128; i++)
		history[0][i] = .001f * (float)(i + 1);
	Prof_draw_graph_device(&tape_with_text, 100, 500, 2, -10, 128);
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

TEST(ends_that_took_nothing_are_trimmed)
{
	forget_history();
	for (int i = 40; i < 60; i++)
		history[0][i] = .001f;
	history[0][50] = 0;
	history[1][70] = .00019f;
	/* One slow frame is a spike. */
	history[2][90] = .005f;
	Prof_draw_graph_device(&tape_with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	assert_int_equal(tape.strip[0].num, 22);
	assert_true(tape.strip[0].xy[0] == 39 && tape.strip[0].xy[2 * 21] == 60);
	assert_int_equal(tape.strip[1].num, 3);
	assert_true(tape.strip[1].xy[2] == 90 && fabsf(tape.strip[1].xy[3] - 5) < .001f);
}

TEST(few_frames_are_at_the_right)
{
	forget_history();
	history_from[0] = 125;
	history_from[1] = 127;
	for (int i = 0; i < 3; i++)
		history[0][i] = .001f;
	history[1][0] = .002f;
	Prof_draw_graph_device(&tape_with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	assert_int_equal(tape.strip[0].num, 3);
	assert_true(tape.strip[0].xy[0] == 125);
	/* A single frame has no line through it, so it has one below it. */
	assert_int_equal(tape.strip[1].num, 2);
	assert_true(tape.strip[1].xy[0] == 127 && tape.strip[1].xy[1] == 0);
	assert_true(tape.strip[1].xy[2] == 127 && tape.strip[1].xy[3] == 2);
}

TEST(the_shown_frame_is_marked)
{
	const struct tape_strip *mark;

	forget_history();
	for (int i = 0; i < 128; i++)
		history[0][i] = .010f;
	shown_frame = 27;
	Prof_draw_graph_device(&tape_with_text, 0, 0, 1, 1, 128);
	assert_int_equal(tape.strips, 2);
	mark = &tape.strip[1];
	assert_true(mark->xy[0] == 100 && mark->xy[2] == 100);
	assert_true(mark->xy[1] == 0 && fabsf(mark->xy[3] - 11) < .001f);
	assert_true(mark->rgba[0] == 1 && mark->rgba[2] == 1);
}

/* Frames of 4 ms but one of 50, with an edge 20 up or down, at a scale of 1 a ms. */
static void draw_within(float y, float edge, float y_per_ms)
{
	struct graph_place place = {0, y, edge};

	forget_history();
	for (int i = 0; i < 128; i++)
		history[0][i] = .004f;
	history[0][100] = .050f;
	shown_frame = 27;
	graph_draw(&tape_with_text, &place, 1, y_per_ms, 128);
	assert_int_equal(tape.strips, 2);
}

static float line_at(int frame)
{
	return tape.strip[0].xy[2 * frame + 1];
}

TEST(nothing_runs_off_the_edge)
{
	draw_within(590, 570, -1);
	assert_true(fabsf(line_at(99) - 586) < .001f);
	assert_true(line_at(100) > 570 && line_at(100) < 571);
	assert_true(tape.strip[1].xy[3] == line_at(100)); /* the mark, too */
	draw_within(-10, 10, 1);
	assert_true(fabsf(line_at(99) - -6) < .001f);
	assert_true(line_at(100) < 10 && line_at(100) > 9);
	/* None is known, or it is behind the base. */
	draw_within(0, 0, 1);
	assert_true(fabsf(line_at(100) - 50) < .001f);
	draw_within(0, -5, 1);
	assert_true(fabsf(line_at(100) - 50) < .001f);
}

TEST(long_lines_are_joined)
{
	float last[2] = {0, 0};
	int points = 0;

	forget_history();
	for (int i = 0; i < 400; i++)
		history[0][i] = .001f * (float)(i % 7 + 1);
	for (int frames = 255; frames <= 259; frames++) {
		tape_erase();
		points = 0;
		Prof_draw_graph_device(&tape_with_text, 0, 0, 1, 1, frames);
		for (int i = 0; i < tape.strips; i++) {
			const struct tape_strip *s = &tape.strip[i];

			if (i)
				assert_memory_equal(s->xy, last, sizeof last);
			memcpy(last, s->xy + (ptrdiff_t)2 * (s->num - 1), sizeof last);
			points += s->num - (i > 0);
		}
		assert_int_equal(points, frames);
	}
}

TEST(colours_are_the_same_in_each_run)
{
	float a[4], b[4];

	assert_int_equal(zone_hash("a"), 0xaaaaab0bU);
	zone_colour(zone_hash("build"), a);
	zone_colour(zone_hash("walk"), b);
	assert_memory_not_equal(a, b, sizeof a);
	for (int i = 0; i < 3; i++)
		assert_true(a[i] >= 80 / 255.0f && a[i] <= 207 / 255.0f);
}

/* ---- numbers ---- */

static void expect_number(double value, int decimals, const char *wanted)
{
	char text[32];

	number_text(text, sizeof text, value, decimals, 7);
	assert_string_equal(text, wanted);
}

TEST(numbers_are_rounded)
{
	expect_number(1.999, 2, "2.00");
	expect_number(0.006, 2, "0.01");
	expect_number(99.996, 2, "100.00");
	expect_number(9.9996, 3, "10.000");
	expect_number(0.99996, 4, "1.0000");
	expect_number(0.0456, 1, "0.0");
	expect_number(16.66667, 4, "16.6667");
}

TEST(numbers_fit)
{
	expect_number(116.66667, 4, "116.667");
	expect_number(99999.996, 2, "100000");
	expect_number(1234567, 2, "1234567");
	expect_number(12345678, 2, "12.35M");
	expect_number(999999999, 2, "1.00G");
	expect_number(4e12, 2, "4.00T");
	expect_number(1e30, 2, "1e+30");
	expect_number(-12345678, 2, "-12.35M");
	expect_number(99950000, 2, "99.95M");
}

/* ---- the font ---- */

TEST(glyphs_are_whole_and_different)
{
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

TEST(dots_stand_where_they_should)
{
	static const float white[4] = {1, 1, 1, 1};

	tape_erase();
	font_draw(&tape_without_text, 100, 50, 2, " L", white);
	/* Seven rows of dots two wide, the last of them as wide as the glyph. */
	assert_int_equal(tape.boxes, 7);
	assert_true(tape.box[0].x0 == 112 && tape.box[0].x1 == 114);
	assert_true(tape.box[0].y0 == 36 && tape.box[0].y1 == 38);
	assert_true(tape.box[6].x0 == 112 && tape.box[6].x1 == 122);
	assert_true(tape.box[6].y0 == 48 && tape.box[6].y1 == 50);
	/* And where y grows upwards. */
	tape_erase();
	font_draw(&tape_without_text, 100, 50, -2, "L", white);
	assert_true(tape.box[6].y0 == 50 && tape.box[6].y1 == 52);
	assert_true(tape.box[6].x0 == 100 && tape.box[6].x1 == 110);
	assert_true(tape.box[0].y0 == 62 && tape.box[0].y1 == 64);
}

TEST(what_is_no_ascii_is_one_glyph)
{
	assert_int_equal(font_width(""), 0);
	assert_int_equal(font_width("ab"), 12);
	assert_int_equal(font_width("\xe2\x80\xa6other"), 36);
	assert_int_equal(font_width("\n\xff"), 12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_rounded),
		cmocka_unit_test(numbers_fit),
		cmocka_unit_test(glyphs_are_whole_and_different),
		cmocka_unit_test(dots_stand_where_they_should),
		cmocka_unit_test(what_is_no_ascii_is_one_glyph),
		cmocka_unit_test(zones_are_lines),
		cmocka_unit_test(ends_that_took_nothing_are_trimmed),
		cmocka_unit_test(few_frames_are_at_the_right),
		cmocka_unit_test(the_shown_frame_is_marked),
		cmocka_unit_test(nothing_runs_off_the_edge),
		cmocka_unit_test(long_lines_are_joined),
		cmocka_unit_test(colours_are_the_same_in_each_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
