/*
 * The terminal view without a terminal: keys and mouse in, and what is on the canvas.
 */
#include <stdlib.h>
#include <string.h>

#include "../tui_world.h"
#include "../unit.h"

TEST(shows_what_there_is)
{
	struct world w;

	world_of_frames(&w);
	see(&w, "game");
	see(&w, "running");
	see(&w, "2 threads");
	press(&w, "s");
	SEE_ORDER(&w, "self ms▼", "physics", "frame", "col\\x1b[2Jlide", "ai");
	world_deinit(&w);
}

TEST(figures_are_those_of_the_frame)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s"); /* the last frame alone */
	SEE_ORDER(&w, "+physics 6.000 9.000 2.00", " col\\x1b[2Jlide 3.000 3.000 1.00",
		" ai 1.000 1.000 1.00");
	see(&w, "10.000 ms/frame 100.0 fps");
	see(&w, "max 30.00 of 20 frames");
	world_deinit(&w);
}

TEST(modes_have_their_order)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s2");
	SEE_ORDER(&w, "hier ms▼", "frame", "physics", "col\\x1b", "ai");
	press(&w, "5");
	SEE_ORDER(&w, "zone▲", "_global", " ai", "col\\x1b", "frame", "physics");
	press(&w, "m");
	SEE_ORDER(&w, "self ms▼", "physics", "ai");
	world_deinit(&w);
}

TEST(selects_and_goes_up)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s/phy");
	see_cursor_on(&w, "+physics");
	press_key(&w, TUI_KEY_ENTER);
	press_key(&w, TUI_KEY_ENTER);
	see_cursor_on(&w, "-physics");
	SEE_ORDER(&w, " +_global", " +frame", "-physics", " col\\x1b");
	press_key(&w, TUI_KEY_BACKSPACE);
	see_cursor_on(&w, "-frame");
	press(&w, "4");
	SEE_ORDER(&w, "-frame", "physics", "col\\x1b");
	world_deinit(&w);
}

TEST(sorts_by_any_column)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s");
	draw(&w);
	press(&w, "<"); /* before self is the name */
	SEE_ORDER(&w, "zone▲", "_global", " ai", "col\\x1b", "frame", "physics");
	press(&w, "I");
	SEE_ORDER(&w, "zone▼", "physics", "frame", "col\\x1b", " ai");
	/* The head of "count". */
	unsigned y = 0, x = 0;

	for (; y < 24; y++) {
		strbuf_clear(&w.screen);
		tui_canvas_row(&w.canvas, y, &w.screen);
		const char *at = w.screen.data ? strstr(w.screen.data, "count") : NULL;

		if (at) {
			x = (unsigned)(at - w.screen.data) - 2; /* of the sign, three bytes */
			break;
		}
	}
	tui_model_mouse(w.model, (struct tui_mouse){.click = TUI_CLICK, .x = x, .y = y});
	SEE_ORDER(&w, "count▼", "physics", "_global");
	world_deinit(&w);
}

TEST(searches)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s/A");
	see(&w, "Search: A");
	see_cursor_on(&w, "_global");
	press(&w, "I");
	see_cursor_on(&w, "ai");
	press(&w, "xx");
	see(&w, "not found");
	press_key(&w, TUI_KEY_ESCAPE);
	see_cursor_on(&w, "_global"); /* where it was */
	press(&w, "/a");
	press_key(&w, TUI_KEY_ENTER);
	press(&w, "n");
	see_cursor_on(&w, "frame");
	press(&w, "n");
	see_cursor_on(&w, "ai");
	press(&w, "NN");
	see_cursor_on(&w, "_global");
	world_deinit(&w);
}

TEST(paused_stays_as_it_is)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "p");
	see(&w, "PAUSED");
	char *before = strdup(draw(&w));

	for (int i = 0; i < 10; i++)
		add_frame(&w, 7);
	pass_ms(&w, 150);
	assert_string_equal(draw(&w), before);
	press(&w, "p");
	see_not(&w, "PAUSED");
	press(&w, "s");
	see(&w, "16.000 ms/frame");
	see(&w, "of 30 frames");
	free(before);
	world_deinit(&w);
}

