/*
 * The first lines: which program, how it is, how long its frames take, and what is unusual.  Items
 * wrap, so that a narrow screen has the same items on more lines.
 */
#include <stdio.h>

#include "base/escape.h"
#include "view/tui/model_state.h"
#include "zonereport/said.h"

enum { QUIET_MS = 2000 };

/* Where the next item goes. */
struct flow {
	struct tui_canvas *canvas;
	unsigned y, x, y_max;
};

static void item(struct flow *flow, enum tui_style style, const char *text)
{
	unsigned width = (unsigned)utf8_width(str_from(text));
	unsigned gap = flow->x ? 2 : 0;

	if (!width)
		return;
	if (flow->x + gap + width > flow->canvas->width && flow->x) {
		if (flow->y + 1 >= flow->y_max)
			return;
		flow->y++;
		flow->x = gap = 0;
	}
	flow->x = tui_put(
		flow->canvas, flow->y, flow->x + gap, flow->canvas->width, style, str_from(text));
}

static void new_line(struct flow *flow)
{
	if (flow->x && flow->y + 1 < flow->y_max) {
		flow->y++;
		flow->x = 0;
	}
}

static void item_name(struct flow *flow, enum tui_style style, const char *bytes)
{
	struct strbuf text = {0};

	escape_text(&text, str_from(bytes));
	item(flow, style, text.data ? text.data : "");
	strbuf_deinit(&text);
}

static unsigned thread_count(const struct tui_model *m)
{
	const struct zone_region *region = &m->attached.region;
	unsigned count = 0;

	for (uint32_t i = 0; i < zone_region_slot_count(region); i++) {
		struct zonewire_slot slot;

		if (zone_region_slot(region, i, &slot) && slot.state == ZONEWIRE_SLOT_THREAD)
			count++;
	}
	return count;
}

static void put_state(const struct tui_model *m, struct flow *flow)
{
	const struct tui_attached *a = &m->attached;
	char text[256];

	switch (a->state) {
	case TUI_RUNNING:
		item(flow, TUI_GOOD, "running");
		break;
	case TUI_STOPPED:
		item(flow, TUI_NOTICE, "stopped");
		break;
	case TUI_SAVED:
		item(flow, TUI_NOTICE, "saved");
		break;
	case TUI_ENDED:
		item(flow, TUI_TROUBLE, "ended");
		break;
	}
	if (a->detail[0]) {
		snprintf(text, sizeof(text), "(%s)", a->detail);
		item_name(flow, TUI_NOTICE, text);
	}
}

static void put_program(const struct tui_model *m, struct flow *flow)
{
	const struct zonewire_header *header = &m->attached.region.header;
	char text[128];

	snprintf(text, sizeof(text), "%.*s", (int)sizeof(header->program), header->program);
	item_name(flow, TUI_TITLE, text);
	snprintf(text, sizeof(text), "pid %d", m->attached.pid ? m->attached.pid : header->pid);
	item(flow, TUI_PLAIN, text);
	put_state(m, flow);
	if (m->attached.state == TUI_RUNNING || m->attached.state == TUI_STOPPED) {
		unsigned threads = thread_count(m);

		snprintf(text, sizeof(text), "%u thread%s", threads, threads == 1 ? "" : "s");
		item(flow, TUI_PLAIN, text);
	}
	uint32_t zones = zone_region_program_zones(&m->attached.region);

	snprintf(text, sizeof(text), "%u zone%s", zones, zones == 1 ? "" : "s");
	item(flow, TUI_PLAIN, text);
}

/* How long frames take, for the shown average. */
static void put_frames(const struct tui_model *m, struct flow *flow)
{
	const struct zone_report *report = m->table.report;
	struct zone_stats stats = m->attached.stats;
	char text[128];
	uint32_t base = zone_follow_base(m->attached.follow);

	if (!report || report->frame_ms <= 0) {
		item(flow, TUI_DIM, "no frames yet");
		return;
	}
	if (base == ZONE_BASE_RUN) {
		snprintf(text, sizeof(text), "the whole run, %.1f s", report->frame_ms / 1000);
		item(flow, TUI_PLAIN, text);
		return;
	}
	if (base == ZONE_BASE_LOOKS) {
		snprintf(text, sizeof(text), "no frames: times are per %.0f ms", report->frame_ms);
		item(flow, TUI_DIM, text);
		return;
	}
	struct zone_unit unit = zone_unit_of(report->frame_ms);

	snprintf(text, sizeof(text), "%.3f %s/frame", report->frame_ms / unit.ms, unit.name);
	item(flow, TUI_TITLE, text);
	snprintf(text, sizeof(text), "%.1f fps", 1000 / report->frame_ms);
	item(flow, TUI_PLAIN, text);
	if (!stats.frames)
		return;
	snprintf(text, sizeof(text), "median %.2f  p95 %.2f  max %.2f", stats.median / unit.ms,
		stats.p95 / unit.ms, stats.max / unit.ms);
	item(flow, TUI_PLAIN, text);
	snprintf(text, sizeof(text), "of %zu frames", stats.frames);
	item(flow, TUI_DIM, text);
}

