/*
 * The stack of filters.  Each change makes a new stack; the earlier ones remain for undo.  Texts
 * are in the browser's arena for as long as it runs, so answers can refer to them.
 */
#include "browse/state.h"

#include "base/escape.h"
#include "view/text/heading.h"

struct browser_stack browser_filters(const struct browser *b)
{
	return b->history.data[b->history_at];
}

static void push_stack(struct browser *b, const struct browser_filter *items, size_t count)
{
	b->history.count = b->history_at + 1;
	vec_push(&b->history, (struct browser_stack){items, count});
	b->history_at++;
}

void browser_filter_add(struct browser *b, enum filter_kind kind, struct str text)
{
	struct browser_stack now = browser_filters(b);
	struct browser_filter *items = ARENA_ARRAY(b->arena, struct browser_filter, now.count + 1);

	if (now.count)
		memcpy(items, now.items, now.count * sizeof(*items));
	items[now.count] = (struct browser_filter){kind, arena_str(b->arena, text).data};
	push_stack(b, items, now.count + 1);
}

void browser_filter_remove(struct browser *b, size_t at)
{
	struct browser_stack now = browser_filters(b);

	if (at >= now.count)
		return;
	struct browser_filter *items = ARENA_ARRAY(b->arena, struct browser_filter, now.count);

	memcpy(items, now.items, at * sizeof(*items));
	memcpy(items + at, now.items + at + 1, (now.count - at - 1) * sizeof(*items));
	push_stack(b, items, now.count - 1);
}

void browser_filters_clear(struct browser *b)
{
	if (browser_filters(b).count)
		push_stack(b, NULL, 0);
}

static void say_where(struct browser *b, const char *what)
{
	size_t count = browser_filters(b).count;

	browser_say(b, TUI_GOOD, "%s: %zu filter%s", what, count, count == 1 ? "" : "s");
}

void browser_undo(struct browser *b)
{
	if (b->history_at == 0) {
		browser_say(b, TUI_NOTICE, "no filter was added or removed before this");
		return;
	}
	b->history_at--;
	say_where(b, "undone");
}

void browser_redo(struct browser *b)
{
	if (b->history_at + 1 == b->history.count) {
		browser_say(b, TUI_NOTICE, "nothing was undone");
		return;
	}
	b->history_at++;
	say_where(b, "redone");
}

/* ---- chips ---- */

/* The selection's step that a filter became; NULL: none, or not known yet. */
static const struct selection_step *step_of(
	const struct report *report, const struct browser_filter *filter)
{
	for (size_t i = 0; report && i < report->selection->step_count; i++)
		if (report->selection->steps[i].filter->text == filter->text)
			return &report->selection->steps[i];
	return NULL;
}

static void put_chip(
	struct strbuf *out, const struct report *report, const struct browser_filter *filter)
{
	const struct selection_step *step = step_of(report, filter);

	strbuf_printf(out, "%s ", filter_names[filter->kind]);
	escape_text(out, str_from(filter->text));
	if (step == NULL)
		return;
	strbuf_add_char(out, ' ');
	heading_put_share(out, report, step);
}

/* The first filter to show, so that the last one is on the screen, and the width of all before. */
static size_t first_shown(const struct strbuf *chips, size_t count, unsigned width)
{
	size_t first = count, used = 0;

	while (first > 0 && used + utf8_width(strbuf_str(&chips[first - 1])) + 3 <= width) {
		first--;
		used += utf8_width(strbuf_str(&chips[first])) + 3;
	}
	return first == count && count > 0 ? count - 1 : first;
}

static void draw_chips(struct browser *b, struct tui_canvas *canvas, unsigned y,
	const struct strbuf *chips, size_t count)
{
	size_t first = first_shown(chips, count, canvas->width - 6);
	unsigned x = 0;

	b->chips.count = 0;
	if (first > 0)
		x = tui_printf(canvas, y, x, canvas->width, TUI_DIM, "+%zu ", first);
	for (size_t i = first; i < count; i++) {
		unsigned begin = x;

		if (i > first)
			begin = x = tui_put(canvas, y, x, canvas->width, TUI_DIM, STR(" "));
		x = tui_put(canvas, y, x, canvas->width, TUI_KEY, STR("["));
		x = tui_put_name(
			canvas, y, x, canvas->width - 1, TUI_NOTICE, strbuf_str(&chips[i]));
		x = tui_put(canvas, y, x, canvas->width, TUI_KEY, STR("]"));
		vec_push(&b->chips, (struct browser_chip){begin, x, i});
	}
}

void browser_chips_draw(struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	struct browser_stack now = browser_filters(b);
	const struct answer *answer = browser_asked(b)->answer;
	const struct report *report = answer ? answer->reports[0] : NULL;

	if (now.count == 0) {
		b->chips.count = 0;
		tui_put(canvas, y, 0, canvas->width, TUI_DIM,
			STR("no filters: w when  f focus  i ignore  h hide  t thread  T time"));
		return;
	}
	struct strbuf *chips = xcalloc(now.count, sizeof(*chips));

	for (size_t i = 0; i < now.count; i++)
		put_chip(&chips[i], report, &now.items[i]);
	draw_chips(b, canvas, y, chips, now.count);
	for (size_t i = 0; i < now.count; i++)
		strbuf_deinit(&chips[i]);
	free(chips);
}
