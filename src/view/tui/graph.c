/*
 * The graph of frames: a column each (or for several the longest of them), the newest at the right,
 * in eighths of a row.
 *
 * Its scale ends at one and a half times the 95th percentile, so that one long frame does not make
 * all others invisible; longer frames are cut off and marked.  A frame is slow if it takes twice
 * the median, or longer than the freeze limit.
 */
#include <stdio.h>

#include "view/tui/model_state.h"

enum { LABEL = 8, EIGHTHS = 8 };

struct scale {
	double top_ms, slow_ms;
};

static struct scale find_scale(const struct tui_model *m, const struct zone_stats *stats)
{
	double usual = stats->p95 * 1.5;
	double top = stats->max < usual ? stats->max : usual;
	double slow = stats->median * 2;

	if (m->freeze_ms > 0 && m->freeze_ms < slow)
		slow = m->freeze_ms;
	return (struct scale){.top_ms = top > 0 ? top : 1, .slow_ms = slow};
}

/* The longest of the frames of a column; false: it has none. */
static bool column_frame(const struct tui_model *m, size_t column_ago, double *ms, bool *is_shown)
{
	const struct tui_graph *g = &m->graph;
	const struct zone_history *history = zone_follow_history(m->attached.follow);
	bool is_there = false;

	*ms = 0;
	*is_shown = false;
	for (size_t i = 0; i < g->per_column; i++) {
		size_t ago = g->first_ago + column_ago * g->per_column + i;
		struct zone_frame frame;

		if (!zone_history_frame(history, ago, &frame))
			break;
		is_there = true;
		if (frame.ms > *ms)
			*ms = frame.ms;
		if (ago == m->table.query.frame && tui_is_still(m))
			*is_shown = true;
	}
	return is_there;
}

static void draw_column(struct tui_canvas *canvas, unsigned x, unsigned y, unsigned height,
	unsigned eighths, bool is_cut, enum tui_style style)
{
	static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

	for (unsigned row = 0; row < height; row++) {
		unsigned below = (height - 1 - row) * EIGHTHS;
		unsigned part = eighths > below ? eighths - below : 0;
		const char *block = blocks[part > EIGHTHS ? EIGHTHS : part];

		if (is_cut && row == 0)
			block = "▲";
		tui_put(canvas, y + row, x, x + 1, style, str_from(block));
	}
}

/* Scrolls so that the shown frame is visible. */
static void scroll(struct tui_model *m)
{
	struct tui_graph *g = &m->graph;
	size_t shown = m->table.query.frame, room = g->columns * g->per_column;

	if (shown < g->first_ago || !tui_is_still(m))
		g->first_ago = shown - shown % g->per_column;
	if (shown >= g->first_ago + room)
		g->first_ago = shown - room + g->per_column;
	if (!shown)
		g->first_ago = 0;
}

static void draw_axis(const struct tui_graph *g, struct tui_canvas *canvas, struct scale scale)
{
	char text[32];

	struct zone_unit unit = zone_unit_of(scale.top_ms);
	double top = scale.top_ms / unit.ms;

	snprintf(text, sizeof(text), top < 10 ? "%.2f %s" : "%.0f %s", top, unit.name);
	tui_put_right(canvas, g->y, 0, LABEL - 1, TUI_LABEL, str_from(text));
	if (g->height > 1 && g->per_column > 1) {
		snprintf(text, sizeof(text), "1:%zu", g->per_column);
		tui_put_right(canvas, g->y + g->height - 1, 0, LABEL - 1, TUI_DIM, str_from(text));
	}
}

void tui_graph_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned height)
{
	struct tui_graph *g = &m->graph;

	g->height = 0;
	if (!height || canvas->width <= LABEL + 4)
		return;
	g->x = LABEL;
	g->columns = canvas->width - LABEL;
	g->y = y;
	g->height = height;
	scroll(m);
	if (!m->attached.stats.frames)
		return;
	struct scale scale = find_scale(m, &m->attached.stats);

	draw_axis(g, canvas, scale);
	for (unsigned i = 0; i < g->columns; i++) {
		unsigned x = g->x + g->columns - 1 - i;
		bool is_shown;
		double ms;

		if (!column_frame(m, i, &ms, &is_shown))
			break;
		bool is_cut = ms > scale.top_ms * 1.001;
		double part = is_cut ? 1 : ms / scale.top_ms;
		unsigned eighths = (unsigned)(part * height * EIGHTHS + 0.5);
		enum tui_style style = is_shown		    ? TUI_BAR_SHOWN
				       : ms > scale.slow_ms ? TUI_BAR_SLOW
							    : TUI_BAR;

		draw_column(canvas, x, y, height, eighths ? eighths : 1, is_cut, style);
		if (is_shown)
			for (unsigned row = 0; row < height; row++)
				tui_select(canvas, y + row, x, x + 1);
	}
}

bool tui_graph_at(const struct tui_model *m, unsigned x, unsigned y, size_t *ago)
{
	const struct tui_graph *g = &m->graph;
	size_t kept = zone_history_frame_count(zone_follow_history(m->attached.follow));

	if (!g->height || y < g->y || y >= g->y + g->height || x < g->x || x >= g->x + g->columns)
		return false;
	size_t from = g->first_ago + (g->x + g->columns - 1 - x) * g->per_column;
	double longest = -1;

	if (from >= kept)
		return false;
	for (size_t i = 0; i < g->per_column; i++) {
		struct zone_frame frame;

		if (zone_history_frame(zone_follow_history(m->attached.follow), from + i, &frame) &&
			frame.ms > longest) {
			longest = frame.ms;
			*ago = from + i;
		}
	}
	return longest >= 0;
}
