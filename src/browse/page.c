/*
 * Views that are lines of text: each is drawn as `sonde report` draws it, at the width of the
 * screen, and a part of its lines is shown.  The title and the headings stay.
 *
 * The cursor steps over lines without a row as long as a row follows.  Where it comes near the last
 * row, and the report left some out, more are asked for.
 */
#include "browse/state.h"

#include "base/escape.h"
#include "view/text/table.h"
#include "view/text/units.h"
#include "view/tui/find.h"
#include "view/views.h"

/* Columns left of the text: the selected function's mark, whether a row is open, a blank. */
enum { GUTTER = 3, BAR = 1, GROWTH = 4, SEARCH_LIMIT = 200000 };

static struct browser_page *page_of(struct browser *b)
{
	return &b->pages[b->view];
}

void browser_page_deinit(struct browser_page *page)
{
	text_lines_deinit(&page->lines);
}

static const struct text_line *body_line(const struct browser_page *page, size_t at)
{
	return &page->lines.lines.data[page->lines.head_count + at];
}

static struct str line_text(const struct browser_page *page, const struct text_line *line)
{
	return (struct str){page->lines.text.data + line->begin, line->end - line->begin};
}

static const struct entity *row_entity(const struct report *report, size_t row)
{
	return report->query.view->entity ? report->query.view->entity(report, row) : NULL;
}

/* Whether rows of the view are functions, which can be selected. */
static bool has_functions(const struct browser *b)
{
	return b->view == BROWSER_TREE || b->view == BROWSER_CALLERS || b->view == BROWSER_GRAPH ||
	       (b->view == BROWSER_FUNCTIONS && b->level == LEVEL_FUNCTION);
}

/* Whether the function at the cursor is the selected one. */
static bool selects_by_cursor(const struct browser *b)
{
	return has_functions(b) && b->view != BROWSER_CALLERS;
}

bool browser_page_row(struct browser *b, size_t *row)
{
	const struct browser_page *page = page_of(b);

	if (page->list.cursor >= page->list.count)
		return false;
	*row = body_line(page, page->list.cursor)->row;
	return *row != NO_ID;
}

bool browser_page_go(struct browser *b, size_t row)
{
	struct browser_page *page = page_of(b);

	for (size_t i = 0; i < page->list.count; i++)
		if (body_line(page, i)->row == row) {
			page->list.cursor = i;
			tui_list_settle(&page->list);
			return true;
		}
	return false;
}

/* Selects the function at the cursor. */
static void mark(struct browser *b)
{
	const struct report *report = browser_report(b);
	size_t row;

	if (report && selects_by_cursor(b) && browser_page_row(b, &row)) {
		const struct entity *entity = row_entity(report, row);

		if (entity)
			browser_select(b, entity);
	}
}

/* ---- layout ---- */

static bool is_selected_line(const struct browser *b, const struct browser_page *page,
	const struct report *report, size_t at)
{
	uint32_t row = body_line(page, at)->row;

	return row != NO_ID && has_functions(b) && row_entity(report, row) &&
	       browser_is_selected(b, row_entity(report, row));
}

/* Whether the row is an entry's own, not one of its callers or callees. */
static bool is_own_row(const struct report *report, size_t row)
{
	const struct view *view = report->query.view;

	return view->part == NULL || view->part(report, row) == 0;
}

/* Of a function's code: on the row where most was spent. */
static void place_at_hottest(struct browser_page *page, const struct report *report)
{
	int64_t most = 0;

	for (size_t i = 0; i < page->list.count; i++) {
		uint32_t row = body_line(page, i)->row;
		struct cell cell;

		/* What is on no known line is not a place to look at. */
		if (row == NO_ID || report->listing->rows[row].text.data == NULL)
			continue;
		cell = columns[COLUMN_LISTING_EXCLUSIVE].get(report, row);
		if (cell.is_null || cell.weight <= most)
			continue;
		most = cell.weight;
		page->list.cursor = i;
	}
	page->list.top = page->list.cursor > 5 ? page->list.cursor - 5 : 0;
}

