/*
 * The report of zones, drawn on a device that writes down what it draws: where titles, header,
 * rows and numbers stand, and which rows are seen.  What the report says is made by hand here.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

#include "../draw_tape.h"
#include "../unit.h"
#include "zones_gl/paint.h"

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
	tape_erase();
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
	assert_string_equal(zone->name, "prof_draw");
	depth++;
}

void Prof_leave(void)
{
	depth--;
}

/* No graph is asked for. */
void Prof_graph(int num_frames, void (*callback)(int id, int x0, int x1, float *values, void *data),
	void *data)
{
	(void)num_frames;
	(void)callback;
	(void)data;
	fail();
}

/* ---- the report, drawn ---- */

TEST(texts_and_numbers_are_there)
{
	make_report();
	Prof_draw_report(&tape_with_text, &report, 10, 30, 600, 200, 20, 2);
	tape_find("zone");
	tape_find("self");
	tape_find("hier");
	tape_find("count");
	tape_find("+my_parent1");
	tape_find("-my_routine");
	/* No prefix, and a depth of recursion. */
	tape_find("my_child3 (2)");
	tape_find("5.75");
	tape_find("4.00");
	/* Both the self time and, rounded, the hierarchical one. */
	assert_false(tape_has("0.49"));
	assert_int_equal(tape.boxes_after_text, 0);
}

TEST(titles_and_headers_are_seen)
{
	make_report();
	report.title[1] = title_second;
	Prof_draw_report(&tape_with_text, &report, 10, 30, 600, 200, 20, 2);
	for (int i = 0; i < tape.texts; i++)
		assert_true(tape.text[i].rgba[3] == 1);
	assert_true(tape_find(title_first)->y == 30);
	/* A line and a half lower. */
	assert_true(tape_find(title_second)->y == 60);
	assert_true(tape_find("zone")->y == 90);
	assert_true(tape_find("+my_parent1")->y == 110);
	/* Green, red. */
	assert_true(tape_box_at(300, 28)->rgba[1] > tape_box_at(300, 28)->rgba[0]);
	assert_true(tape_box_at(300, 58)->rgba[1] < tape_box_at(300, 58)->rgba[0]);
}

TEST(numbers_end_below_each_other)
{
	float field = 7 * 8 + 12;

	make_report();
	Prof_draw_report(&tape_with_text, &report, 10, 30, 600, 200, 20, 2);
	const struct tape_text *routine = tape_find("1.75"), *parent = tape_find("0.75"),
			       *last = tape_find("10.00");

	/* Indented rows end one "+" further right, the others so far from the field's end. */
	assert_true(routine->x + 32 == 610 - 2 * field - 10);
	assert_true(parent->x + 32 == 610 - 2 * field - 2);
	assert_true(last->x + 40 == 610 - 10);
	/* The header is within its field. */
	assert_true(fabsf(tape_find("self")->x + 16 - (610 - 2.5f * field)) < .01f);
	/* Names: indented by spaces; without prefix by a "+" more. */
	assert_true(tape_find("-my_routine")->x == 10 + 4);
	assert_true(tape_find("+my_parent1")->x == 10 + 4 + 24);
	assert_true(tape_find("my_child3 (2)")->x == 10 + 12 + 24);
}

TEST(rows_alternate_and_the_cursor_differs)
{
	make_report();
	Prof_draw_report(&tape_with_text, &report, 10, 30, 600, 200, 20, 2);
	const float *first = tape_box_at(300, 78)->rgba, *second = tape_box_at(300, 98)->rgba;
	const float *cursor = tape_box_at(300, 118)->rgba, *fourth = tape_box_at(300, 138)->rgba;

	assert_memory_not_equal(first, second, 16);
	assert_memory_equal(second, fourth, 16);
	assert_memory_not_equal(cursor, first, 16);
	/* Olive. */
	assert_true(cursor[0] == cursor[1] && cursor[2] < cursor[0]);
	/* A zone's colour marks its row, the same as its line's in the graph. */
	float colour[4];

	zone_colour(zone_hash("my_routine"), colour);
	assert_memory_equal(tape_box_at(11, 118)->rgba, colour, 16);
}

TEST(precision_is_of_times)
{
	static const char *const times[] = {"5.8", "5.8", "5.75", "5.750", "5.7500", "5.7500"};

	for (int precision = 0; precision <= 5; precision++) {
		make_report();
		Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 20, precision);
		tape_find(times[precision]);
		tape_find("10.00");
	}
}

TEST(values_without_flag_are_left_out)
{
	make_report();
	records[2].value_flag = 2;
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 20, 2);
	assert_false(tape_has("1.75"));
	tape_find("5.75");
	assert_false(tape_has("10.00"));
}

