/*
 * The screen in memory: columns, wide and combining characters, what may not be there; and lines
 * that are typed.
 */

#include "view/tui/line.h"
#include "../unit.h"

static void expect_row(struct tui_canvas *canvas, unsigned y, const char *expected)
{
	struct strbuf row = {0};

	tui_canvas_row(canvas, y, &row);
	assert_string_equal(row.data ? row.data : "", expected);
	strbuf_deinit(&row);
}

TEST(canvas_keeps_columns)
{
	struct tui_canvas canvas;

	tui_canvas_init(&canvas);
	tui_canvas_clear(&canvas, 10, 3);
	/* A wide character that would stand half outside is left out. */
	assert_int_equal(tui_put(&canvas, 0, 0, 5, TUI_PLAIN, STR("漢字文")), 4);
	expect_row(&canvas, 0, "漢字");
	/* Over the half of one: the other half goes, too. */
	tui_put(&canvas, 0, 1, 10, TUI_PLAIN, STR("ab"));
	expect_row(&canvas, 0, " ab");
	/* Combining characters take no column. */
	assert_int_equal(tui_put(&canvas, 1, 0, 10, TUI_PLAIN, STR("e\u0301x")), 2);
	expect_row(&canvas, 1, "e\u0301x");
	/* Control characters cannot be. */
	tui_put(&canvas, 2, 0, 10, TUI_PLAIN, STR("a\x1b\x07z"));
	expect_row(&canvas, 2, "a??z");
	tui_put_name(&canvas, 2, 0, 10, TUI_PLAIN, STR("a\x1bz"));
	expect_row(&canvas, 2, "a\\x1bz");
	/* Outside of it nothing happens. */
	tui_put(&canvas, 3, 0, 10, TUI_PLAIN, STR("x"));
	tui_put(&canvas, 0, 12, 20, TUI_PLAIN, STR("x"));
	tui_put_right(&canvas, 1, 5, 10, TUI_PLAIN, STR("1234567"));
	expect_row(&canvas, 1, "e\u0301x   #####");
	tui_canvas_deinit(&canvas);
}

TEST(canvas_in_ascii)
{
	struct tui_canvas canvas;

	tui_canvas_init(&canvas);
	canvas.utf8 = false;
	tui_canvas_clear(&canvas, 12, 1);
	tui_put(&canvas, 0, 0, 12, TUI_PLAIN, STR("█▁│ö漢e\u0301"));
	expect_row(&canvas, 0, "#_|\?\?\?e");
	tui_canvas_deinit(&canvas);
}

TEST(lines_are_edited)
{
	struct tui_line line = {.text = ""};

	assert_true(tui_line_key(&line, 'a'));
	assert_true(tui_line_key(&line, 0x6f22)); /* three bytes */
	assert_true(tui_line_key(&line, ' '));
	assert_true(tui_line_key(&line, 'b'));
	assert_string_equal(line.text, "a\u6f22 b");
	assert_true(tui_line_key(&line, TUI_CONTROL('w')));
	assert_string_equal(line.text, "a\u6f22 ");
	assert_true(tui_line_key(&line, TUI_KEY_BACKSPACE));
	assert_true(tui_line_key(&line, TUI_KEY_BACKSPACE));
	assert_string_equal(line.text, "a");
	assert_false(tui_line_key(&line, TUI_KEY_UP));
	assert_false(tui_line_key(&line, 0x1b));
	assert_true(tui_line_key(&line, TUI_CONTROL('u')));
	assert_true(tui_line_key(&line, TUI_KEY_BACKSPACE));
	assert_string_equal(line.text, "");
	for (int i = 0; i < 1000; i++)
		tui_line_key(&line, 0x1f600);
	assert_int_equal(strlen(line.text), 252);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(canvas_keeps_columns),
		cmocka_unit_test(canvas_in_ascii),
		cmocka_unit_test(lines_are_edited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
