/*
 * The prompt in the last line.  The lines above it show which names continue what is typed, and
 * what is wrong with it.  A filter is checked while it is typed, and asked when it is entered; if
 * the profile refuses it, the prompt stays with the reason.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/escape.h"
#include "browse/state.h"
#include "view/views.h"

void browser_regex_put(struct strbuf *out, struct str name)
{
	strbuf_add_char(out, '^');
	for (size_t i = 0; i < name.size; i++) {
		if (strchr("\\^$.|?*+()[]{}", name.data[i]))
			strbuf_add_char(out, '\\');
		strbuf_add_char(out, name.data[i]);
	}
	strbuf_add_char(out, '$');
}

/* The number in "name (thread 123)", else the name. */
static void suggest_thread(struct browser *b)
{
	const struct report *report = b->view == BROWSER_THREADS ? browser_report(b) : NULL;
	size_t row;

	if (report == NULL || !browser_page_row(b, &row))
		return;
	struct str name = report->query.view->entity(report, row)->name;
	const char *open = memrchr(name.data, '(', name.size);

	if (open && name.size && name.data[name.size - 1] == ')')
		name = (struct str){open + 1, (size_t)(name.data + name.size - 1 - (open + 1))};
	if (str_starts_with(name, STR("thread ")))
		name = (struct str){name.data + strlen("thread "), name.size - strlen("thread ")};
	tui_line_set(&b->line, name);
}

static bool takes_regex(enum filter_kind kind)
{
	return kind == FILTER_FOCUS || kind == FILTER_IGNORE || kind == FILTER_HIDE;
}

void browser_prompt_open(struct browser *b, enum browser_prompt prompt, enum filter_kind kind)
{
	b->prompt = prompt;
	b->prompt_filter = kind;
	b->line.text[0] = b->problem[0] = '\0';
	tui_message_clear(&b->message);
	b->search_before = b->search;
	b->offers.count = 0;
	b->offer = SIZE_MAX;
	b->is_suggested = false;
	if (prompt == PROMPT_SEARCH)
		return;
	if (kind == FILTER_THREAD)
		suggest_thread(b);
	if (takes_regex(kind) && b->name.size) {
		struct strbuf regex = {0};

		browser_regex_put(&regex, strbuf_str(&b->name));
		tui_line_set(&b->line, strbuf_str(&regex));
		strbuf_deinit(&regex);
	}
	b->is_suggested = b->line.text[0] != '\0';
}

/* The error destroyed, its message kept, without the option's name. */
static void keep_problem(struct browser *b, struct error *err)
{
	char option[32];
	struct str message = str_from(err ? err->message : "");

	snprintf(option, sizeof(option), "--%s: ", filter_names[b->prompt_filter]);
	if (str_starts_with(message, str_from(option)))
		message.data += strlen(option);
	snprintf(b->problem, sizeof(b->problem), "%s", message.size ? message.data : "");
	error_destroy(err);
}

static void check(struct browser *b)
{
	struct question q = browser_filters_question(b);

	b->problem[0] = '\0';
	if (b->line.text[0] == '\0') {
		question_deinit(&q);
		return;
	}
	vec_push(&q.filters.requests, (struct filter_request){b->prompt_filter, b->line.text});
	keep_problem(b, question_settle(&q));
	question_deinit(&q);
}

static void enter_filter(struct browser *b)
{
	size_t at = b->history_at, count = b->history.count;

	if (b->line.text[0] == '\0') {
		b->prompt = PROMPT_NONE;
		return;
	}
	check(b);
	if (b->problem[0])
		return;
	browser_filter_add(b, b->prompt_filter, str_from(b->line.text));
	const struct answer *answer = browser_report(b) ? browser_asked(b)->answer : NULL;

	/* A view that has no answer for another reason does not make the filter wrong. */
	if (answer == NULL && (b->view == BROWSER_FUNCTIONS || b->name.size)) {
		const char *problem = browser_asked(b)->problem;

		if (b->view != BROWSER_CALLERS && b->view != BROWSER_SOURCE) {
			keep_problem(b, error_new(ERROR_INPUT, "%s", problem));
			b->history_at = at;
			b->history.count = count > at + 1 ? at + 1 : count;
			return;
		}
	}
	b->prompt = PROMPT_NONE;
}

