/*
 * The flame graph: one level of calls a line, the root above, boxes as wide as the weight of what
 * ran in them (analysis/flame.h).  Boxes are in brackets, so that they are seen without colours,
 * too.
 *
 * The cursor is on a box; zooming shows a box at the whole width, with those it is in above it.
 * Boxes narrower than a column are dots.  More rows are asked for, and drawn, as long as one of
 * those that the report left out could be wider than a column.
 */
#include "browse/state.h"

#include "base/escape.h"
#include "base/hash.h"
#include "view/text/fit.h"
#include "view/text/table.h"
#include "view/text/units.h"
#include "view/tui/find.h"
#include "view/views.h"

enum { GROWTH = 8, LIMIT_MAX = 100000, NARROW = 18 };

void browser_flame_deinit(struct browser_flame *flame)
{
	if (flame->arena)
		arena_destroy(flame->arena);
	*flame = (struct browser_flame){0};
}

static const struct calltree_row *row_of(const struct report *report, const struct flame_box *box)
{
	return &report->calltree->rows[box->row];
}

static const struct entity *entity_of(const struct report *report, const struct flame_box *box)
{
	return &report->tree->entities[row_of(report, box)->entity];
}

/* ---- layout ---- */

/* 0 for the box of all stacks. */
static uint64_t box_path(const struct browser *b, uint32_t box)
{
	const struct flame_box *x = &b->flame.flame->boxes[box];

	return x->row == NO_ID ? 0 : b->tree.path[x->row];
}

static uint32_t find_box(const struct browser *b, uint64_t path)
{
	for (uint32_t i = 0; path && i < b->flame.flame->count; i++)
		if (box_path(b, i) == path)
			return i;
	return 0;
}

static void link_boxes(struct browser_flame *f, const struct report *report)
{
	const struct calltree *tree = report->calltree;

	f->box_of_row = ARENA_ARRAY(f->arena, uint32_t, tree->count + 1);
	f->parent = ARENA_ARRAY(f->arena, uint32_t, f->flame->count);
	f->has_stub = ARENA_ARRAY(f->arena, bool, tree->count + 1);
	for (size_t i = 0; i < tree->count; i++) {
		f->box_of_row[i] = NO_ID;
		f->has_stub[i] = false;
	}
	for (size_t i = 0; i < tree->count; i++)
		if (tree->rows[i].is_stub && tree->rows[i].parent != NO_ID)
			f->has_stub[tree->rows[i].parent] = true;
	f->parent[0] = 0;
	for (uint32_t i = 1; i < f->flame->count; i++) {
		uint32_t row = f->flame->boxes[i].row, parent = tree->rows[row].parent;

		f->box_of_row[row] = i;
		f->parent[i] = parent == NO_ID ? 0 : f->box_of_row[parent];
	}
}

/* Lays out the answer; zoom and cursor stay where they were, if that is still there. */
static void update(struct browser *b, const struct report *report)
{
	struct browser_flame *f = &b->flame;
	uint64_t serial = b->asked[BROWSER_TREE].serial;

	if (f->serial == serial)
		return;
	browser_tree_update(b, report);
	if (f->arena)
		arena_destroy(f->arena);
	f->arena = arena_create();
	f->flame = flame_lay_out(report->calltree, report->calltree, f->arena);
	f->serial = serial;
	link_boxes(f, report);
	f->zoom = find_box(b, f->zoom_path);
	f->cursor = find_box(b, f->cursor_path);
	if (f->zoom == 0)
		f->zoom_path = 0;
}

static const struct flame_box *box_at(const struct browser *b, uint32_t box)
{
	return &b->flame.flame->boxes[box];
}

/* Whether box is `in`, or in it. */
static bool is_in(const struct browser *b, uint32_t box, uint32_t in)
{
	while (box > in)
		box = b->flame.parent[box];
	return box == in;
}

static void set_cursor(struct browser *b, const struct report *report, uint32_t box)
{
	struct browser_flame *f = &b->flame;
	const struct flame_box *x = box_at(b, box);

	f->cursor = box;
	f->cursor_path = box_path(b, box);
	f->must_show = true;
	if (x->row != NO_ID)
		browser_select(b, entity_of(report, x));
}

static void set_zoom(struct browser *b, uint32_t box)
{
	b->flame.zoom = box;
	b->flame.zoom_path = box_path(b, box);
}

bool browser_flame_row(const struct browser *b, size_t *row)
{
	if (b->flame.flame == NULL || b->flame.cursor >= b->flame.flame->count)
		return false;
	*row = box_at(b, b->flame.cursor)->row;
	return *row != NO_ID;
}

