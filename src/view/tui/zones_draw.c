/*
 * The screen of zones, from above: header, graph of frames, modes, table, and what keys there are.
 */
#include <stdio.h>

#include "base/escape.h"
#include "view/tui/bar.h"
#include "view/tui/model_state.h"

static const char *const mode_names[ZONE_MODES] = {
	[ZONE_MODE_SELF] = "self",
	[ZONE_MODE_HIER] = "hierarchical",
	[ZONE_MODE_GRAPH] = "call graph",
	[ZONE_MODE_DESCENDANTS] = "descendants",
	[ZONE_MODE_NAME] = "name",
};
static const char *const short_names[ZONE_MODES] = {"self", "hier", "graph", "desc", "name"};

enum { TABS_LONG = 100 };

/* Where a mode's tab begins and ends. */
static unsigned tab_end(unsigned width, enum zone_mode mode, unsigned *start)
{
	const char *const *names = width >= TABS_LONG ? mode_names : short_names;
	unsigned gap = width >= TABS_LONG ? 2 : 1, x = 0;

	for (unsigned i = 0; i <= (unsigned)mode; i++) {
		*start = x;
		x += (unsigned)strlen(names[i]) + 2 + (i < (unsigned)mode ? gap : 0);
	}
	return x;
}

bool tui_tab_at(const struct tui_model *m, unsigned x, unsigned y, enum zone_mode *mode)
{
	for (unsigned i = 0; y == m->tabs_y && i < ZONE_MODES; i++) {
		unsigned start, end = tab_end(m->tabs_width, (enum zone_mode)i, &start);

		if (x >= start && x < end) {
			*mode = (enum zone_mode)i;
			return true;
		}
	}
	return false;
}

/* Draws one setting, left of those already drawn, if there is room after column x. */
static unsigned draw_setting(
	struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end, const char *bytes)
{
	struct strbuf text = {0};

	escape_text(&text, str_from(bytes));
	size_t width = utf8_width(strbuf_str(&text));
	unsigned gap = end < canvas->width ? 3 : 0;

	if (width && x + 2 + width + gap <= end) {
		if (gap)
			tui_put(canvas, y, end - 2, end, TUI_DIM, STR("·"));
		tui_put_right(canvas, y, x, end - gap, TUI_LABEL, strbuf_str(&text));
		end -= gap + (unsigned)width;
	}
	strbuf_deinit(&text);
	return end;
}

static unsigned draw_thread(
	struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end)
{
	struct zonewire_slot slot;
	char name[64], text[128];

	if (m->table.query.slot == ZONE_SLOT_ALL ||
		!zone_region_slot(&m->attached.region, m->table.query.slot, &slot))
		return end;
	tui_thread_name(m, &slot, name);
	snprintf(text, sizeof(text), "thread %d %s", slot.tid, name);
	return draw_setting(canvas, y, x, end, text);
}

static unsigned draw_base(
	struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end)
{
	struct zonewire_header header = zone_region_header(&m->attached.region);
	uint32_t base = zone_follow_base(m->attached.follow);
	char text[64];

	if (base == ZONE_BASE_RUN)
		snprintf(text, sizeof(text), "whole run");
	else if (base == ZONE_BASE_LOOKS)
		snprintf(text, sizeof(text), "each %u ms", m->options.interval_ms);
	else
		snprintf(text, sizeof(text), "%s %.*s", base ? "stream" : "each",
			(int)sizeof(header.stream[base].name), header.stream[base].name);
	return draw_setting(canvas, y, x, end, text);
}

/* The table's settings, right of the modes: unusual ones first, while there is room. */
static void draw_settings(struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned x)
{
	static const char *const averages[] = {"no average", "average 0.8 s", "average 2.5 s"};
	const struct zone_query *query = &m->table.query;
	unsigned end = draw_thread(m, canvas, y, x, canvas->width);

	if (query->recursion == ZONE_SPREAD)
		end = draw_setting(canvas, y, x, end, "recursion spread");
	end = draw_base(m, canvas, y, x, end);
	if (query->frame == 0 && zone_follow_base(m->attached.follow) != ZONE_BASE_RUN)
		draw_setting(canvas, y, x, end, averages[query->average]);
}

static void draw_tabs(struct tui_model *m, struct tui_canvas *canvas, unsigned y)
{
	const char *const *names = canvas->width >= TABS_LONG ? mode_names : short_names;
	unsigned end = 0;

	m->tabs_y = y;
	m->tabs_width = canvas->width;
	for (unsigned i = 0; i < ZONE_MODES; i++) {
		bool is_mode = m->table.query.mode == (enum zone_mode)i;
		unsigned start;

		end = tab_end(canvas->width, (enum zone_mode)i, &start);
		tui_printf(canvas, y, start, start + 1, TUI_KEY, "%u", i + 1);
		tui_put(canvas, y, start + 2, end, is_mode ? TUI_SORTED : TUI_LABEL,
			str_from(names[i]));
		if (is_mode)
			tui_put(canvas, y, start + 1, start + 2, TUI_SORTED, STR(" "));
	}
	draw_settings(m, canvas, y, end);
}

static const struct tui_key_help keys[] = {{"q", "quit"}, {"h", "help"}, {"Enter", "select"},
	{"Bksp", "parent"}, {"m", "mode"}, {"p", "pause"}, {"←→", "frame"}, {"/", "search"},
	{"t", "threads"}, {"x", "slowest"}, {"f", "freeze"}, {"i", "zone"}, {"w", "save"},
	{"u", "unit"}, {"r", "recursion"}, {"a", "average"}, {"<>", "sort"}, {"g", "graph"},
	{"l", "programs"}};

static unsigned graph_height(const struct tui_model *m, const struct tui_canvas *canvas)
{
	/* Times that are all equal make no useful graph. */
	bool has_frames = zone_follow_base(m->attached.follow) < ZONE_BASE_LOOKS;

	if (m->graph.is_hidden || !has_frames || canvas->height < 16)
		return 0;
	return canvas->height >= 40 ? 6 : canvas->height >= 22 ? 4 : 2;
}

void tui_zones_draw(struct tui_model *m, struct tui_canvas *canvas)
{
	unsigned last = canvas->height - 1;
	unsigned y = tui_header_draw(m, canvas);
	unsigned height = graph_height(m, canvas);

	tui_graph_draw(m, canvas, y, height);
	y += height;
	draw_tabs(m, canvas, y++);
	tui_table_draw(m, canvas, y, last);
	tui_fill(canvas, last, 0, canvas->width, TUI_PLAIN);
	if (m->message.text[0])
		tui_message_draw(&m->message, canvas, last);
	else
		tui_bar_draw(canvas, last, keys, ARRAY_SIZE(keys));
}