static void put_shown_frame(const struct tui_model *m, struct flow *flow)
{
	const struct zone_history *history = zone_follow_history(m->attached.follow);
	size_t ago = m->table.query.frame;
	struct zone_frame frame;
	char text[128];

	if (!zone_history_frame(history, ago, &frame))
		return;
	if (m->was_frozen && !ago) {
		snprintf(text, sizeof(text), "FROZEN at frame %ju, %.2f ms",
			(uintmax_t)frame.number, frame.ms);
		item(flow, TUI_NOTICE, text);
	} else if (ago || m->is_raw) {
		snprintf(text, sizeof(text), "frame %ju, %zu ago, %.2f ms", (uintmax_t)frame.number,
			ago, frame.ms);
		item(flow, TUI_NOTICE, text);
	}
}

/* There has been no frame for long: the program hangs, or is paused. */
static void put_quiet(const struct tui_model *m, struct flow *flow)
{
	const struct tui_attached *a = &m->attached;
	bool is_of_ring = zone_follow_base(a->follow) < ZONE_BASE_LOOKS;
	uint64_t quiet_ms = m->now_ms - a->last_frame_ms;
	char text[64];

	if (!is_of_ring || tui_is_still(m) || a->state != TUI_RUNNING || quiet_ms < QUIET_MS)
		return;
	snprintf(text, sizeof(text), "no frame for %ju s", (uintmax_t)(quiet_ms / 1000));
	item(flow, TUI_NOTICE, text);
}

/* The program's notes on the zone in the focus. */
static void put_said(const struct tui_model *m, struct flow *flow)
{
	const struct zone_report *report = m->table.report;
	struct zone_said said;
	char words[256], text[384];

	if (!report || report->focus_row < 0 ||
		!zone_said(&m->attached.region, zone_follow_reading(m->attached.follow),
			report->query.focus, report->query.slot, &said))
		return;
	zone_said_write(&said, words, sizeof(words));
	snprintf(text, sizeof(text), "%.100s: %s", report->row[report->focus_row].info.name, words);
	item_name(flow, TUI_PLAIN, text);
}

static void put_notices(const struct tui_model *m, struct flow *flow)
{
	struct zonewire_header header = zone_region_header(&m->attached.region);
	uint64_t lost = zone_follow_lost_bytes(m->attached.follow);
	char text[128];

	if (m->is_paused)
		item(flow, TUI_NOTICE, "PAUSED");
	put_shown_frame(m, flow);
	if (m->freeze_ms > 0 && !m->was_frozen) {
		snprintf(text, sizeof(text), "freezes over %g ms", m->freeze_ms);
		item(flow, TUI_DIM, text);
	}
	if (header.is_frozen)
		item(flow, TUI_NOTICE, "frozen by the program");
	if (header.is_off)
		item(flow, TUI_NOTICE, "zones are switched off");
	put_quiet(m, flow);
	if (lost) {
		snprintf(text, sizeof(text), "%ju KiB of frames lost: they came too fast",
			(uintmax_t)(lost / 1024 + 1));
		item(flow, TUI_TROUBLE, text);
	}
}

unsigned tui_header_draw(struct tui_model *m, struct tui_canvas *canvas)
{
	struct flow flow = {.canvas = canvas,
		.y_max = canvas->height >= 20	? 5
			 : canvas->height >= 10 ? 3
						: 1};

	/* Notices come and go: the first line has room, so they do not move other items. */
	put_program(m, &flow);
	put_notices(m, &flow);
	if (canvas->width < 160)
		new_line(&flow);
	put_frames(m, &flow);
	put_said(m, &flow);
	unsigned lines = flow.y + 1;

	if (m->table.report && m->table.report->trouble[0] && lines + 4 < canvas->height)
		tui_put(canvas, lines++, 0, canvas->width, TUI_TROUBLE,
			str_from(m->table.report->trouble));
	return lines;
}