void browser_flame_find(struct browser *b)
{
	const struct report *report = browser_report(b);
	uint32_t best = 0;

	if (report == NULL || report->calltree == NULL)
		return;
	update(b, report);
	size_t row;

	if (browser_flame_row(b, &row) &&
		browser_is_selected(b, entity_of(report, box_at(b, b->flame.cursor))))
		return;
	for (uint32_t i = 1; i < b->flame.flame->count; i++)
		if (browser_is_selected(b, entity_of(report, box_at(b, i))) &&
			(best == 0 || box_at(b, i)->width > box_at(b, best)->width))
			best = i;
	if (best == 0)
		return;
	if (!is_in(b, best, b->flame.zoom))
		set_zoom(b, 0);
	set_cursor(b, report, best);
}

/* ---- drawing ---- */

/* The column at which a weight begins, seen from the zoomed box. */
static unsigned column_of(const struct browser *b, uint64_t at, unsigned width)
{
	const struct flame_box *zoom = box_at(b, b->flame.zoom);

	if (at <= zoom->start || zoom->width == 0)
		return 0;
	at -= zoom->start;
	if (at >= zoom->width)
		return width;
	return (unsigned)((unsigned __int128)at * width / zoom->width);
}

static void put_box_name(struct strbuf *out, const struct browser *b, const struct report *report,
	const struct flame_box *box)
{
	struct strbuf scratch = {0};

	if (box->row == NO_ID) {
		strbuf_add(out, STR("all"));
		return;
	}
	escape_text(out, entity_label_apart(entity_of(report, box), &scratch));
	if (b->flame.has_stub[box->row])
		strbuf_add(out, STR(" \xe2\x86\xba"));
	strbuf_deinit(&scratch);
}

/* A steady colour for each module. */
static enum tui_style box_style(
	const struct browser *b, const struct report *report, const struct flame_box *box)
{
	if (box->row == NO_ID)
		return TUI_BOX;
	const struct entity *e = entity_of(report, box);

	if (browser_is_selected(b, e))
		return TUI_BOX_CHOSEN;
	return TUI_BOX + (enum tui_style)(hash_bytes(e->module.data, e->module.size) % TUI_BOXES);
}

static bool box_matches(
	const struct browser *b, const struct report *report, const struct flame_box *box)
{
	struct strbuf name = {0};

	put_box_name(&name, b, report, box);
	bool matches = b->search.text[0] && box->row != NO_ID &&
		       tui_find(strbuf_str(&name), b->search.text) >= 0;

	strbuf_deinit(&name);
	return matches;
}

static void draw_box(struct browser *b, const struct report *report, struct tui_canvas *canvas,
	unsigned y, unsigned x, unsigned end, uint32_t index)
{
	const struct flame_box *box = box_at(b, index);
	enum tui_style style = box_matches(b, report, box) ? TUI_MATCH : box_style(b, report, box);
	struct strbuf name = {0}, fitted = {0};

	tui_fill(canvas, y, x, end, style);
	tui_put(canvas, y, x, end, style, end - x == 1 ? STR("|") : STR("["));
	if (end - x > 1)
		tui_put(canvas, y, end - 1, end, style, STR("]"));
	if (end - x > 4) {
		put_box_name(&name, b, report, box);
		/* Little room: the middle and the arguments of a name would leave nothing of it. */
		if (end - x < NARROW)
			fit_start(&fitted, strbuf_str(&name), end - x - 2, b->utf8);
		else
			fit_text(&fitted, strbuf_str(&name), end - x - 2, b->utf8);
		tui_put(canvas, y, x + 1, end - 1, style, strbuf_str(&fitted));
	}
	if (index == b->flame.cursor)
		tui_select(canvas, y, x, end);
	strbuf_deinit(&name);
	strbuf_deinit(&fitted);
}

/* Whether the box is drawn in the zoomed part: the boxes that it is in are at the whole width. */
static bool is_shown(const struct browser *b, const struct flame_box *box, uint32_t index)
{
	const struct flame_box *zoom = box_at(b, b->flame.zoom);

	if (box->depth <= zoom->depth)
		return is_in(b, b->flame.zoom, index);
	return box->start >= zoom->start && box->start < zoom->start + zoom->width &&
	       index > b->flame.zoom;
}

static void draw_boxes(struct browser *b, const struct report *report, struct tui_canvas *canvas)
{
	struct browser_flame *f = &b->flame;

	for (uint32_t i = 0; i < f->flame->count; i++) {
		const struct flame_box *box = box_at(b, i);

		if (box->depth < f->top || box->depth >= f->top + f->height || !is_shown(b, box, i))
			continue;
		unsigned y = f->y + box->depth - f->top;
		unsigned x = column_of(b, box->start, f->width);
		unsigned end = column_of(b, box->start + box->width, f->width);

		if (x < end)
			draw_box(b, report, canvas, y, x, end, i);
		else if (x < f->width) {
			tui_put(canvas, y, x, f->width, TUI_DIM, STR("."));
			if (i == f->cursor)
				tui_select(canvas, y, x, x + 1);
		}
	}
}