static size_t first_row(const struct browser_page *page)
{
	for (size_t i = 0; i < page->list.count; i++)
		if (body_line(page, i)->row != NO_ID)
			return i;
	return 0;
}

/* The first line that is the selected function's own; SIZE_MAX: there is none. */
static size_t selected_line(
	const struct browser *b, const struct browser_page *page, const struct report *report)
{
	for (size_t i = 0; i < page->list.count; i++)
		if (is_selected_line(b, page, report, i) &&
			is_own_row(report, body_line(page, i)->row))
			return i;
	return SIZE_MAX;
}

/* After a new answer: the cursor is on the selected function, or on the first row. */
static void place_cursor(struct browser *b, struct browser_page *page, const struct report *report)
{
	size_t line = selected_line(b, page, report);

	if (line != SIZE_MAX) {
		page->list.cursor = line;
		/* With some of what is above: in the graph, the callers. */
		page->list.top = line > page->list.height / 3 ? line - page->list.height / 3 : 0;
		return;
	}
	page->list.cursor = first_row(page);
	page->list.top = 0;
	if (report->listing)
		place_at_hottest(page, report);
}

/* The line where the cursor was, in the answer of a newer session. */
static size_t kept_line(
	struct browser *b, const struct browser_page *page, const struct report *report)
{
	size_t line = selects_by_cursor(b) ? selected_line(b, page, report) : SIZE_MAX;

	if (b->view == BROWSER_TREE) {
		uint32_t row = browser_tree_find(&b->tree, report, page->kept.path);

		for (size_t i = 0; row != NO_ID && i < page->list.count; i++)
			if (body_line(page, i)->row == row)
				return i;
	}
	return line == SIZE_MAX ? page->kept.cursor : line;
}

/*
 * After the answer of a newer session: the cursor's row is on the same line of the screen.  A
 * cursor at the top stays there, on whatever is first now.
 */
static void keep_cursor(struct browser *b, struct browser_page *page, const struct report *report)
{
	size_t on_screen = page->kept.cursor - page->kept.top;
	bool is_at_top = page->kept.cursor <= first_row(page);
	size_t line = is_at_top ? first_row(page) : kept_line(b, page, report);

	page->list.cursor = line;
	page->list.top = line > on_screen ? line - on_screen : 0;
	if (is_at_top)
		mark(b);
}

void browser_page_keep(struct browser *b)
{
	struct browser_page *page = page_of(b);
	size_t row;

	page->kept.is_set = page->serial != 0;
	page->kept.cursor = page->list.cursor;
	page->kept.top = page->list.top;
	page->kept.path = b->view == BROWSER_TREE && page->serial && browser_page_row(b, &row)
				  ? b->tree.path[row]
				  : 0;
}

static void lay_out(struct browser *b, struct browser_page *page, const struct report *report)
{
	unsigned around = GUTTER + BAR;
	struct text_style style = {.width = b->width > around + 20 ? b->width - around : 20,
		.utf8 = b->utf8,
		.all_notes = true};
	struct report shown = *report;

	if (b->view == BROWSER_TREE) {
		browser_tree_update(b, report);
		shown = browser_tree_report(b, report);
	}
	text_lines_draw(&page->lines, &shown, &style);
	page->list.count = page->lines.lines.count - page->lines.head_count;
}

/* Whether only more rows were asked for, so that those before are where they were. */
static bool is_longer(const struct browser_page *page, size_t before)
{
	return page->serial != 0 && page->list.count > before && page->list.cursor + 1 >= before;
}

