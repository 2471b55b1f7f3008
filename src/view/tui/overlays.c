/*
 * Overlays: help, the list of threads, and all details of a zone.
 */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "base/escape.h"
#include "view/tui/box.h"
#include "view/tui/model_state.h"

/* ---- help ---- */

static const struct tui_key_help help_zones[] = {
	{"Up Down PgUp PgDn", "the cursor; also Home, End, j, k, the wheel"},
	{"Enter, double click", "call graph around the zone at the cursor"},
	{"Backspace", "around its largest parent"},
	{"m M, 1 to 5", "mode: self, hierarchical, call graph …"},
	{"Left Right", "a frame back, forth: an old frame is held"},
	{"[ ] Shift-Left Right", "ten of them"},
	{"0, Esc", "back to the present"},
	{"x", "the slowest frame that is kept"},
	{"p, Space", "pause, and go on"},
	{"f", "freeze once a frame takes longer than that"},
	{"g + -", "graph of frames on or off, finer, coarser"},
	{"u", "unit: frames, streams, fixed times, the run"},
	{"a s", "longer, shorter averages"},
	{"r", "recursion: a zone is one row, or each depth is"},
	{"t", "threads: all, or one"},
	{"< > I, click on a head", "sort by another column, the other way round"},
	{"/ n N", "search, next, previous"},
	{"i", "all there is to say of the zone at the cursor"},
	{"w", "save the zones' memory to a file"},
	{"l", "the list of programs"},
	{"h ? F1, q F10", "this, quit"},
};
static const char *const help_notes[] = {
	"",
	"self: time in the zone itself; hier: with what it calls; per frame.",
	"share: of all zones' time. varies: by how much, and the colour.",
	"+ calls others  - focus  ~ recursion  ! mostly the cost of measuring",
	"An old frame's figures are its own; the present's are averages.",
};

static const struct tui_help help = {.title = "Keys",
	.keys = help_zones,
	.key_count = ARRAY_SIZE(help_zones),
	.notes = help_notes,
	.note_count = ARRAY_SIZE(help_notes)};

/* ---- threads ---- */

static void find_threads(struct tui_model *m)
{
	const struct zone_region *region = &m->attached.region;

	m->thread_slots.count = 0;
	vec_push(&m->thread_slots, ZONE_SLOT_ALL);
	for (uint32_t i = 0; i < zone_region_slot_count(region); i++) {
		struct zonewire_slot slot;

		if (zone_region_slot(region, i, &slot) && slot.root)
			vec_push(&m->thread_slots, i);
	}
	m->threads.count = m->thread_slots.count;
}

void tui_threads_open(struct tui_model *m)
{
	find_threads(m);
	m->overlay = TUI_OVERLAY_THREADS;
	m->threads.top = m->threads.cursor = 0;
	for (size_t i = 0; i < m->thread_slots.count; i++)
		if (m->thread_slots.data[i] == m->table.query.slot)
			m->threads.cursor = i;
}

static void draw_thread(struct tui_model *m, struct tui_canvas *canvas, struct tui_box box,
	unsigned y, uint32_t index)
{
	unsigned end = box.x + box.width;
	struct zonewire_slot slot;
	char name[64], tid[16];

	tui_put(canvas, y, box.x, box.x + 1, TUI_KEY,
		index == m->table.query.slot ? STR("*") : STR(" "));
	if (index == ZONE_SLOT_ALL) {
		tui_put(canvas, y, box.x + 11, end, TUI_TITLE, STR("all threads"));
		return;
	}
	if (!zone_region_slot(&m->attached.region, index, &slot))
		return;
	bool is_free = slot.state == ZONEWIRE_SLOT_FREE;

	tui_thread_name(m, &slot, name);
	snprintf(tid, sizeof(tid), "%d", slot.tid);
	tui_put_right(
		canvas, y, box.x + 1, box.x + 9, is_free ? TUI_DIM : TUI_PLAIN, str_from(tid));
	unsigned x = tui_put_name(canvas, y, box.x + 11, end, is_free ? TUI_DIM : TUI_PLAIN,
		str_from(name[0]   ? name
			 : is_free ? "ended"
				   : "-"));

	if (slot.state == ZONEWIRE_SLOT_FIBER)
		x = tui_put(canvas, y, x + 1, end, TUI_LABEL, STR("fiber"));
	if (is_free && name[0])
		x = tui_put(canvas, y, x + 1, end, TUI_DIM, STR("ended"));
	if (slot.thread_count > 1)
		tui_printf(canvas, y, x + 1, end, TUI_DIM, "(%u one after another)",
			slot.thread_count);
}