/* Whether boxes that the limit left out could be a column wide. */
static bool lacks_boxes(const struct browser *b, const struct report *report)
{
	return report->calltree->count < report->calltree->whole_count &&
	       b->pages[BROWSER_TREE].limit < LIMIT_MAX &&
	       (unsigned __int128)calltree_least_weight(report->calltree) * b->width >=
		       box_at(b, b->flame.zoom)->width;
}

/* Asks for more rows if necessary: once, so that the screen shows some soon and others later. */
static const struct report *complete(struct browser *b, const struct report *report)
{
	if (!lacks_boxes(b, report))
		return report;
	b->pages[BROWSER_TREE].limit *= GROWTH;
	report = browser_report(b);
	if (report == NULL)
		return NULL;
	update(b, report);
	b->is_due |= lacks_boxes(b, report);
	return report;
}

/* Scrolls as little as shows the cursor, with a level or two below it. */
static void show_cursor(struct browser *b)
{
	struct browser_flame *f = &b->flame;
	uint32_t depth = box_at(b, f->cursor)->depth, margin = f->height > 6 ? 2 : 0;

	if (f->must_show && depth < f->top)
		f->top = depth;
	if (f->must_show && f->height && depth + margin >= f->top + f->height)
		f->top = depth + margin - f->height + 1;
	f->must_show = false;
}

static void draw_title(
	struct browser *b, const struct report *report, struct tui_canvas *canvas, unsigned y)
{
	static const char *const phrases[COLLAPSE_COUNT] = {
		[COLLAPSE_NONE] = "not collapsed",
		[COLLAPSE_DIRECT] = "direct calls collapsed",
		[COLLAPSE_CONSERVATIVE] = "collapsed conservatively",
		[COLLAPSE_FULL] = "collapsed in full",
	};
	unsigned x =
		tui_printf(canvas, y, 0, canvas->width, TUI_TITLE, "Flame graph%s, recursion %s",
			b->is_inverted ? " of callers" : "", phrases[report->query.collapse]);

	if (b->flame.zoom == 0)
		return;
	struct strbuf name = {0};

	put_box_name(&name, b, report, box_at(b, b->flame.zoom));
	x = tui_put(canvas, y, x, canvas->width, TUI_PLAIN, STR(", zoomed to "));
	tui_put_name(canvas, y, x, canvas->width, TUI_FOCUS, strbuf_str(&name));
	strbuf_deinit(&name);
}

void browser_flame_draw(struct browser *b, struct tui_canvas *canvas, unsigned y, unsigned end)
{
	const struct report *report = browser_report(b);
	struct browser_flame *f = &b->flame;

	if (report == NULL) {
		browser_page_draw(b, canvas, y, end);
		return;
	}
	update(b, report);
	report = complete(b, report);
	if (report == NULL)
		return;
	draw_title(b, report, canvas, y++);
	f->y = y;
	f->height = end > y ? end - y : 0;
	f->width = canvas->width - 1;
	uint32_t levels = f->flame->depth_max + 1;

	show_cursor(b);
	if (f->top + f->height > levels)
		f->top = levels > f->height ? levels - f->height : 0;
	draw_boxes(b, report, canvas);
	struct tui_list list = {.count = levels, .top = f->top, .y = y, .height = f->height};

	tui_list_draw_bar(&list, canvas, canvas->width - 1);
}

/* ---- keys ---- */

static uint32_t first_child(const struct browser *b, uint32_t box)
{
	return box + 1 < b->flame.flame->count && b->flame.parent[box + 1] == box ? box + 1 : box;
}

/* The next box of the same depth in the zoomed part; itself: none. */
static uint32_t beside(const struct browser *b, uint32_t box, int by)
{
	const struct flame *flame = b->flame.flame;
	uint32_t depth = flame->boxes[box].depth;

	for (uint32_t i = box; by > 0 ? i + 1 < flame->count : i > 0;) {
		i = by > 0 ? i + 1 : i - 1;
		if (flame->boxes[i].depth == depth && is_shown(b, &flame->boxes[i], i))
			return i;
	}
	return box;
}

static uint32_t move_by(const struct browser *b, uint32_t box, long levels)
{
	for (; levels < 0 && box != 0; levels++)
		box = b->flame.parent[box];
	for (; levels > 0 && first_child(b, box) != box; levels--)
		box = first_child(b, box);
	return box;
}