void browser_page_update(struct browser *b)
{
	struct browser_page *page = page_of(b);
	const struct report *report = browser_report(b);
	uint64_t serial = browser_asked(b)->serial;

	if (report == NULL) {
		page->list.count = 0;
		page->serial = 0;
		return;
	}
	if (page->serial == serial && page->width == b->width && !page->is_stale)
		return;
	bool is_new = page->serial != serial, was_on_row;
	size_t row = 0;

	was_on_row = !is_new && browser_page_row(b, &row);
	lay_out(b, page, report);
	if (is_new && page->kept.is_set)
		keep_cursor(b, page, report);
	else if (is_new)
		place_cursor(b, page, report);
	else if (was_on_row)
		browser_page_go(b, row);
	page->kept.is_set = false;
	page->serial = serial;
	page->width = b->width;
	page->is_stale = false;
	tui_list_settle(&page->list);
	if (is_new && b->name.size == 0)
		mark(b);
}

/* Asks for more rows; false: all are there. */
static bool grow(struct browser *b)
{
	const struct report *report = browser_report(b);
	struct browser_page *page = page_of(b);
	size_t cursor = page->list.cursor, top = page->list.top, before = page->list.count;

	if (report == NULL || report->entries_shown >= report->entry_count || page->limit == 0)
		return false;
	page->limit *= GROWTH;
	if (b->view == BROWSER_TREE) {
		/* Rows are not where they were, but the same are open. */
		browser_page_update(b);
		return true;
	}
	browser_page_update(b);
	if (page->list.count > before || is_longer(page, before)) {
		page->list.cursor = cursor;
		page->list.top = top;
		tui_list_settle(&page->list);
	}
	return true;
}

/* Whether the last rows are on the screen, so that more must be asked for. */
static bool is_near_end(const struct browser_page *page)
{
	return page->list.top + 2 * (size_t)page->list.height >= page->list.count;
}

/* ---- drawing ---- */

static enum tui_style style_of(enum ink ink)
{
	switch (ink) {
	case INK_TITLE:
	case INK_KEYWORD:
		return TUI_TITLE;
	case INK_DIM:
		return TUI_DIM;
	case INK_HOT:
		return TUI_HEAT + TUI_HEATS - 1;
	case INK_WARM:
		return TUI_HEAT + 4;
	case INK_STUB:
		return TUI_LABEL;
	case INK_NOTE:
		return TUI_NOTICE;
	case INK_STRING:
		return TUI_GOOD;
	case INK_NUMBER:
		return TUI_KEY;
	case INK_PLAIN:
		break;
	}
	return TUI_PLAIN;
}

static void draw_line(const struct browser_page *page, const struct text_line *line,
	struct tui_canvas *canvas, unsigned y, unsigned end)
{
	size_t at = line->begin, span = line->span_begin;
	enum ink ink = line->ink_begin;
	unsigned x = GUTTER;

	while (at < line->end) {
		size_t next = line->end;

		if (span < page->lines.spans.count && page->lines.spans.data[span].begin < next)
			next = page->lines.spans.data[span].begin;
		x = tui_put(canvas, y, x, end, style_of(ink),
			(struct str){page->lines.text.data + at, next - at});
		if (next < line->end)
			ink = page->lines.spans.data[span++].ink;
		at = next;
	}
}

/* Marks all matches of the search in the line. */
static void draw_matches(const struct browser *b, struct str text, struct tui_canvas *canvas,
	unsigned y, unsigned end)
{
	size_t size = strlen(b->search.text), done = 0;
	long at;

	if (size == 0)
		return;
	while ((at = tui_find((struct str){text.data + done, text.size - done}, b->search.text)) >=
		0) {
		unsigned x =
			GUTTER + (unsigned)utf8_width((struct str){text.data, done + (size_t)at});
		unsigned width = (unsigned)utf8_width((struct str){text.data + done + at, size});

		if (x < end)
			tui_restyle(canvas, y, x, x + width < end ? x + width : end, TUI_MATCH);
		done += (size_t)at + size;
	}
}

static void draw_gutter(struct browser *b, const struct report *report, size_t at,
	struct tui_canvas *canvas, unsigned y)
{
	const struct browser_page *page = page_of(b);
	uint32_t row = body_line(page, at)->row;

	if (is_selected_line(b, page, report, at))
		tui_put(canvas, y, 0, 1, TUI_FOCUS, STR(">"));
	if (b->view == BROWSER_TREE && row != NO_ID) {
		char sign = browser_tree_mark(b, report, row);

		tui_put(canvas, y, 1, 2, TUI_KEY, (struct str){&sign, 1});
	}
}

