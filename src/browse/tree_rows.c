/*
 * Which rows of the call tree are shown: the children of open rows.  Rows have other numbers in
 * each answer, so what is open is kept as hashes of the names on the path from the root.
 *
 * At first, the heaviest path is open.  Children that the limit left out are asked for when their
 * parent is opened.
 */
#include "browse/state.h"

#include "base/escape.h"
#include "base/hash.h"
#include "view/tui/find.h"

enum { OPEN_DEPTH = 40, GROWTH = 4, LIMIT_MAX = 2000000 };

void browser_tree_deinit(struct browser_tree *tree)
{
	free(tree->path);
	free(tree->end);
	vec_deinit(&tree->rows);
	map_deinit(&tree->open);
}

static bool is_open(const struct browser_tree *t, uint32_t row)
{
	uint32_t value;

	return map_get(&t->open, t->path[row], 0, &value) && value;
}

static void set_open(struct browser_tree *t, uint32_t row, bool open)
{
	map_put(&t->open, t->path[row], 0, open);
}

static uint64_t name_hash(const struct entity *e, bool is_stub)
{
	uint64_t hash = hash_pair(
		hash_bytes(e->name.data, e->name.size), hash_bytes(e->module.data, e->module.size));

	return hash_pair(hash, is_stub);
}

/* Paths and subtrees. */
static void measure(struct browser_tree *t, const struct report *report)
{
	const struct calltree *tree = report->calltree;

	free(t->path);
	free(t->end);
	t->path = xcalloc(tree->count + 1, sizeof(*t->path));
	t->end = xcalloc(tree->count + 1, sizeof(*t->end));
	for (size_t i = 0; i < tree->count; i++) {
		const struct calltree_row *row = &tree->rows[i];
		uint64_t above = row->parent == NO_ID ? 1 : t->path[row->parent];

		t->path[i] = hash_pair(
			above, name_hash(&report->tree->entities[row->entity], row->is_stub));
	}
	for (size_t i = tree->count; i-- > 0;) {
		uint32_t parent = tree->rows[i].parent;

		if (t->end[i] == 0)
			t->end[i] = (uint32_t)i + 1;
		if (parent != NO_ID && t->end[parent] < t->end[i])
			t->end[parent] = t->end[i];
	}
}

/* The heaviest child is the first one. */
static void open_heaviest(struct browser_tree *t, const struct calltree *tree)
{
	uint32_t row = 0;

	for (size_t i = 0; i < OPEN_DEPTH && row < tree->count; i++) {
		set_open(t, row, true);
		if (row + 1 >= t->end[row] || tree->rows[row + 1].is_stub)
			break;
		row++;
	}
}

static void choose_rows(struct browser_tree *t, const struct calltree *tree)
{
	t->rows.count = 0;
	for (uint32_t i = 0; i < tree->count;) {
		vec_push(&t->rows, i);
		i = is_open(t, i) ? i + 1 : t->end[i];
	}
}

void browser_tree_update(struct browser *b, const struct report *report)
{
	struct browser_tree *t = &b->tree;
	uint64_t serial = b->asked[BROWSER_TREE].serial;

	if (t->serial != serial) {
		measure(t, report);
		if (report->calltree->count && t->open.count == 0)
			open_heaviest(t, report->calltree);
	}
	t->serial = serial;
	choose_rows(t, report->calltree);
}

struct report browser_tree_report(const struct browser *b, const struct report *report)
{
	struct report shown = *report;

	shown.rows = b->tree.rows.data;
	shown.count = b->tree.rows.count;
	/* What is closed is not left out. */
	shown.entries_shown = shown.entry_count;
	return shown;
}

char browser_tree_mark(const struct browser *b, const struct report *report, uint32_t row)
{
	const struct browser_tree *t = &b->tree;

	if (report->calltree->rows[row].is_stub)
		return ' ';
	if (t->end[row] == row + 1) {
		const struct calltree_row *r = &report->calltree->rows[row];
		bool is_leaf = r->direct + r->indirect == r->in_only;

		return !is_leaf && report->calltree->count < report->calltree->whole_count ? '+'
											   : ' ';
	}
	return is_open(t, row) ? '-' : '+';
}

void browser_tree_reveal(struct browser *b, const struct report *report, uint32_t row)
{
	for (uint32_t up = report->calltree->rows[row].parent; up != NO_ID;
		up = report->calltree->rows[up].parent)
		set_open(&b->tree, up, true);
	b->pages[BROWSER_TREE].is_stale = true;
}

void browser_tree_show(struct browser *b)
{
	/* A large tree is not asked for only to see what is in it. */
	const struct report *report =
		b->is_large && !browser_is_answered(b) ? NULL : browser_report(b);
	uint32_t best = NO_ID;

	if (report == NULL || b->name.size == 0)
		return;
	browser_tree_update(b, report);
	for (uint32_t i = 0; i < report->calltree->count; i++) {
		const struct calltree_row *row = &report->calltree->rows[i];

		if (row->is_stub || !browser_is_selected(b, &report->tree->entities[row->entity]))
			continue;
		if (best == NO_ID ||
			row->direct + row->indirect > report->calltree->rows[best].direct +
							      report->calltree->rows[best].indirect)
			best = i;
	}
	if (best != NO_ID)
		browser_tree_reveal(b, report, best);
}