static void draw_threads(struct tui_model *m, struct tui_canvas *canvas)
{
	size_t count = m->thread_slots.count;

	find_threads(m); /* there may be new ones */
	struct tui_box box =
		tui_box_draw(canvas, 60, count < 200 ? (unsigned)count : 200, "Threads");

	m->threads.y = box.y;
	m->threads.height = box.height;
	tui_list_settle(&m->threads);
	for (unsigned i = 0; i < box.height && m->threads.top + i < m->threads.count; i++) {
		size_t row = m->threads.top + i;

		draw_thread(m, canvas, box, box.y + i, m->thread_slots.data[row]);
		if (row == m->threads.cursor)
			tui_select(canvas, box.y + i, box.x, box.x + box.width);
	}
	tui_list_draw_bar(&m->threads, canvas, box.x + box.width + 1);
}

static void choose_thread(struct tui_model *m)
{
	if (m->threads.cursor < m->thread_slots.count)
		m->table.query.slot = m->thread_slots.data[m->threads.cursor];
	m->overlay = TUI_OVERLAY_NONE;
	tui_table_update(m);
}

/* ---- one zone ---- */

static void put_stats(const struct tui_model *m, struct tui_canvas *canvas, struct tui_box box,
	unsigned y, const struct zone_row *row, enum zone_measure measure)
{
	const struct zone_history *history = zone_follow_history(m->attached.follow);
	bool is_spread = m->table.query.recursion == ZONE_SPREAD;
	struct zone_choice choice = {.zone = row->zone,
		.depth = is_spread ? row->depth : ZONE_DEPTH_ALL,
		.slot = m->table.query.slot};
	struct zone_stats stats;
	unsigned end = box.x + box.width;

	tui_printf(canvas, y, box.x, end, TUI_LABEL, "%s", zone_measure_name(measure));
	if (!zone_history_stats(history, choice, measure, &stats)) {
		tui_put(canvas, y, box.x + 8, end, TUI_DIM, STR("no frames"));
		return;
	}
	const double figure[] = {stats.min, stats.median, stats.mean, stats.p95, stats.max};

	for (unsigned i = 0; i < ARRAY_SIZE(figure); i++)
		tui_put_figure(canvas, y, box.x + 6 + 11 * i, box.x + 16 + 11 * i, TUI_PLAIN,
			figure[i], 3);
}

/* The program's notes on the zone itself (texts, numbers), from all stacks that it is on. */
static unsigned put_notes(const struct tui_model *m, struct tui_canvas *canvas, struct tui_box box,
	unsigned y, const struct zone_row *row)
{
	const struct zone_region *region = &m->attached.region;
	uint32_t count = zone_region_header(region).notes.count;
	unsigned end = box.x + box.width, bottom = box.y + box.height;
	const struct zone_reading *reading = zone_follow_reading(m->attached.follow);

	for (uint32_t i = 1; i < count && y < bottom; i++) {
		struct zonewire_note note;

		if (!zone_region_note(region, i, &note) || note.node >= reading->node_count ||
			reading->place[note.node].zone != row->zone)
			continue;
		if (note.text[0] && y < bottom) {
			char text[ZONEWIRE_TEXT_BYTES + 1];

			snprintf(text, sizeof(text), "%.*s", ZONEWIRE_TEXT_BYTES, note.text);
			tui_put(canvas, y, box.x, end, TUI_LABEL, STR("text"));
			tui_put_name(canvas, y++, box.x + 8, end, TUI_PLAIN, str_from(text));
		}
		if (note.count && y < bottom) {
			tui_put(canvas, y, box.x, end, TUI_LABEL, STR("numbers"));
			tui_printf(canvas, y++, box.x + 8, end, TUI_PLAIN,
				"%ju: last %g  mean %g  least %g  most %g", (uintmax_t)note.count,
				note.last, note.sum / (double)note.count, note.min, note.max);
		}
	}
	return y;
}

