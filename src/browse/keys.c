/* Keys and mouse: those of all views, after those of the prompt and of the view itself. */
#include <stdio.h>

#include "browse/state.h"

static const struct tui_key_help help_keys[] = {
	{"1 to 9, Tab, click", "the views"},
	{"Up Down PgUp PgDn", "the cursor; also Home, End, j, k, the wheel"},
	{"Enter, double click", "callers and callees of the function"},
	{"Backspace", "callers: back to the function before"},
	{"/ n N", "search, next, previous"},
	{"w", "only stacks that match a WHEN pattern"},
	{"f i h", "focus on, ignore, hide functions (regex)"},
	{"t T", "only a thread, only a part of the time"},
	{"Tab, in a prompt", "complete the name"},
	{"x X, click on a filter", "remove the last filter, all, that one"},
	{"u, U Ctrl-R", "undo, redo a change of the filters"},
	{"m M", "the next metric, the one before"},
	{"Esc", "end the search, zoom out"},
	{"Flame: arrows", "box above, below, left, right"},
	{"Flame: Enter, Backspace", "zoom into the box, out by a level"},
	{"Tree: Right Left Space", "open, close a row; + and - too"},
	{"Tree: * _", "open, close all below"},
	{"Flame, tree: c", "collapse recursion: full, none, direct, ..."},
	{"Flame, tree: r", "go to where the recursion goes on"},
	{"Flame, tree: I", "inverted: callers below"},
	{"Flame, tree: P", "roots: processes, with threads, none; or the label of --roots"},
	{"Functions: < >", "sort by another column"},
	{"Functions: l", "rows are functions, modules, files, lines"},
	{"p", "of a running program: pause, go on"},
	{"? F1, q F10 Ctrl-C", "this, quit"},
};
static const char *const help_notes[] = {
	"",
	"> marks the selected function: the same in each view.",
	"Figures are those of `sonde report` with the same options.",
	"f... in the tree: the row f above goes on with the recursion.",
};
static const struct tui_help help = {.title = "Keys",
	.keys = help_keys,
	.key_count = ARRAY_SIZE(help_keys),
	.notes = help_notes,
	.note_count = ARRAY_SIZE(help_notes)};

void browser_help_draw(struct browser *b, struct tui_canvas *canvas)
{
	tui_help_draw(&help, &b->help, canvas);
}

void browser_show(struct browser *b, enum browser_view view)
{
	bool is_new = b->view != view;

	b->view = view;
	if (!is_new)
		return;
	/* The cursor goes to what is selected. */
	b->pages[view].serial = 0;
	if (view == BROWSER_FLAME && (!b->is_large || browser_is_answered(b)))
		browser_flame_find(b);
	if (view == BROWSER_TREE)
		browser_tree_show(b);
}

void browser_search(struct browser *b, int direction, bool from_here)
{
	bool is_found = b->view == BROWSER_FLAME ? browser_flame_search(b, direction, from_here)
						 : browser_page_search(b, direction, from_here);

	if (!is_found && b->prompt == PROMPT_SEARCH)
		snprintf(b->problem, sizeof(b->problem), "not found");
	else if (!is_found)
		browser_say(b, TUI_NOTICE, "not found: %s", b->search.text);
}

static void search_again(struct browser *b, int direction)
{
	if (b->search.text[0])
		browser_search(b, direction, false);
	else
		browser_prompt_open(b, PROMPT_SEARCH, FILTER_COUNT);
}

static bool filter_key(struct browser *b, uint32_t key)
{
	static const struct {
		uint32_t key;
		enum filter_kind kind;
	} keys[] = {{'w', FILTER_WHEN}, {'f', FILTER_FOCUS}, {'i', FILTER_IGNORE},
		{'h', FILTER_HIDE}, {'t', FILTER_THREAD}, {'T', FILTER_TIME}};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].key == key) {
			browser_prompt_open(b, PROMPT_FILTER, keys[i].kind);
			return true;
		}
	return false;
}

static void remove_last(struct browser *b)
{
	size_t count = browser_filters(b).count;

	if (count)
		browser_filter_remove(b, count - 1);
	else
		browser_say(b, TUI_NOTICE, "there is no filter");
}