/* ---- keys ---- */

uint32_t browser_tree_find(
	const struct browser_tree *tree, const struct report *report, uint64_t path)
{
	for (uint32_t i = 0; i < report->calltree->count; i++)
		if (tree->path[i] == path)
			return i;
	return NO_ID;
}

/* Asks for more rows until some are below that one, or it has none; returns its new number. */
static uint32_t ask_below(struct browser *b, uint32_t row)
{
	const struct report *report = browser_report(b);
	struct browser_page *page = &b->pages[BROWSER_TREE];
	uint64_t path = b->tree.path[row];

	while (report && b->tree.end[row] == row + 1 &&
		report->calltree->count < report->calltree->whole_count &&
		page->limit < LIMIT_MAX) {
		page->limit *= GROWTH;
		report = browser_report(b);
		if (report == NULL)
			return NO_ID;
		browser_tree_update(b, report);
		row = browser_tree_find(&b->tree, report, path);
		if (row == NO_ID)
			return NO_ID;
	}
	return row;
}

/* Shows the changed rows, with the cursor on one of them. */
static void go(struct browser *b, uint32_t row)
{
	b->pages[BROWSER_TREE].is_stale = true;
	browser_page_update(b);
	browser_page_go(b, row);
}

static void open_row(struct browser *b, uint32_t row)
{
	row = ask_below(b, row);
	if (row == NO_ID)
		return;
	set_open(&b->tree, row, true);
	go(b, row);
}

static void open_below(struct browser *b, uint32_t row)
{
	row = ask_below(b, row);
	if (row == NO_ID)
		return;
	for (uint32_t i = row; i < b->tree.end[row]; i++)
		set_open(&b->tree, i, true);
	go(b, row);
}

static void close_below(struct browser *b, uint32_t row)
{
	for (uint32_t i = row; i < b->tree.end[row]; i++)
		set_open(&b->tree, i, false);
	go(b, row);
}

/* Closes an open row; from another one, goes to the row above it. */
static void close_row(struct browser *b, const struct calltree *tree, uint32_t row)
{
	if (is_open(&b->tree, row) && b->tree.end[row] > row + 1) {
		set_open(&b->tree, row, false);
		go(b, row);
	} else if (tree->rows[row].parent != NO_ID) {
		browser_page_go(b, tree->rows[row].parent);
	}
}

static bool stub_key(struct browser *b, const struct calltree_row *row, uint32_t key)
{
	if (key != TUI_KEY_ENTER && key != 'r' && key != TUI_KEY_RIGHT && key != ' ')
		return false;
	browser_page_go(b, row->target);
	browser_say(b, TUI_GOOD, "the recursion goes on here");
	return true;
}

bool browser_tree_key(struct browser *b, uint32_t key)
{
	const struct report *report = browser_report(b);
	size_t at;

	if (report == NULL || !browser_page_row(b, &at))
		return false;
	uint32_t row = (uint32_t)at;

	if (report->calltree->rows[row].is_stub && stub_key(b, &report->calltree->rows[row], key))
		return true;
	switch (key) {
	case TUI_KEY_RIGHT:
	case '+':
		open_row(b, row);
		return true;
	case TUI_KEY_LEFT:
	case '-':
		close_row(b, report->calltree, row);
		return true;
	case ' ':
		if (is_open(&b->tree, row) && b->tree.end[row] > row + 1)
			close_row(b, report->calltree, row);
		else
			open_row(b, row);
		return true;
	case '*':
		open_below(b, row);
		return true;
	case '_':
		close_below(b, row);
		return true;
	default:
		return false;
	}
}

/* ---- search ---- */

static bool row_matches(const struct browser *b, const struct report *report, uint32_t row)
{
	struct strbuf scratch = {0}, escaped = {0};
	const struct calltree_row *r = &report->calltree->rows[row];

	escape_text(&escaped, entity_label_apart(&report->tree->entities[r->entity], &scratch));
	bool matches = !r->is_stub && tui_find(strbuf_str(&escaped), b->search.text) >= 0;

	strbuf_deinit(&scratch);
	strbuf_deinit(&escaped);
	return matches;
}

bool browser_tree_search(struct browser *b, int direction, bool from_here)
{
	const struct report *report = browser_report(b);
	size_t at = 0, count = report ? report->calltree->count : 0;

	(void)browser_page_row(b, &at);
	if (at >= count)
		at = 0;
	for (size_t i = from_here ? 0 : 1; i <= count && count; i++) {
		uint32_t row = (uint32_t)((at + (direction > 0 ? i : 2 * count - i)) % count);

		if (!row_matches(b, report, row))
			continue;
		browser_tree_reveal(b, report, row);
		go(b, row);
		browser_select(b, &report->tree->entities[report->calltree->rows[row].entity]);
		return true;
	}
	return false;
}
