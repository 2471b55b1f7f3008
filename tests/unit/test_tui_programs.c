/*
 * The terminal view's list of programs, and which one it is attached to.
 */

#include "../tui_world.h"
#include "../unit.h"

TEST(programs_are_listed_and_chosen)
{
	struct world w;

	world_init(&w);
	add_frame(&w, 1);
	start(&w, true);
	SEE_ORDER(&w, "11 running", "12 running", "13 running");
	press(&w, "ser");
	see(&w, "server");
	see_not(&w, "quake");
	press_key(&w, TUI_KEY_ESCAPE);
	press(&w, "/q");
	see(&w, "quake");
	see_not(&w, "server");
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "13 has no zones");
	press_key(&w, TUI_KEY_ESCAPE);
	w.programs = 2;
	pass_ms(&w, 1100);
	SEE_ORDER(&w, "11 running", "12 running", "13 ended");
	press_key(&w, TUI_KEY_HOME);
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "pid 11");
	press(&w, "l");
	see(&w, "Programs with zones");
	press(&w, "q");
	assert_true(tui_model_is_done(w.model));
	world_deinit(&w);
}

/* Its last state is not thrown away by a look at the list, whose row tells how it was last. */
TEST(what_has_ended_is_kept)
{
	struct world w;

	world_init(&w);
	add_frame(&w, 1);
	start(&w, true);
	SEE_ORDER(&w, "11 running 0 0 0 game", "12 running");
	press_key(&w, TUI_KEY_HOME);
	press_key(&w, TUI_KEY_ENTER);
	for (int i = 0; i < 20; i++)
		add_frame(&w, 1);
	w.programs = 0;
	w.state = TUI_ENDED;
	pass_ms(&w, 1100);
	see(&w, "pid 11 ended");
	press(&w, "l");
	SEE_ORDER(&w, "11 ended 4 0 21 game", "12 ended 0 0 0 server");
	/* Others are forgotten after a while. */
	pass_ms(&w, 61000);
	see_not(&w, "12 ended");
	see_cursor_on(&w, "11 ended");
	press_key(&w, TUI_KEY_ENTER);
	see(&w, "pid 11 ended");
	see(&w, "of 21 frames");
	world_deinit(&w);
}

TEST(no_programs)
{
	struct world w;

	world_init(&w);
	w.programs = 0;
	start(&w, true);
	see(&w, "No program has zones");
	press_key(&w, TUI_KEY_ENTER);
	press_key(&w, TUI_KEY_DOWN);
	press_key(&w, TUI_KEY_ESCAPE);
	assert_true(tui_model_is_done(w.model));
	world_deinit(&w);
}

TEST(follows_exec)
{
	struct world w;

	world_of_frames(&w);
	press(&w, "p");
	see(&w, "PAUSED");
	w.is_replaced = true;
	pass_ms(&w, 600);
	see(&w, "exec: these are its new zones");
	see_not(&w, "PAUSED");
	see(&w, "of 20 frames");
	world_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_listed_and_chosen),
		cmocka_unit_test(what_has_ended_is_kept),
		cmocka_unit_test(no_programs),
		cmocka_unit_test(follows_exec),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
