/*
 * Keys and mouse on the screen of zones.  Modes, cursor, frames, averages, recursion and pause are
 * the ones of the displays inside of programs.
 *
 * Showing an old frame holds the display: otherwise the frame would move on, and out of the history
 * in the meantime.  At the latest frame the display continues.
 */
#include <stdio.h>

#include "view/tui/model_state.h"

enum { FAR = 10, WHEEL = 3, PER_COLUMN_MAX = 64 };

void tui_show_frame(struct tui_model *m, size_t ago)
{
	struct zone_query *query = &m->table.query;
	size_t kept = zone_history_frame_count(zone_follow_history(m->attached.follow));

	if (kept == 0)
		return;
	if (ago >= kept)
		ago = kept - 1;
	if (ago == 0 && m->is_held) {
		m->is_held = false;
		if (!tui_is_still(m)) {
			tui_resume(m);
			return;
		}
	}
	if (ago > 0)
		m->is_held = true;
	query->frame = ago;
	tui_table_update(m);
}

void tui_move_frame(struct tui_model *m, long by)
{
	size_t ago = m->table.query.frame, distance = by < 0 ? (size_t)-by : (size_t)by;

	if (by < 0)
		ago += distance;
	else
		ago -= distance < ago ? distance : ago;
	tui_show_frame(m, ago);
}

static void show_slowest(struct tui_model *m)
{
	struct zone_history *history = zone_follow_history(m->attached.follow);
	struct zone_frame frame;
	size_t ago;

	if (!zone_frames_slowest(history, zone_history_frame_count(history), &ago)) {
		tui_say(m, TUI_DIM, "there are no frames yet");
		return;
	}
	if (ago == 0) { /* for the query 0 is the present */
		m->is_held = true;
		tui_show_raw(m);
		tui_table_update(m);
	} else {
		tui_show_frame(m, ago);
	}
	if (zone_history_frame(history, ago, &frame))
		tui_say(m, TUI_NOTICE, "the slowest of %zu frames: %.2f ms",
			zone_history_frame_count(history), frame.ms);
}

static void toggle_pause(struct tui_model *m)
{
	if (tui_is_still(m))
		tui_resume(m);
	else
		m->is_paused = true;
}

static void set_average(struct tui_model *m, unsigned average)
{
	static const char *const names[] = {
		"each frame by itself", "the last 0.8 s", "the last 2.5 s"};

	if (average >= ZONE_AVERAGES)
		return;
	m->table.query.average = average;
	tui_say(m, TUI_GOOD, "averages: %s", names[average]);
	tui_table_update(m);
}

static void toggle_recursion(struct tui_model *m)
{
	struct zone_query *query = &m->table.query;

	query->recursion = query->recursion == ZONE_FLATTEN ? ZONE_SPREAD : ZONE_FLATTEN;
	query->focus_depth = 0;
	tui_say(m, TUI_GOOD, "recursion: %s",
		query->recursion == ZONE_FLATTEN ? "a zone is one row" : "each depth is a row");
	tui_table_update(m);
}

/* The next way to tell what a frame is: streams that there are, looks, the whole run. */
static void next_base(struct tui_model *m)
{
	struct zonewire_header header = zone_region_header(&m->attached.region);
	uint32_t base = zone_follow_base(m->attached.follow);
	bool runs = m->attached.state == TUI_RUNNING || m->attached.state == TUI_STOPPED;

	do {
		base = base == ZONE_BASE_RUN ? 0 : base + 1;
	} while ((base < ZONE_BASE_LOOKS &&
			 (base >= header.stream_count || header.stream[base].ticks == 0)) ||
		 (base == ZONE_BASE_LOOKS && !runs));
	tui_set_base(m, base);
}

static void move_sort(struct tui_model *m, int by)
{
	struct tui_table *t = &m->table;
	size_t count = t->column_count, at = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		if (t->column[i] == tui_sorted_column(t))
			at = i;
	tui_table_sort(m, t->column[by > 0 ? (at + 1) % count : (at + count - 1) % count]);
}

static void search_again(struct tui_model *m, int direction)
{
	if (!m->search.text[0])
		tui_prompt_open(m, TUI_PROMPT_SEARCH);
	else if (!tui_search_move(m, direction, false))
		tui_say(m, TUI_NOTICE, "not found: %s", m->search.text);
}

/* Escape undoes one thing at a time. */
static void escape_key(struct tui_model *m)
{
	if (m->search.text[0])
		m->search.text[0] = '\0';
	else if (tui_is_still(m))
		tui_resume(m);
	else if (m->table.query.slot != ZONE_SLOT_ALL) {
		m->table.query.slot = ZONE_SLOT_ALL;
		tui_table_update(m);
	}
}

static void leave(struct tui_model *m)
{
	struct error *err = tui_programs_refresh(m);

	if (err) {
		tui_say_error(m, err);
		return;
	}
	if (!tui_programs_keep(m))
		tui_detach(m);
	m->screen = TUI_SCREEN_PROGRAMS;
	m->list_ms = m->now_ms;
}