TEST(goes_back_and_holds)
{
	struct world w;

	world_of_frames(&w);
	press_key(&w, TUI_KEY_LEFT);
	see(&w, "frame 18, 1 ago, 10.00 ms");
	press(&w, "x");
	see(&w, "frame 15, 4 ago, 30.00 ms");
	SEE_ORDER(&w, "ai 21.000 21.000 1.00");
	add_frame(&w, 1);
	pass_ms(&w, 150);
	see(&w, "frame 15, 4 ago"); /* it does not run away */
	for (int i = 0; i < 4; i++)
		press_key(&w, TUI_KEY_RIGHT);
	see_not(&w, " ago");
	see(&w, "of 21 frames");
	for (int i = 0; i < 50; i++)
		press_key(&w, TUI_KEY_LEFT);
	see(&w, "frame 0, 20 ago");
	press_key(&w, TUI_KEY_ESCAPE);
	see_not(&w, " ago");
	world_deinit(&w);
}

/* Also if that is the last one, which is no frame "ago". */
TEST(shows_the_slowest)
{
	struct world w;

	world_of_frames(&w);
	add_frame(&w, 31);
	pass_ms(&w, 150);
	press(&w, "x");
	see(&w, "frame 20, 0 ago, 40.00 ms");
	see(&w, " ai 31.000 31.000 1.00");
	add_frame(&w, 1);
	pass_ms(&w, 150);
	see(&w, "frame 20, 0 ago, 40.00 ms");
	press_key(&w, TUI_KEY_LEFT);
	see(&w, "frame 19, 1 ago, 10.00 ms");
	press(&w, "p");
	see(&w, "average 0.8 s");
	see_not(&w, " ago");
	world_deinit(&w);
}

TEST(graph_is_clicked)
{
	struct world w;

	world_of_frames(&w);
	draw(&w);
	/* The right column is the last frame; the graph is below the two lines of the header. */
	tui_model_mouse(w.model, (struct tui_mouse){.click = TUI_CLICK, .x = 79 - 4, .y = 3});
	see(&w, "frame 15, 4 ago");
	assert_int_equal(w.canvas.cell[3 * 80 + 75].style, TUI_BAR_SHOWN);
	press(&w, "0");
	draw(&w);
	assert_int_equal(w.canvas.cell[3 * 80 + 75].style, TUI_BAR_SLOW);
	assert_int_equal(w.canvas.cell[3 * 80 + 76].style, TUI_BAR);
	world_deinit(&w);
}

TEST(freezes_on_a_slow_frame)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "f20");
	see(&w, "20");
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "20 ms");
	add_frame(&w, 1);
	add_frame(&w, 40);
	add_frame(&w, 2);
	pass_ms(&w, 150);
	see(&w, "FROZEN at frame 21, 49.00 ms");
	SEE_ORDER(&w, "ai 40.000");
	add_frame(&w, 3);
	pass_ms(&w, 150);
	see(&w, "FROZEN at frame 21");
	press(&w, "p");
	see_not(&w, "FROZEN");
	world_deinit(&w);
}

TEST(one_thread_alone)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "st");
	see(&w, "kernel-101");
	press_key(&w, TUI_KEY_DOWN);
	press_key(&w, TUI_KEY_DOWN);
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "thread 101 kernel-101");
	SEE_ORDER(&w, "_global", " physics 4.000 4.000");
	press_key(&w, TUI_KEY_ESCAPE);
	see_not(&w, "thread 101");
	world_deinit(&w);
}

TEST(ended_program_keeps_its_last_state)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "s");
	w.state = TUI_ENDED;
	w.detail = "killed by \x1b]0;SIGSEGV";
	add_frame(&w, 5); /* that it had not seen yet */
	pass_ms(&w, 150);
	see(&w, "ended (killed by \\x1b]0;SIGSEGV)");
	see(&w, "14.000 ms/frame");
	pass_ms(&w, 150);
	see(&w, "14.000 ms/frame");
	world_deinit(&w);
}

TEST(program_without_frames)
{
	struct world w;

	world_init(&w);
	start(&w, false);
	see(&w, "no frames yet");
	for (int i = 0; i < 5; i++) {
		zone_maker_enter(&w.m, w.main, w.physics);
		zone_maker_pass(&w.m, 100 * ms);
		zone_maker_leave(&w.m, w.main);
		pass_ms(&w, 100);
	}
	see(&w, "no frames: times are per 100 ms");
	SEE_ORDER(&w, "physics 100.000 100.000");
	/* The whole run. */
	press(&w, "u");
	see(&w, "the whole run, 0.5 s");
	SEE_ORDER(&w, "physics 500.000 500.000 5");
	/* That of a server: figures keep to their columns. */
	zone_maker_enter(&w.m, w.main, w.physics);
	zone_maker_pass(&w.m, 30 * UINT64_C(86400000) * ms);
	zone_maker_leave(&w.m, w.main);
	pass_ms(&w, 100);
	SEE_ORDER(&w, "physics 2592000500 2592000500 6");
	press(&w, "/phys");
	press_key(&w, TUI_KEY_ENTER);
	press(&w, "i");
	see(&w, "self 2592000512 2592000512 2592000512 2592000512 2592000512");
	see(&w, "count 6.000 6.000 6.000 6.000 6.000");
	see(&w, "of one frame, in ms");
	world_deinit(&w);
}

