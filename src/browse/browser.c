/*
 * The browser as a whole: what it holds, and running it on the terminal.
 *
 * Answers of small profiles are made when they are drawn.  Those of large ones take a noticeable
 * time, so the screen says that first, and the next tick asks.
 */
#include "browse/browse.h"

#include <stdarg.h>

#include "base/clock.h"
#include "browse/state.h"
#include "view/tui/loop.h"

/* Stacks from which on an answer takes a noticeable time. */
enum { LARGE_STACKS = 1000000, FIRST_ROWS = 200, FIRST_TREE_ROWS = 2000 };

static void begin_filters(struct browser *b)
{
	const struct filter_options *given = &b->options.question->filters;
	struct browser_filter *items =
		ARENA_ARRAY(b->arena, struct browser_filter, given->requests.count);

	for (size_t i = 0; i < given->requests.count; i++)
		items[i] = (struct browser_filter){
			given->requests.data[i].kind, given->requests.data[i].text};
	vec_push(&b->history, (struct browser_stack){items, given->requests.count});
}

void browser_set_session(struct browser *b, struct session *session)
{
	b->session = session;
	b->profile = session_profile(session);
	b->is_large = b->profile->stack_count > LARGE_STACKS;
}

struct browser *browser_create(struct session *session, const struct browse_options *options)
{
	struct browser *b = xcalloc(1, sizeof(*b));

	b->options = *options;
	b->arena = arena_create();
	browser_set_session(b, session);
	b->look_ms = BROWSE_ENDED;
	b->view = BROWSER_FUNCTIONS;
	b->collapse = COLLAPSE_FULL;
	b->roots = options->question->roots;
	b->offer = SIZE_MAX;
	for (size_t i = 0; i < BROWSER_VIEWS; i++)
		b->pages[i].limit = i == BROWSER_TREE ? FIRST_TREE_ROWS : FIRST_ROWS;
	begin_filters(b);
	return b;
}

void browser_destroy(struct browser *b)
{
	for (size_t i = 0; i < BROWSER_VIEWS; i++) {
		browser_asked_deinit(b, &b->asked[i]);
		browser_page_deinit(&b->pages[i]);
	}
	browser_tree_deinit(&b->tree);
	browser_flame_deinit(&b->flame);
	strbuf_deinit(&b->name);
	strbuf_deinit(&b->module);
	for (size_t i = 0; i < b->before.count; i++)
		free(b->before.data[i]);
	vec_deinit(&b->before);
	vec_deinit(&b->history);
	vec_deinit(&b->chips);
	vec_deinit(&b->offers);
	arena_destroy(b->arena);
	if (b->owns_session)
		session_close(b->session);
	free(b);
}

void browser_say(struct browser *b, enum tui_style style, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tui_message_set(&b->message, b->now_ms, style, format, args);
	va_end(args);
}

/* ---- on the terminal ---- */

static void tick(void *data, uint64_t now_ms)
{
	struct browser *b = data;

	b->now_ms = now_ms;
	tui_message_tick(&b->message, now_ms);
	if (b->is_due)
		(void)browser_report(b);
	b->is_due = false;
	browser_look(b);
}

static uint64_t wait_ms(void *data, uint64_t now_ms)
{
	const uint64_t forever = 60000;
	struct browser *b = data;
	uint64_t message, look;

	b->now_ms = now_ms;
	if (b->is_due)
		return 0;
	message = tui_message_wait_ms(&b->message, now_ms);
	look = browser_look_wait_ms(b);
	if (message > look)
		message = look;
	return message < forever ? message : forever;
}

static void key(void *data, uint32_t code)
{
	browser_key(data, code);
}

static void mouse(void *data, struct tui_mouse event)
{
	browser_mouse(data, event);
}

static void draw(void *data, struct tui_canvas *canvas)
{
	browser_draw(data, canvas);
}

static bool is_done(void *data)
{
	const struct browser *b = data;

	return b->is_done;
}

struct error *browse_run(
	struct session *session, const struct browse_options *options, int *signal_number)
{
	struct browser *b = browser_create(session, options);
	const struct tui_app app = {.data = b,
		.tick = tick,
		.wait_ms = wait_ms,
		.key = key,
		.mouse = mouse,
		.draw = draw,
		.is_done = is_done};

	b->now_ms = clock_monotonic_ns() / 1000000;
	if (options->live.look)
		b->look_ms = b->now_ms + options->live.every_ms;
	struct error *err = tui_loop(&app, false, signal_number);

	browser_destroy(b);
	return err;
}