static void zoom(struct tui_model *m, bool out)
{
	struct tui_graph *g = &m->graph;

	if (out && g->per_column < PER_COLUMN_MAX)
		g->per_column *= 2;
	else if (!out && g->per_column > 1)
		g->per_column /= 2;
	g->first_ago -= g->first_ago % g->per_column;
}

static bool frame_key(struct tui_model *m, uint32_t key)
{
	switch (key) {
	case TUI_KEY_LEFT:
		tui_move_frame(m, -1);
		break;
	case TUI_KEY_RIGHT:
		tui_move_frame(m, 1);
		break;
	case TUI_KEY_FAR_LEFT:
	case '[':
		tui_move_frame(m, -FAR);
		break;
	case TUI_KEY_FAR_RIGHT:
	case ']':
		tui_move_frame(m, FAR);
		break;
	case '0':
		tui_resume(m);
		break;
	case 'x':
		show_slowest(m);
		break;
	case 'g':
		m->graph.is_hidden = !m->graph.is_hidden;
		break;
	case '-':
	case '+':
		zoom(m, key == '-');
		break;
	case 'p':
	case ' ':
		toggle_pause(m);
		break;
	case 'f':
		tui_prompt_open(m, TUI_PROMPT_FREEZE);
		break;
	case 'u':
		next_base(m);
		break;
	default:
		return false;
	}
	return true;
}

static bool table_key(struct tui_model *m, uint32_t key)
{
	struct tui_table *t = &m->table;

	switch (key) {
	case TUI_KEY_ENTER:
		tui_table_select(m);
		break;
	case TUI_KEY_BACKSPACE:
		tui_table_select_parent(m);
		break;
	case 'm':
		tui_table_set_mode(m, (enum zone_mode)((t->query.mode + 1u) % ZONE_MODES));
		break;
	case 'M':
		tui_table_set_mode(
			m, (enum zone_mode)((t->query.mode + ZONE_MODES - 1u) % ZONE_MODES));
		break;
	case 'r':
		toggle_recursion(m);
		break;
	case 'a':
		set_average(m, t->query.average + 1);
		break;
	case 's':
		set_average(m, t->query.average - 1);
		break;
	case '<':
	case '>':
		move_sort(m, key == '<' ? -1 : 1);
		break;
	case 'I':
		tui_table_sort(m, tui_sorted_column(t));
		break;
	case 't':
		tui_threads_open(m);
		break;
	default:
		if (key < '1' || key >= '1' + ZONE_MODES)
			return false;
		tui_table_set_mode(m, (enum zone_mode)(key - '1'));
	}
	return true;
}

static bool search_key(struct tui_model *m, uint32_t key)
{
	switch (key) {
	case '/':
		tui_prompt_open(m, TUI_PROMPT_SEARCH);
		break;
	case 'n':
		search_again(m, 1);
		break;
	case 'N':
		search_again(m, -1);
		break;
	case TUI_KEY_ESCAPE:
		escape_key(m);
		break;
	default:
		return false;
	}
	return true;
}

void tui_zones_key(struct tui_model *m, uint32_t key)
{
	if (tui_list_key(&m->table.list, key))
		tui_table_mark(m);
	else if (frame_key(m, key) || table_key(m, key) || search_key(m, key))
		return;
	else if (key == 'w')
		tui_prompt_open(m, TUI_PROMPT_SAVE);
	else if (key == 'i')
		m->overlay = TUI_OVERLAY_ZONE;
	else if (key == 'l')
		leave(m);
	else if (key == 'h' || key == '?' || key == TUI_KEY_HELP)
		m->overlay = TUI_OVERLAY_HELP;
	else if (key == 'q')
		m->is_done = true;
}

/* A column's head, at a column of the screen. */
static void click_head(struct tui_model *m, unsigned x)
{
	struct tui_table *t = &m->table;

	for (size_t i = 0; i < t->column_count; i++)
		if (x < t->column_end[i]) {
			tui_table_sort(m, t->column[i]);
			return;
		}
}

void tui_zones_mouse(struct tui_model *m, struct tui_mouse mouse)
{
	struct tui_table *t = &m->table;
	enum zone_mode mode;
	size_t row;

	if (mouse.click == TUI_WHEEL_UP || mouse.click == TUI_WHEEL_DOWN) {
		bool is_up = mouse.click == TUI_WHEEL_UP;

		if (m->graph.height && mouse.y >= m->graph.y &&
			mouse.y < m->graph.y + m->graph.height)
			tui_move_frame(m, is_up ? -1 : 1);
		else
			tui_list_move(&t->list, is_up ? -WHEEL : WHEEL);
		tui_table_mark(m);
	} else if (tui_graph_at(m, mouse.x, mouse.y, &row)) {
		tui_show_frame(m, row);
	} else if (tui_tab_at(m, mouse.x, mouse.y, &mode)) {
		tui_table_set_mode(m, mode);
	} else if (t->column_count && mouse.y == t->head_y) {
		click_head(m, mouse.x);
	} else if (tui_list_at(&t->list, mouse.y, &row)) {
		t->list.cursor = row;
		tui_table_mark(m);
		if (mouse.click == TUI_CLICK_DOUBLE)
			tui_table_select(m);
	}
}
