/*
 * The model's core: creation, timing, and dispatch of keys and mouse.
 *
 * The memory and the program's state are read once per interval, the list of programs once a
 * second.  Nothing else happens without input.
 */
#include "view/tui/model.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "view/tui/model_state.h"

enum { INTERVAL_MS = 100, LIST_MS = 1000 };

struct tui_model *tui_model_create(
	const struct tui_host *host, const struct tui_options *options, uint64_t now_ms)
{
	struct tui_model *m = xcalloc(1, sizeof(*m));

	m->host = host;
	m->options = *options;
	if (!m->options.interval_ms)
		m->options.interval_ms = INTERVAL_MS;
	m->freeze_ms = options->freeze_over_ms > 0 ? options->freeze_over_ms : 0;
	m->now_ms = now_ms;
	m->table.query = options->query ? *options->query : (struct zone_query)ZONE_QUERY_INIT;
	m->start = (struct tui_start){.zone = options->zone, .thread = options->thread};
	m->table.sort = TUI_SORT_MODE;
	m->graph.per_column = 1;
	return m;
}

void tui_model_destroy(struct tui_model *m)
{
	if (!m)
		return;
	tui_detach(m);
	tui_table_deinit(&m->table);
	tui_programs_deinit(&m->programs);
	vec_deinit(&m->thread_slots);
	free(m);
}

struct error *tui_model_start(struct tui_model *m)
{
	if (!m->options.choose)
		return tui_attach(m, 0);
	m->screen = TUI_SCREEN_PROGRAMS;
	m->list_ms = m->now_ms;
	return tui_programs_refresh(m);
}

void tui_say(struct tui_model *m, enum tui_style style, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tui_message_set(&m->message, m->now_ms, style, format, args);
	va_end(args);
}

void tui_say_error(struct tui_model *m, struct error *err)
{
	tui_say(m, TUI_TROUBLE, "%s", err->message);
	error_destroy(err);
}

void tui_model_tick(struct tui_model *m, uint64_t now_ms)
{
	m->now_ms = now_ms;
	tui_message_tick(&m->message, now_ms);
	if (m->screen == TUI_SCREEN_PROGRAMS) {
		if (now_ms - m->list_ms < LIST_MS)
			return;
		struct error *err = tui_programs_refresh(m);

		m->list_ms = now_ms;
		if (err)
			tui_say_error(m, err);
	} else if (now_ms - m->look_ms >= m->options.interval_ms) {
		m->look_ms = now_ms;
		tui_attached_look(m);
	}
}

uint64_t tui_model_wait_ms(const struct tui_model *m, uint64_t now_ms)
{
	bool is_list = m->screen == TUI_SCREEN_PROGRAMS;
	uint64_t last = is_list ? m->list_ms : m->look_ms;
	uint64_t due = last + (is_list ? LIST_MS : m->options.interval_ms);

	return due > now_ms ? due - now_ms : 0;
}

void tui_model_key(struct tui_model *m, uint32_t key)
{
	tui_message_clear(&m->message);
	if (key == TUI_KEY_QUIT)
		m->is_done = true;
	else if (m->prompt != TUI_PROMPT_NONE)
		tui_prompt_key(m, key);
	else if (m->overlay != TUI_OVERLAY_NONE)
		tui_overlay_key(m, key);
	else if (m->screen == TUI_SCREEN_PROGRAMS)
		tui_programs_key(m, key);
	else
		tui_zones_key(m, key);
}

void tui_model_mouse(struct tui_model *m, struct tui_mouse mouse)
{
	if (m->overlay != TUI_OVERLAY_NONE)
		tui_overlay_mouse(m, mouse);
	else if (m->screen == TUI_SCREEN_PROGRAMS)
		tui_programs_mouse(m, mouse);
	else
		tui_zones_mouse(m, mouse);
}

void tui_model_draw(struct tui_model *m, struct tui_canvas *canvas)
{
	if (m->screen == TUI_SCREEN_PROGRAMS)
		tui_programs_draw(m, canvas);
	else
		tui_zones_draw(m, canvas);
	if (m->prompt != TUI_PROMPT_NONE)
		tui_prompt_draw(m, canvas, canvas->height - 1);
	tui_overlay_draw(m, canvas);
}

bool tui_model_is_done(const struct tui_model *m)
{
	return m->is_done;
}