static void search_typed(struct browser *b)
{
	b->search = b->line;
	b->problem[0] = '\0';
	if (b->search.text[0])
		browser_search(b, 1, true);
}

static void enter(struct browser *b)
{
	if (b->prompt == PROMPT_FILTER) {
		enter_filter(b);
		return;
	}
	b->prompt = PROMPT_NONE;
	b->search = b->line;
}

static void give_up(struct browser *b)
{
	if (b->prompt == PROMPT_SEARCH)
		b->search = b->search_before;
	b->prompt = PROMPT_NONE;
}

static void typed(struct browser *b)
{
	if (b->prompt == PROMPT_SEARCH) {
		search_typed(b);
		return;
	}
	check(b);
	browser_offers_update(b);
}

/* The first character that is typed replaces a suggestion; other keys change or take it. */
static void meet_suggestion(struct browser *b, uint32_t key)
{
	if (b->is_suggested && key >= 0x20 && key < TUI_KEY_FIRST && key != 0x7f)
		b->line.text[0] = '\0';
	b->is_suggested = false;
}

void browser_prompt_key(struct browser *b, uint32_t key)
{
	meet_suggestion(b, key);
	if (key == TUI_KEY_ENTER)
		enter(b);
	else if (key == TUI_KEY_ESCAPE || (key == TUI_KEY_BACKSPACE && !b->line.text[0]))
		give_up(b);
	else if (b->prompt == PROMPT_SEARCH && (key == TUI_KEY_UP || key == TUI_KEY_DOWN))
		browser_search(b, key == TUI_KEY_UP ? -1 : 1, false);
	else if (b->prompt == PROMPT_FILTER && (key == TUI_KEY_TAB || key == TUI_KEY_BACK_TAB)) {
		browser_offers_take(b, key == TUI_KEY_TAB ? 1 : -1);
		check(b);
	} else if (tui_line_key(&b->line, key))
		typed(b);
}

/* ---- drawing ---- */

static void draw_offers(struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	unsigned x = tui_put(canvas, y, 0, canvas->width, TUI_DIM, STR("Tab: "));

	for (size_t i = 0; i < b->offers.count && x + 8 < canvas->width; i++) {
		unsigned end = x + 30 < canvas->width ? x + 30 : canvas->width;

		x = tui_put_name(canvas, y, x, end, i == b->offer ? TUI_SORTED : TUI_LABEL,
			    b->offers.data[i]) +
		    2;
	}
}

static const char *filter_hint(enum filter_kind kind)
{
	switch ((int)kind) {
	case FILTER_WHEN:
		return "a pattern: .f->*->.g, :.f, 'name with blanks'; sonde help when explains it";
	case FILTER_FOCUS:
		return "a regular expression: only stacks with a matching function";
	case FILTER_IGNORE:
		return "a regular expression: only stacks without a matching function";
	case FILTER_HIDE:
		return "a regular expression: matching functions count as their callers";
	case FILTER_THREAD:
		return "threads, by number or name, with commas";
	case FILTER_TIME:
		return "FROM:TO since the start: 1.5s:2s, 30s:, :100ms";
	default:
		return "";
	}
}

/* What is wrong and which names continue the text, in the lines above it, from y upwards. */
static void draw_above(struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	tui_fill(canvas, y, 0, canvas->width, TUI_PLAIN);
	if (b->offers.count) {
		draw_offers(b, canvas, y);
		if (b->problem[0] == '\0' || y == 0)
			return;
		y--;
		tui_fill(canvas, y, 0, canvas->width, TUI_PLAIN);
	}
	if (b->problem[0])
		tui_put_name(canvas, y, 0, canvas->width, TUI_TROUBLE, str_from(b->problem));
	else if (b->prompt == PROMPT_FILTER)
		tui_put(canvas, y, 0, canvas->width, TUI_DIM,
			str_from(filter_hint(b->prompt_filter)));
}

void browser_prompt_draw(struct browser *b, struct tui_canvas *canvas, unsigned y)
{
	char label[32];

	if (y > 0)
		draw_above(b, canvas, y - 1);
	snprintf(label, sizeof(label),
		"%s: ", b->prompt == PROMPT_SEARCH ? "search" : filter_names[b->prompt_filter]);
	tui_fill(canvas, y, 0, canvas->width, TUI_PLAIN);
	tui_line_draw(&b->line, canvas, y, label);
}