static void draw_head(
	const struct browser_page *page, struct tui_canvas *canvas, unsigned y, unsigned end)
{
	size_t count = page->lines.head_count;

	for (size_t i = 0; i < count && y + i < end; i++) {
		unsigned line_y = y + (unsigned)i;

		draw_line(page, &page->lines.lines.data[i], canvas, line_y, canvas->width);
		if (i > 0 && i + 1 == count)
			tui_restyle(canvas, line_y, 0, canvas->width, TUI_HEAD);
	}
}

static void draw_problem(const char *problem, struct tui_canvas *canvas, unsigned y, unsigned end)
{
	struct strbuf escaped = {0};
	struct str rest;

	escape_text(&escaped, str_from(problem));
	rest = strbuf_str(&escaped);
	for (y++; rest.size && y < end; y++) {
		size_t size = rest.size;

		/* Broken at blanks. */
		while (utf8_width((struct str){rest.data, size}) + 4 > canvas->width && size > 1) {
			size--;
			while (size > 1 && rest.data[size] != ' ' && canvas->width > 40)
				size--;
		}
		tui_put(canvas, y, 2, canvas->width, TUI_NOTICE, (struct str){rest.data, size});
		while (size < rest.size && rest.data[size] == ' ')
			size++;
		rest = (struct str){rest.data + size, rest.size - size};
	}
	strbuf_deinit(&escaped);
}

void browser_page_draw(struct browser *b, struct tui_canvas *canvas, unsigned y, unsigned end)
{
	struct browser_page *page = page_of(b);
	const struct report *report = browser_report(b);

	if (report == NULL) {
		draw_problem(browser_asked(b)->problem, canvas, y, end);
		return;
	}
	/* Known before the first layout, which places the cursor in it. */
	page->list.height = end > y ? end - y : 0;
	browser_page_update(b);
	draw_head(page, canvas, y, end);
	page->list.y = y + (unsigned)page->lines.head_count;
	page->list.height = end > page->list.y ? end - page->list.y : 0;
	tui_list_settle(&page->list);
	if (is_near_end(page) && b->view != BROWSER_TREE && grow(b))
		report = browser_report(b);
	for (unsigned i = 0; i < page->list.height && page->list.top + i < page->list.count; i++) {
		size_t at = page->list.top + i;
		const struct text_line *line = body_line(page, at);
		unsigned line_y = page->list.y + i;

		draw_line(page, line, canvas, line_y, canvas->width - BAR);
		draw_matches(b, line_text(page, line), canvas, line_y, canvas->width - BAR);
		draw_gutter(b, report, at, canvas, line_y);
		if (at == page->list.cursor)
			tui_select(canvas, line_y, 0, canvas->width - BAR);
	}
	tui_list_draw_bar(&page->list, canvas, canvas->width - 1);
}

void browser_figure_put(
	struct strbuf *out, const struct report *report, size_t row, enum column_id id)
{
	struct cell cell = columns[id].get(report, row);

	if (cell.is_null)
		return;
	if (columns[id].kind == COLUMN_KIND_PERCENT)
		percent_put(out, cell.weight, cell.base);
	else
		scale_put(out, report_scale(report), cell.weight);
	if (cell.indirect == 0)
		return;
	strbuf_add(out, STR(" ("));
	if (columns[id].kind == COLUMN_KIND_PERCENT)
		percent_put(out, cell.indirect, cell.base);
	else
		scale_put(out, report_scale(report), cell.indirect);
	strbuf_add_char(out, ')');
}

/* ---- moving ---- */

/* Leaves lines without a row in the direction of the move, if a row follows there. */
static void step_over(struct browser_page *page, bool up)
{
	size_t at = page->list.cursor;

	while (at < page->list.count && body_line(page, at)->row == NO_ID) {
		if (up && at == 0)
			return;
		at = up ? at - 1 : at + 1;
	}
	if (at < page->list.count)
		page->list.cursor = at;
	tui_list_settle(&page->list);
}