/* Where the recursion of a box goes on: the target of its first stub. */
static uint32_t stub_target(const struct browser *b, const struct report *report, uint32_t box)
{
	const struct calltree *tree = report->calltree;
	uint32_t row = box_at(b, box)->row;

	for (uint32_t i = row == NO_ID ? NO_ID : row + 1;
		i < tree->count && tree->rows[i].level > tree->rows[row].level; i++)
		if (tree->rows[i].is_stub && tree->rows[i].parent == row)
			return b->flame.box_of_row[tree->rows[i].target];
	return NO_ID;
}

static void follow_stub(struct browser *b, const struct report *report)
{
	uint32_t target = stub_target(b, report, b->flame.cursor);

	if (target == NO_ID) {
		browser_say(b, TUI_NOTICE, "no recursion goes on from here");
		return;
	}
	if (!is_in(b, target, b->flame.zoom))
		set_zoom(b, 0);
	set_cursor(b, report, target);
	browser_say(b, TUI_GOOD, "the recursion goes on here");
}

static void unzoom(struct browser *b)
{
	if (b->flame.zoom)
		set_zoom(b, b->flame.parent[b->flame.zoom]);
}

static bool move_key(const struct browser *b, uint32_t key, uint32_t *box)
{
	long page = b->flame.height > 1 ? (long)b->flame.height - 1 : 1;

	if (key == TUI_KEY_UP || key == 'k')
		*box = move_by(b, *box, -1);
	else if (key == TUI_KEY_DOWN || key == 'j')
		*box = move_by(b, *box, 1);
	else if (key == TUI_KEY_LEFT)
		*box = beside(b, *box, -1);
	else if (key == TUI_KEY_RIGHT)
		*box = beside(b, *box, 1);
	else if (key == TUI_KEY_PAGE_UP)
		*box = move_by(b, *box, -page);
	else if (key == TUI_KEY_PAGE_DOWN)
		*box = move_by(b, *box, page);
	else if (key == TUI_KEY_HOME)
		*box = b->flame.zoom;
	else if (key == TUI_KEY_END)
		*box = move_by(b, *box, INT32_MAX);
	else
		return false;
	return true;
}

bool browser_flame_key(struct browser *b, uint32_t key)
{
	const struct report *report = browser_report(b);

	if (report == NULL)
		return false;
	update(b, report);
	uint32_t box = b->flame.cursor;

	if (move_key(b, key, &box)) {
		set_cursor(b, report, box);
		if (!is_in(b, box, b->flame.zoom))
			set_zoom(b, box);
		return true;
	}
	switch (key) {
	case TUI_KEY_ENTER:
		set_zoom(b, b->flame.cursor);
		return true;
	case TUI_KEY_BACKSPACE:
		unzoom(b);
		return true;
	case TUI_KEY_ESCAPE:
		if (b->flame.zoom == 0)
			return false;
		set_zoom(b, 0);
		return true;
	case 'r':
		follow_stub(b, report);
		return true;
	default:
		return false;
	}
}

static bool box_at_place(const struct browser *b, unsigned x, unsigned y, uint32_t *found)
{
	const struct browser_flame *f = &b->flame;

	if (y < f->y || y >= f->y + f->height)
		return false;
	for (uint32_t i = 0; i < f->flame->count; i++) {
		const struct flame_box *box = box_at(b, i);

		if (box->depth != f->top + (y - f->y) || !is_shown(b, box, i))
			continue;
		unsigned begin = column_of(b, box->start, f->width);
		unsigned end = column_of(b, box->start + box->width, f->width);

		if (x >= begin && (x < end || (begin == end && x == begin))) {
			*found = i;
			return true;
		}
	}
	return false;
}

void browser_flame_mouse(struct browser *b, struct tui_mouse event)
{
	const struct report *report = browser_report(b);
	struct browser_flame *f = &b->flame;
	uint32_t box;

	if (report == NULL)
		return;
	update(b, report);
	if (event.click == TUI_WHEEL_UP)
		f->top -= f->top < BROWSER_WHEEL ? f->top : BROWSER_WHEEL;
	else if (event.click == TUI_WHEEL_DOWN)
		f->top += BROWSER_WHEEL; /* drawing limits it */
	else if (box_at_place(b, event.x, event.y, &box)) {
		set_cursor(b, report, box);
		if (event.click == TUI_CLICK_DOUBLE)
			set_zoom(b, box);
	}
}

bool browser_flame_search(struct browser *b, int direction, bool from_here)
{
	const struct report *report = browser_report(b);

	if (report == NULL)
		return false;
	update(b, report);
	uint32_t count = (uint32_t)b->flame.flame->count;

	for (uint32_t i = from_here ? 0 : 1; i <= count; i++) {
		uint32_t box = (b->flame.cursor + (direction > 0 ? i : 2 * count - i)) % count;

		if (!box_matches(b, report, box_at(b, box)))
			continue;
		if (!is_in(b, box, b->flame.zoom))
			set_zoom(b, 0);
		set_cursor(b, report, box);
		return true;
	}
	return false;
}