static bool stack_key(struct browser *b, uint32_t key)
{
	switch (key) {
	case 'x':
		remove_last(b);
		return true;
	case 'X':
		browser_filters_clear(b);
		return true;
	case 'u':
		browser_undo(b);
		return true;
	case 'U':
	case TUI_CONTROL('r'):
		browser_redo(b);
		return true;
	default:
		return filter_key(b, key);
	}
}

static bool is_of_tree(const struct browser *b)
{
	return b->view == BROWSER_FLAME || b->view == BROWSER_TREE;
}

static void next_collapse(struct browser *b)
{
	b->collapse = (b->collapse + 1) % COLLAPSE_COUNT;
	browser_say(b, TUI_GOOD, "recursion collapsed: %s", collapse_names[b->collapse]);
}

static bool setting_key(struct browser *b, uint32_t key)
{
	if (key == 'm' || key == 'M')
		browser_next_metric(b, key == 'm' ? 1 : -1);
	else if (key == 'c' && is_of_tree(b))
		next_collapse(b);
	else if (key == 'P' && is_of_tree(b))
		browser_next_roots(b);
	else if (key == 'I' && is_of_tree(b))
		b->is_inverted = !b->is_inverted;
	else
		return false;
	return true;
}

static bool view_key(struct browser *b, uint32_t key)
{
	if (key >= '1' && key < '1' + BROWSER_VIEWS)
		browser_show(b, (enum browser_view)(key - '1'));
	else if (key == TUI_KEY_TAB)
		browser_show(b, (b->view + 1) % BROWSER_VIEWS);
	else if (key == TUI_KEY_BACK_TAB)
		browser_show(b, (b->view + BROWSER_VIEWS - 1) % BROWSER_VIEWS);
	else
		return false;
	return true;
}

static void last_key(struct browser *b, uint32_t key)
{
	switch (key) {
	case '/':
		browser_prompt_open(b, PROMPT_SEARCH, FILTER_COUNT);
		break;
	case 'n':
		search_again(b, 1);
		break;
	case 'N':
		search_again(b, -1);
		break;
	case TUI_KEY_ESCAPE:
		b->search.text[0] = '\0';
		break;
	case '?':
	case TUI_KEY_HELP:
		b->has_help = true;
		break;
	case 'p':
		browser_pause(b);
		break;
	case 'q':
		b->is_done = true;
		break;
	default:
		break;
	}
}

void browser_key(struct browser *b, uint32_t key)
{
	tui_message_clear(&b->message);
	if (key == TUI_KEY_QUIT)
		b->is_done = true;
	else if (b->has_help)
		b->has_help = tui_help_key(&help, &b->help, key);
	else if (b->prompt != PROMPT_NONE)
		browser_prompt_key(b, key);
	else if (view_key(b, key) || stack_key(b, key) || setting_key(b, key))
		return;
	else if (key == TUI_KEY_ESCAPE && b->search.text[0])
		b->search.text[0] = '\0';
	else if (!(b->view == BROWSER_FLAME ? browser_flame_key(b, key) : browser_page_key(b, key)))
		last_key(b, key);
}

static bool chip_mouse(struct browser *b, struct tui_mouse event)
{
	if (event.y != BROWSER_CHIPS_Y)
		return false;
	for (size_t i = 0; i < b->chips.count; i++)
		if (event.x >= b->chips.data[i].x && event.x < b->chips.data[i].end) {
			browser_filter_remove(b, b->chips.data[i].filter);
			break;
		}
	return true;
}

void browser_mouse(struct browser *b, struct tui_mouse event)
{
	bool is_click = event.click == TUI_CLICK || event.click == TUI_CLICK_DOUBLE;
	enum browser_view view;

	tui_message_clear(&b->message);
	if (b->has_help) {
		uint32_t key = event.click == TUI_WHEEL_UP     ? TUI_KEY_UP
			       : event.click == TUI_WHEEL_DOWN ? TUI_KEY_DOWN
							       : TUI_KEY_ESCAPE;

		b->has_help = tui_help_key(&help, &b->help, key);
	} else if (b->prompt != PROMPT_NONE) {
		return;
	} else if (is_click && browser_tab_at(b, event.x, event.y, &view)) {
		browser_show(b, view);
	} else if (is_click && chip_mouse(b, event)) {
		return;
	} else if (b->view == BROWSER_FLAME) {
		browser_flame_mouse(b, event);
	} else {
		browser_page_mouse(b, event);
	}
}