static bool move(struct browser *b, uint32_t key)
{
	struct browser_page *page = page_of(b);
	size_t before = page->list.cursor;

	if (!tui_list_key(&page->list, key))
		return false;
	/* The head of a list that is scrolled to its begin has nothing above. */
	if (page->list.cursor != before)
		step_over(page, page->list.cursor < before);
	if (key == TUI_KEY_END && b->view != BROWSER_TREE && grow(b))
		tui_list_key(&page->list, key);
	mark(b);
	return true;
}

/* In the callers view a caller or callee becomes the centre; in the graph, its entry is shown. */
static bool enter(struct browser *b)
{
	const struct report *report = browser_report(b);
	const struct entity *entity;
	size_t row;

	if (report == NULL || !browser_page_row(b, &row))
		return true;
	entity = row_entity(report, row);
	if (entity && b->view == BROWSER_THREADS) {
		browser_prompt_open(b, PROMPT_FILTER, FILTER_THREAD);
		return true;
	}
	if (!has_functions(b) || entity == NULL)
		return true;
	if (b->view == BROWSER_CALLERS && entity->module.data == NULL &&
		str_equal(entity->name, STR("<Total>")))
		return true;
	browser_enter(b, entity);
	browser_show(b, BROWSER_CALLERS);
	return true;
}

bool browser_page_key(struct browser *b, uint32_t key)
{
	browser_page_update(b);
	if (b->view == BROWSER_TREE && browser_tree_key(b, key)) {
		browser_page_update(b);
		mark(b);
		return true;
	}
	if (move(b, key))
		return true;
	switch (key) {
	case TUI_KEY_ENTER:
		return enter(b);
	case TUI_KEY_BACKSPACE:
		browser_return(b);
		return true;
	case '<':
	case '>':
		if (b->view == BROWSER_FUNCTIONS)
			browser_next_sort(b, key == '<' ? -1 : 1);
		return true;
	case 'l':
		if (b->view == BROWSER_FUNCTIONS)
			browser_next_level(b);
		return true;
	default:
		return false;
	}
}

void browser_page_mouse(struct browser *b, struct tui_mouse event)
{
	struct browser_page *page = page_of(b);
	size_t at;

	browser_page_update(b);
	if (event.click == TUI_WHEEL_UP || event.click == TUI_WHEEL_DOWN) {
		bool up = event.click == TUI_WHEEL_UP;

		tui_list_move(&page->list, up ? -BROWSER_WHEEL : BROWSER_WHEEL);
		step_over(page, up);
		mark(b);
		return;
	}
	if (!tui_list_at(&page->list, event.y, &at))
		return;
	page->list.cursor = at;
	mark(b);
	if (event.click == TUI_CLICK_DOUBLE)
		browser_page_key(b, TUI_KEY_ENTER);
	else if (b->view == BROWSER_TREE && event.x < GUTTER)
		browser_page_key(b, ' ');
}

/* ---- search ---- */

static bool search_lines(struct browser *b, int direction, bool from_here)
{
	struct browser_page *page = page_of(b);
	size_t count = page->list.count;

	for (size_t i = from_here ? 0 : 1; i <= count && count; i++) {
		size_t at = (page->list.cursor + (direction > 0 ? i : 2 * count - i)) % count;
		const struct text_line *line = body_line(page, at);

		if (tui_find(line_text(page, line), b->search.text) < 0)
			continue;
		page->list.cursor = at;
		tui_list_settle(&page->list);
		mark(b);
		return true;
	}
	return false;
}

bool browser_page_search(struct browser *b, int direction, bool from_here)
{
	browser_page_update(b);
	if (b->view == BROWSER_TREE)
		return browser_tree_search(b, direction, from_here);
	while (!search_lines(b, direction, from_here))
		if (page_of(b)->limit >= SEARCH_LIMIT || !grow(b))
			return false;
	return true;
}
