/*
 * The loop between the terminal and what is shown on it.
 *
 * Signals only leave a word behind; what they want is done between two steps of the loop.  ncurses'
 * own handler of SIGTSTP gives the terminal back right where the signal comes, and hangs if that
 * was writing its output.
 */
#include "view/tui/loop.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "view/tui/terminal.h"

static volatile sig_atomic_t caught, must_stop, was_stopped;

static void on_signal(int number)
{
	if (number == SIGTSTP)
		must_stop = 1;
	else if (number == SIGCONT)
		was_stopped = 1;
	else
		caught = number;
}

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCONT};

static void catch_signals(struct sigaction before[ARRAY_SIZE(signals)])
{
	struct sigaction action = {.sa_handler = on_signal};

	caught = must_stop = was_stopped = 0;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, &before[i]);
}

/* Stops, as the user requested with the terminal, and returns when the shell continues it. */
static void stop(void)
{
	struct sigaction ours, usual = {.sa_handler = SIG_DFL};

	must_stop = 0;
	terminal_leave();
	sigaction(SIGTSTP, &usual, &ours);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &ours, NULL);
}

static uint64_t now_ms(void)
{
	return clock_monotonic_ns() / 1000000;
}

/* Handles all input; returns whether there was any. */
static bool take_input(const struct tui_app *app)
{
	struct tui_mouse mouse;
	uint32_t key;
	bool has_input = false;

	while (!app->is_done(app->data)) {
		enum terminal_event event = terminal_read(&key, &mouse);

		if (event == TERMINAL_NOTHING)
			break;
		if (event == TERMINAL_KEY)
			app->key(app->data, key);
		else if (event == TERMINAL_MOUSE)
			app->mouse(app->data, mouse);
		has_input = true;
	}
	return has_input;
}

static void draw(const struct tui_app *app, struct tui_canvas *canvas)
{
	unsigned width, height;

	terminal_size(&width, &height);
	tui_canvas_clear(canvas, width, height);
	app->draw(app->data, canvas);
	terminal_show(canvas);
}

static void loop(const struct tui_app *app)
{
	struct tui_canvas canvas;
	bool is_there = true;

	tui_canvas_init(&canvas);
	canvas.utf8 = terminal_is_utf8();
	draw(app, &canvas);
	while (is_there && !caught && !app->is_done(app->data)) {
		is_there = terminal_wait(app->wait_ms(app->data, now_ms()));
		if (must_stop)
			stop();
		bool has_input = take_input(app) || was_stopped;

		if (was_stopped)
			terminal_redraw();
		was_stopped = 0;
		bool is_due = app->wait_ms(app->data, now_ms()) == 0;

		app->tick(app->data, now_ms());
		if (has_input || is_due)
			draw(app, &canvas);
	}
	tui_canvas_deinit(&canvas);
}

bool tui_is_built(void)
{
	return true;
}

struct error *tui_loop(const struct tui_app *app, bool no_color, int *signal_number)
{
	struct sigaction before[ARRAY_SIZE(signals)];
	struct error *err = terminal_open(no_color);

	if (err)
		return err;
	catch_signals(before);
	loop(app);
	terminal_close();
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &before[i], NULL);
	*signal_number = caught;
	return NULL;
}
