/*
 * The screen, from above: the program and what was measured, the views' names, the filters, the
 * view, the selected function, and what keys there are.
 */
#include "browse/state.h"

#include "base/escape.h"
#include "view/text/heading.h"
#include "view/tui/bar.h"
#include "view/views.h"

enum { WIDE_TABS = 96 };

/* Where a view's name begins and ends. */
static unsigned tab_end(unsigned width, enum browser_view view, unsigned *start)
{
	unsigned gap = width >= WIDE_TABS ? 2 : 1, x = 0;

	for (unsigned i = 0;; i++) {
		*start = x;
		x += (unsigned)strlen(browser_view_names[i]) + 2;
		if (i == (unsigned)view)
			return x;
		x += gap;
	}
}

bool browser_tab_at(const struct browser *b, unsigned x, unsigned y, enum browser_view *view)
{
	for (unsigned i = 0; y == BROWSER_TABS_Y && b->tabs_width && i < BROWSER_VIEWS; i++) {
		unsigned start, end = tab_end(b->tabs_width, (enum browser_view)i, &start);

		if (x >= start && x < end) {
			*view = (enum browser_view)i;
			return true;
		}
	}
	return false;
}

static void draw_tabs(struct browser *b, struct tui_canvas *canvas)
{
	b->tabs_width = canvas->width;
	for (unsigned i = 0; i < BROWSER_VIEWS; i++) {
		enum browser_view view = (enum browser_view)i;
		unsigned start, end = tab_end(canvas->width, view, &start);
		enum tui_style style = view == b->view		   ? TUI_SORTED
				       : browser_has_view(b, view) ? TUI_LABEL
								   : TUI_DIM;

		tui_printf(canvas, BROWSER_TABS_Y, start, start + 1,
			view == b->view ? TUI_SORTED : TUI_KEY, "%u", i + 1);
		if (view == b->view)
			tui_put(canvas, BROWSER_TABS_Y, start + 1, end, style, STR(" "));
		tui_put(canvas, BROWSER_TABS_Y, start + 2, end, style,
			str_from(browser_view_names[i]));
	}
}

/* Puts a text left of `end`, with a blank before it; returns where it begins. */
static unsigned put_left_of(
	struct tui_canvas *canvas, unsigned end, enum tui_style style, struct str text)
{
	unsigned width = (unsigned)utf8_width(text), begin = end > width ? end - width : 0;

	tui_fill(canvas, BROWSER_CHIPS_Y, begin ? begin - 1 : 0, end, TUI_PLAIN);
	tui_put(canvas, BROWSER_CHIPS_Y, begin, end, style, text);
	return begin;
}

/* At the end of the line of filters: whether what is shown goes on, and what is known of it. */
static void draw_state(struct browser *b, struct tui_canvas *canvas)
{
	const char *state = browser_live_state(b);
	struct strbuf words = {0};
	bool is_trouble = false;

	if (state == NULL)
		return;
	unsigned begin = put_left_of(
		canvas, canvas->width, b->is_paused ? TUI_NOTICE : TUI_GOOD, str_from(state));
	if (b->options.live.state == NULL || begin < 3)
		return;
	escape_text(&words, str_from(b->options.live.state(b->options.live.data, &is_trouble)));
	tui_fill(canvas, BROWSER_CHIPS_Y, begin - 2, begin, TUI_PLAIN);
	put_left_of(canvas, begin - 2, is_trouble ? TUI_TROUBLE : TUI_LABEL, strbuf_str(&words));
	strbuf_deinit(&words);
}

/* The heading of the text report: its first line, and what was measured. */
static void draw_heading(struct browser *b, struct tui_canvas *canvas)
{
	const struct answer *answer = browser_asked(b)->answer;
	struct text_style style = {.utf8 = b->utf8};
	struct sink sink;
	struct text text = {.sink = &sink, .style = &style};
	struct str rest, program, measured = {0};

	sink_init_memory(&sink);
	if (answer)
		heading_draw(&text, answer->reports[0]);
	else
		heading_draw_program(&text, "", b->profile);
	rest = strbuf_str(&sink.text);
	program = str_take_line(&rest);
	if (answer)
		measured = str_take_line(&rest);
	unsigned width = (unsigned)utf8_width(measured);
	unsigned end = width + 20 < canvas->width ? canvas->width - width : canvas->width;

	if (end < canvas->width)
		tui_put(canvas, 0, end, canvas->width, TUI_LABEL, measured);
	tui_put_name(canvas, 0, 0, end < canvas->width ? end - 2 : end, TUI_TITLE, program);
	strbuf_deinit(&sink.text);
}

/* "1.234 s, 12.3%"; zero is just that. */
static void put_both(struct strbuf *out, const struct report *report, size_t row,
	enum column_id weight, enum column_id percent)
{
	struct cell cell = columns[weight].get(report, row);

	browser_figure_put(out, report, row, weight);
	if (cell.weight == 0 && cell.indirect == 0)
		return;
	strbuf_add(out, STR(", "));
	browser_figure_put(out, report, row, percent);
}

/*
 * The figures of the box at the cursor, which its line does not show, at the right.  Returns where
 * they begin.
 */
static unsigned draw_box_figures(
	struct browser *b, const struct report *report, struct tui_canvas *canvas, unsigned y)
{
	bool is_narrow = canvas->width < 100;
	struct strbuf text = {0};
	size_t row;