TEST(heat_changes_colours)
{
	make_report();
	records[0].heat = .5;
	records[1].heat = 1;
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 20, 2);
	const struct tape_text *cold = tape_find("-my_routine"), *warm = tape_find("+my_parent1");
	int glows = 0;

	assert_true(fabsf(cold->rgba[0] - .15f) < .001f && fabsf(cold->rgba[1] - .9f) < .001f);
	assert_true(fabsf(warm->rgba[0] - .575f) < .001f);
	for (int i = 0; i + 1 < tape.texts; i++) {
		const struct tape_text *glow = &tape.text[i], *hot = glow + 1;

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

TEST(the_cursor_is_always_seen)
{
	/* A title, a header, 5.5 lines: five rows. */
	make_rows(12, 8);
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(tape_has("r8") && tape_has("r4"));
	assert_false(tape_has("r3") || tape_has("r9"));
	assert_true(tape_find("r8")->y == 30 + 5 * 20);
	/* The bar that says there is more: rows 5 to 9 of 12. */
	const struct tape_box *bar = tape_box_at(599, 34.4f + 100 * 4.0f / 12 + 1);

	assert_true(fabsf(bar->y1 - bar->y0 - 100 * 5.0f / 12) < .1f);
	make_rows(12, 2);
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(tape_has("r0") && tape_has("r4") && !tape_has("r5"));
	make_rows(12, -1);
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 160, 20, 2);
	assert_true(tape_has("r0") && !tape_has("r5"));
}

TEST(no_room_is_no_row)
{
	for (int height = -1; height <= 50; height++) {
		make_rows(12, 11);
		Prof_draw_report(&tape_with_text, &report, 0, 0, 600, (float)height, 20, 2);
		assert_false(tape_has("r11"));
	}
	make_rows(0, -1);
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 20, 2);
	tape_find("zone");
	make_rows(5, 0);
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 0, 2);
	assert_int_equal(tape.boxes + tape.texts, 0);
}

TEST(lines_closer_than_a_unit)
{
	/* Half a unit a line, upwards: abs() of an int would make that none. */
	make_rows(12, 0);
	Prof_draw_report(&tape_without_text, &report, 0, 9, 40, 8, -.5f, 2);
	assert_true(tape.boxes > 100);
	for (int i = 0; i < tape.boxes; i++) {
		assert_in_range(tape.box[i].x1, 0, 40);
		assert_true(tape.box[i].y1 <= 9.5f && tape.box[i].y0 >= 1);
	}
}

TEST(upwards_is_a_mirror)
{
	static struct tape down;

	make_report();
	Prof_draw_report(&tape_without_text, &report, 10, 30, 600, 200, 20, 2);
	down = tape;
	make_report();
	Prof_draw_report(&tape_without_text, &report, 10, -30, 600, 200, -20, 2);
	assert_int_equal(tape.boxes, down.boxes);
	for (int i = 0; i < tape.boxes; i++) {
		assert_true(fabsf(tape.box[i].y0 + down.box[i].y1) < .01f);
		assert_true(tape.box[i].x0 == down.box[i].x0);
	}
}

TEST(long_names_end_in_dots)
{
	make_report();
	records[0].name = (char *)"std::vector<std::pair<int, std::string>>::emplace_back";
	records[1].name = (char *)"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
	records[1].indent = 0;
	/* Names have 400 - 3 * 68. */
	Prof_draw_report(&tape_with_text, &report, 0, 0, 400, 200, 20, 2);
	tape_find("+std::vector<std::p..");
	tape_find("+\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4");
	make_report();
	records[1].name = (char *)"\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
	records[1].indent = 0;
	Prof_draw_report(&tape_with_text, &report, 0, 0, 204 + 100, 200, 20, 2);
	tape_find("+\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4..");
	/* And none at all. */
	make_report();
	Prof_draw_report(&tape_with_text, &report, 0, 0, 100, 200, 20, 2);
	tape_find("5.75");
}

TEST(control_characters_are_not_printed)
{
	make_report();
	records[2].name = (char *)"a\nb\x1b[1m";
	Prof_draw_report(&tape_with_text, &report, 0, 0, 600, 200, 20, 2);
	tape_find("-a?b?[1m");
}

TEST(a_report_is_made_and_freed)
{
	make_report();
	reports_made = reports_freed = 0;
	Prof_draw_device(&tape_with_text, 0, 0, 600, 200, 20, 2);
	tape_find("5.75");
	assert_int_equal(reports_made, 1);
	assert_int_equal(reports_freed, 1);
	assert_int_equal(depth, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
