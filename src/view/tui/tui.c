/* Runs the model of the terminal view of zones on the terminal. */
#include "view/tui/tui.h"

#include "base/clock.h"
#include "view/tui/loop.h"
#include "view/tui/model.h"

static void tick(void *data, uint64_t now_ms)
{
	tui_model_tick(data, now_ms);
}

static uint64_t wait_ms(void *data, uint64_t now_ms)
{
	return tui_model_wait_ms(data, now_ms);
}

static void key(void *data, uint32_t code)
{
	tui_model_key(data, code);
}

static void mouse(void *data, struct tui_mouse event)
{
	tui_model_mouse(data, event);
}

static void draw(void *data, struct tui_canvas *canvas)
{
	tui_model_draw(data, canvas);
}

static bool is_done(void *data)
{
	return tui_model_is_done(data);
}

struct error *tui_run(
	const struct tui_host *host, const struct tui_options *options, int *signal_number)
{
	if (!tui_is_built())
		return error_new(ERROR_UNSUPPORTED,
			"this sonde is built without ncurses and has no terminal view; "
			"`sonde live --once` prints the same once");
	struct tui_model *model = tui_model_create(host, options, clock_monotonic_ns() / 1000000);
	struct tui_app app = {.data = model,
		.tick = tick,
		.wait_ms = wait_ms,
		.key = key,
		.mouse = mouse,
		.draw = draw,
		.is_done = is_done};
	struct error *err = tui_model_start(model);

	if (!err)
		err = tui_loop(&app, options->no_color, signal_number);
	tui_model_destroy(model);
	return err;
}