	if (!browser_flame_row(b, &row))
		return canvas->width;
	put_both(&text, report, row, COLUMN_IN_OR_UNDER, COLUMN_IN_OR_UNDER_PERCENT);
	strbuf_add(&text, is_narrow ? STR("; in only ") : STR(" in or under;  "));
	put_both(&text, report, row, COLUMN_IN_ONLY, COLUMN_IN_ONLY_PERCENT);
	strbuf_add(&text, is_narrow ? STR("") : STR(" in only"));
	unsigned width = (unsigned)utf8_width(strbuf_str(&text));
	unsigned begin = canvas->width > width ? canvas->width - width : 0;

	tui_put(canvas, y, begin, canvas->width, TUI_PLAIN, strbuf_str(&text));
	strbuf_deinit(&text);
	return begin > 2 ? begin - 2 : 0;
}

static void draw_selected(struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	const struct report *report = browser_is_answered(b) ? browser_report(b) : NULL;
	unsigned x, end = canvas->width;

	if (b->view == BROWSER_FLAME && report)
		end = draw_box_figures(b, report, canvas, y);
	x = tui_put(canvas, y, 0, end, TUI_DIM, STR("selected: "));
	if (b->name.size == 0) {
		tui_put(canvas, y, x, end, TUI_DIM, STR("no function"));
		return;
	}
	x = tui_put_name(canvas, y, x, end, TUI_FOCUS, strbuf_str(&b->name));
	if (b->module.size && x + 4 < end)
		tui_put_name(canvas, y, x + 1, end, TUI_DIM, strbuf_str(&b->module));
}

static void draw_keys(const struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	static const struct tui_key_help flame[] = {{"q", "quit"}, {"?", "help"}, {"Enter", "zoom"},
		{"Bksp", "out"}, {"c", "collapse"}, {"I", "invert"}, {"r", "recursion"},
		{"/", "search"}, {"w", "when"}, {"f", "focus"}, {"u", "undo"}, {"m", "metric"}};
	static const struct tui_key_help tree[] = {{"q", "quit"}, {"?", "help"},
		{"←→", "close, open"}, {"*", "open all"}, {"c", "collapse"}, {"I", "invert"},
		{"/", "search"}, {"w", "when"}, {"f", "focus"}, {"u", "undo"}, {"m", "metric"}};
	static const struct tui_key_help functions[] = {{"q", "quit"}, {"?", "help"},
		{"Enter", "callers"}, {"<>", "sort"}, {"l", "level"}, {"/", "search"},
		{"w", "when"}, {"f", "focus"}, {"u", "undo"}, {"m", "metric"}};
	static const struct tui_key_help others[] = {{"q", "quit"}, {"?", "help"},
		{"Enter", "callers"}, {"Bksp", "back"}, {"/", "search"}, {"w", "when"},
		{"f", "focus"}, {"u", "undo"}, {"m", "metric"}};

	if (b->view == BROWSER_FLAME)
		tui_bar_draw(canvas, y, flame, ARRAY_SIZE(flame));
	else if (b->view == BROWSER_TREE)
		tui_bar_draw(canvas, y, tree, ARRAY_SIZE(tree));
	else if (b->view == BROWSER_FUNCTIONS)
		tui_bar_draw(canvas, y, functions, ARRAY_SIZE(functions));
	else
		tui_bar_draw(canvas, y, others, ARRAY_SIZE(others));
}

/* Whether the answer is there, or can be made at once; else the screen says that it is awaited. */
static bool is_ready(struct browser *b)
{
	return !b->is_large || browser_is_answered(b);
}

static void draw_view(struct browser *b, struct tui_canvas *canvas)
{
	unsigned end = canvas->height > BROWSER_TOP + BROWSER_BOTTOM
			       ? canvas->height - BROWSER_BOTTOM
			       : BROWSER_TOP;

	if (!is_ready(b)) {
		b->is_due = true;
		tui_put(canvas, BROWSER_TOP + 1, 2, canvas->width, TUI_NOTICE,
			STR("adding up the stacks ..."));
		return;
	}
	if (b->view == BROWSER_FLAME)
		browser_flame_draw(b, canvas, BROWSER_TOP, end);
	else
		browser_page_draw(b, canvas, BROWSER_TOP, end);
}

void browser_draw(struct browser *b, struct tui_canvas *canvas)
{
	unsigned last = canvas->height - 1;

	b->width = canvas->width;
	b->height = canvas->height;
	b->utf8 = canvas->utf8;
	draw_view(b, canvas);
	draw_heading(b, canvas);
	draw_tabs(b, canvas);
	browser_chips_draw(b, canvas, BROWSER_CHIPS_Y);
	draw_state(b, canvas);
	tui_fill(canvas, last, 0, canvas->width, TUI_PLAIN);
	if (last > BROWSER_TOP)
		draw_selected(b, canvas, last - 1);
	if (b->prompt != PROMPT_NONE)
		browser_prompt_draw(b, canvas, last);
	else if (b->message.text[0])
		tui_message_draw(&b->message, canvas, last);
	else
		draw_keys(b, canvas, last);
	if (b->has_help)
		browser_help_draw(b, canvas);
}
