/*
 * The prompt in the last line: a text to search, milliseconds to freeze at, a file to save to. A
 * search moves the cursor while it is typed, and back if it is cancelled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/tui/model_state.h"

/* "game-1234.zones", using only letters that are usual in file names. */
static void suggest_file(struct tui_model *m)
{
	const struct zonewire_header *header = &m->attached.region.header;
	char name[sizeof(header->program) + 1];

	snprintf(name, sizeof(name), "%.*s", (int)sizeof(header->program), header->program);
	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-",
			    *c))
			*c = '_';
	if (name[0] == '-' || name[0] == '.')
		name[0] = '_';
	snprintf(m->line.text, sizeof(m->line.text), "%s-%d.zones", name[0] ? name : "program",
		header->pid);
}

void tui_prompt_open(struct tui_model *m, enum tui_prompt prompt)
{
	const struct tui_table *t = &m->table;

	m->prompt = prompt;
	m->line.text[0] = '\0';
	switch (prompt) {
	case TUI_PROMPT_SAVE:
		suggest_file(m);
		break;
	case TUI_PROMPT_FREEZE:
		if (m->freeze_ms > 0)
			snprintf(m->line.text, sizeof(m->line.text), "%g", m->freeze_ms);
		break;
	case TUI_PROMPT_SEARCH:
		tui_table_mark(m);
		m->search_before = m->search;
		m->search_from_kind = t->cursor_kind;
		m->search_from_zone = t->cursor_zone;
		m->search_from_depth = t->cursor_depth;
		break;
	case TUI_PROMPT_NONE:
		break;
	}
}

static void back_to_start(struct tui_model *m)
{
	m->table.cursor_kind = m->search_from_kind;
	m->table.cursor_zone = m->search_from_zone;
	m->table.cursor_depth = m->search_from_depth;
	tui_table_update(m);
}

static void search_typed(struct tui_model *m)
{
	back_to_start(m);
	m->search = m->line;
	if (m->search.text[0] && !tui_search_move(m, 1, true))
		tui_say(m, TUI_NOTICE, "not found");
}

static void freeze_entered(struct tui_model *m)
{
	char *end;
	double ms = strtod(m->line.text, &end);

	if (*end || !(ms >= 0 && ms < 1e9))
		tui_say(m, TUI_TROUBLE, "expected a number of milliseconds");
	else
		tui_set_freeze(m, ms);
}

static void save_entered(struct tui_model *m)
{
	if (!m->line.text[0])
		return;
	struct error *err = m->host->save(m->host->data, m->line.text);

	if (err)
		tui_say_error(m, err);
	else
		tui_say(m, TUI_GOOD, "saved as %s", m->line.text);
}

static void accept(struct tui_model *m)
{
	enum tui_prompt prompt = m->prompt;

	m->prompt = TUI_PROMPT_NONE;
	if (prompt == TUI_PROMPT_FREEZE)
		freeze_entered(m);
	else if (prompt == TUI_PROMPT_SAVE)
		save_entered(m);
	else if (m->search.text[0] && !tui_search_move(m, 1, true))
		tui_say(m, TUI_NOTICE, "not found: %s", m->search.text);
}

static void give_up(struct tui_model *m)
{
	if (m->prompt == TUI_PROMPT_SEARCH) {
		m->search = m->search_before;
		back_to_start(m);
	}
	m->prompt = TUI_PROMPT_NONE;
}

void tui_prompt_key(struct tui_model *m, uint32_t key)
{
	if (key == TUI_KEY_ENTER)
		accept(m);
	else if (key == TUI_KEY_ESCAPE ||
		 (key == TUI_KEY_BACKSPACE && m->prompt == TUI_PROMPT_SEARCH && !m->line.text[0]))
		give_up(m);
	else if (m->prompt == TUI_PROMPT_SEARCH && (key == TUI_KEY_UP || key == TUI_KEY_DOWN))
		tui_search_move(m, key == TUI_KEY_UP ? -1 : 1, false);
	else if (tui_line_key(&m->line, key) && m->prompt == TUI_PROMPT_SEARCH)
		search_typed(m);
}

void tui_prompt_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y)
{
	const char *label = "";

	switch (m->prompt) {
	case TUI_PROMPT_SEARCH:
		label = "Search: ";
		break;
	case TUI_PROMPT_FREEZE:
		label = "Freeze when a frame takes over (ms, empty: never): ";
		break;
	case TUI_PROMPT_SAVE:
		label = "Save to file: ";
		break;
	case TUI_PROMPT_NONE:
		return;
	}
	if (canvas->width < 70 && m->prompt == TUI_PROMPT_FREEZE)
		label = "Freeze over ms: ";
	tui_fill(canvas, y, 0, canvas->width, TUI_PLAIN);
	tui_line_draw(&m->line, canvas, y, label);
	if (m->prompt == TUI_PROMPT_SEARCH && m->message.text[0])
		tui_put_right(canvas, y, canvas->cursor_x + 2, canvas->width, m->message.style,
			str_from(m->message.text));
}