TEST(a_program_that_begins_with_frames)
{
	struct world w;

	world_init(&w);
	start(&w, false);
	pass_ms(&w, 100);
	see(&w, "each 100 ms");
	add_frame(&w, 1);
	pass_ms(&w, 100);
	see(&w, "each frame");
	see(&w, "10.000 ms/frame");
	world_deinit(&w);
}

TEST(saves_and_does_not_overwrite)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "w");
	see(&w, "Save to file: game-");
	press_key(&w, TUI_CONTROL('u'));
	press(&w, "x y");
	press_key(&w, TUI_CONTROL('w'));
	press(&w, "z.zones");
	press_key(&w, TUI_KEY_ENTER);
	assert_string_equal(w.saved, "x z.zones");
	see(&w, "saved as x z.zones");
	press(&w, "w");
	press_key(&w, TUI_CONTROL('u'));
	press(&w, "x z.zones");
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "there is such a file");
	world_deinit(&w);
}

TEST(troubles_are_shown)
{
	struct world w;

	world_of_frames(&w);
	w.m.header->trouble[ZONEWIRE_MISSING_END] = 3;
	w.m.header->trouble_open = w.collide;
	w.m.header->trouble_ended = w.physics;
	pass_ms(&w, 150);
	draw(&w);
	const char *line = strstr(w.screen.data, "col\\x1b[2Jlide");

	assert_non_null(line);
	assert_non_null(strstr(w.screen.data, "physics"));
	bool is_red = false;

	for (unsigned x = 0; x < w.canvas.width; x++)
		is_red |= w.canvas.cell[2 * w.canvas.width + x].style == TUI_TROUBLE;
	assert_true(is_red);
	world_deinit(&w);
}

/* At every size, and whatever is on the screen, nothing stands where it may not. */
TEST(every_size_is_drawn)
{
	static const char *const screens[] = {"", "3", "i", "h", "t", "/a", "f", "x"};
	static const unsigned widths[] = {1, 2, 3, 7, 12, 20, 39, 40, 41, 60, 79, 133, 200, 500};
	static const unsigned heights[] = {1, 2, 3, 4, 5, 7, 11, 12, 16, 24, 60, 200};

	for (size_t s = 0; s < ARRAY_SIZE(screens); s++) {
		struct world w;

		world_of_frames(&w);
		press(&w, screens[s]);
		for (size_t i = 0; i < ARRAY_SIZE(widths); i++)
			for (size_t j = 0; j < ARRAY_SIZE(heights); j++) {
				draw_at(&w, widths[i], heights[j]);
				press_key(&w, TUI_KEY_DOWN);
				assert_null(strchr(w.screen.data, '\x1b'));
			}
		world_deinit(&w);
	}
}

TEST(help_is_there_and_goes)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "h");
	see(&w, "call graph around the zone");
	see_not(&w, "mostly the cost");
	for (int i = 0; i < 40; i++)
		press_key(&w, TUI_KEY_DOWN);
	see(&w, "mostly the cost");
	press_key(&w, TUI_KEY_ESCAPE);
	see_not(&w, "mostly the cost");
	assert_false(tui_model_is_done(w.model));
	press(&w, "q");
	assert_true(tui_model_is_done(w.model));
	world_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_what_there_is),
		cmocka_unit_test(figures_are_those_of_the_frame),
		cmocka_unit_test(modes_have_their_order),
		cmocka_unit_test(selects_and_goes_up),
		cmocka_unit_test(sorts_by_any_column),
		cmocka_unit_test(searches),
		cmocka_unit_test(paused_stays_as_it_is),
		cmocka_unit_test(goes_back_and_holds),
		cmocka_unit_test(shows_the_slowest),
		cmocka_unit_test(graph_is_clicked),
		cmocka_unit_test(freezes_on_a_slow_frame),
		cmocka_unit_test(one_thread_alone),
		cmocka_unit_test(ended_program_keeps_its_last_state),
		cmocka_unit_test(program_without_frames),
		cmocka_unit_test(a_program_that_begins_with_frames),
		cmocka_unit_test(saves_and_does_not_overwrite),
		cmocka_unit_test(troubles_are_shown),
		cmocka_unit_test(every_size_is_drawn),
		cmocka_unit_test(help_is_there_and_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