static void draw_zone(struct tui_model *m, struct tui_canvas *canvas)
{
	const struct zone_row *row = tui_table_row(m, m->table.list.cursor);
	struct tui_box box = tui_box_draw(canvas, 62, 12, "Zone");
	unsigned y = box.y, end = box.x + box.width;
	struct strbuf place = {0};

	if (!row)
		return;
	tui_put_name(canvas, y++, box.x, end, TUI_TITLE, str_from(row->info.name));
	if (row->info.file[0])
		strbuf_printf(&place, "%s:%u", row->info.file, row->info.line);
	else
		strbuf_printf(&place, row->info.code ? "function at 0x%jx" : "not of a file",
			(uintmax_t)row->info.code);
	tui_put_name(canvas, y++, box.x, end, TUI_DIM, strbuf_str(&place));
	strbuf_deinit(&place);
	tui_printf(canvas, ++y, box.x + 6, end, TUI_LABEL, "%10s %10s %10s %10s %10s", "least",
		"median", "mean", "p95", "most");
	for (unsigned i = 0; i < ZONE_COLUMNS; i++)
		put_stats(m, canvas, box, ++y, row, (enum zone_measure)i);
	size_t frames = zone_history_frame_count(zone_follow_history(m->attached.follow));

	if (frames == 1)
		tui_put(canvas, ++y, box.x, end, TUI_DIM, STR("of one frame, in ms"));
	else
		tui_printf(canvas, ++y, box.x, end, TUI_DIM,
			"of all %zu frames that are kept, in ms", frames);
	put_notes(m, canvas, box, y + 2, row);
}

/* ---- all ---- */

void tui_overlay_draw(struct tui_model *m, struct tui_canvas *canvas)
{
	switch (m->overlay) {
	case TUI_OVERLAY_HELP:
		tui_help_draw(&help, &m->help, canvas);
		break;
	case TUI_OVERLAY_THREADS:
		draw_threads(m, canvas);
		break;
	case TUI_OVERLAY_ZONE:
		draw_zone(m, canvas);
		break;
	case TUI_OVERLAY_NONE:
		break;
	}
}

void tui_overlay_key(struct tui_model *m, uint32_t key)
{
	if (m->overlay == TUI_OVERLAY_HELP && tui_help_key(&help, &m->help, key))
		return;
	else if (m->overlay == TUI_OVERLAY_THREADS && key == TUI_KEY_ENTER)
		choose_thread(m);
	else if (m->overlay == TUI_OVERLAY_THREADS && tui_list_key(&m->threads, key))
		return;
	else if (m->overlay == TUI_OVERLAY_ZONE && tui_list_key(&m->table.list, key))
		tui_table_mark(m);
	else
		m->overlay = TUI_OVERLAY_NONE;
}

void tui_overlay_mouse(struct tui_model *m, struct tui_mouse mouse)
{
	bool is_wheel = mouse.click == TUI_WHEEL_UP || mouse.click == TUI_WHEEL_DOWN;
	size_t row;

	if (is_wheel) {
		tui_overlay_key(m, mouse.click == TUI_WHEEL_UP ? TUI_KEY_UP : TUI_KEY_DOWN);
	} else if (m->overlay == TUI_OVERLAY_THREADS && tui_list_at(&m->threads, mouse.y, &row)) {
		m->threads.cursor = row;
		choose_thread(m);
	} else {
		m->overlay = TUI_OVERLAY_NONE;
	}
}
