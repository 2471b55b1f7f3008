#ifndef SONDE_BROWSE_STATE_H
#define SONDE_BROWSE_STATE_H

/* The browser's fields, for the files that it is spread over. */

#include "analysis/flame.h"
#include "base/map.h"
#include "base/vec.h"
#include "browse/browse.h"
#include "view/text/lines.h"
#include "view/tui/box.h"
#include "view/tui/line.h"
#include "view/tui/list.h"
#include "view/tui/message.h"

/* In the order of their keys, 1 to 9. */
enum browser_view {
	BROWSER_FLAME,
	BROWSER_TREE,
	BROWSER_FUNCTIONS,
	BROWSER_CALLERS,
	BROWSER_GRAPH,
	BROWSER_SOURCE,
	BROWSER_THREADS,
	BROWSER_ZONES,
	BROWSER_STATS,
	BROWSER_VIEWS,
};

enum browser_prompt {
	PROMPT_NONE,
	PROMPT_SEARCH,
	PROMPT_FILTER, /* of prompt_filter's kind */
};

/* A question, and its answer. */
struct browser_asked {
	char *key; /* the question in words, to compare; NULL: nothing was asked yet */
	struct question question;
	struct answer *answer;	     /* NULL: see problem */
	struct browse_source source; /* of the answer, in BROWSER_SOURCE */
	char *problem;
	uint64_t serial; /* different for each answer */
};

/* A view as lines of text; the cursor is on those below the head. */
struct browser_page {
	size_t limit; /* entries that are asked for */
	struct text_lines lines;
	struct tui_list list;
	uint64_t serial; /* the answer that the lines show; 0: none */
	unsigned width;
	bool is_stale; /* the lines are to be drawn again, though the answer is the same */
	/* Where the cursor was in a session that a newer one has replaced. */
	struct {
		bool is_set;
		size_t cursor, top;
		uint64_t path; /* of the row, in the tree */
	} kept;
};

/* Which rows of the tree are shown. */
struct browser_tree {
	uint64_t serial;    /* the answer that the rest is of */
	uint64_t *path;	    /* [row] a hash of the names from the root to it */
	uint32_t *end;	    /* [row] one past its subtree */
	VEC(uint32_t) rows; /* those shown */
	struct map open;    /* paths whose children are shown */
};

struct browser_flame {
	uint64_t serial;
	struct arena *arena;
	const struct flame *flame;
	uint32_t *box_of_row;		 /* [row] its box, or NO_ID */
	uint32_t *parent;		 /* [box] the box that it is in */
	bool must_show;			 /* the cursor moved: scroll to it */
	bool *has_stub;			 /* [row] recursion goes on from here */
	uint32_t zoom, cursor;		 /* boxes */
	uint64_t zoom_path, cursor_path; /* the same for the next answer; 0: the root */
	uint32_t top;			 /* the depth shown first */
	unsigned y, height, width;	 /* where it was drawn last */
};

struct browser_filter {
	enum filter_kind kind;
	const char *text;
};

/* Filters in the order in which they apply. */
struct browser_stack {
	const struct browser_filter *items;
	size_t count;
};

/* Where a chip was drawn. */
struct browser_chip {
	unsigned x, end;
	size_t filter; /* in the stack */
};

struct browser {
	struct session *session;
	struct browse_options options;
	const struct profile *profile;
	struct arena *arena; /* filters and their texts: they may return by undo */
	bool is_done, utf8;
	bool is_large; /* answers take so long that the screen must say so first */
	bool is_due;   /* the answer is to be made at the next tick */

	bool owns_session; /* it came from options.live */
	bool is_paused;
	uint64_t look_ms; /* when to look for a newer session; BROWSE_ENDED: never */

	enum browser_view view;
	struct browser_asked asked[BROWSER_VIEWS]; /* the flame graph's is the tree's */
	uint64_t serial;			   /* the last answer's */
	struct browser_page pages[BROWSER_VIEWS];
	struct browser_tree tree;
	struct browser_flame flame;

	/* The selected function; an empty name: none yet. */
	struct strbuf name, module;
	VEC(char *) before; /* centres that were left, as for --center */

	const char *metric; /* NULL: each view's own */
	enum level level;   /* of the functions view */
	size_t sort;	    /* in sort_keys of ask.c */
	enum collapse collapse;
	enum profile_roots roots; /* of the tree */
	bool is_inverted;

	VEC(struct browser_stack) history;
	size_t history_at;
	VEC(struct browser_chip) chips;

	enum browser_prompt prompt;
	enum filter_kind prompt_filter;
	struct tui_line line;
	bool is_suggested;	/* the line is a suggestion, which typing replaces */
	char problem[512];	/* of the prompt's text; empty: none */
	VEC(struct str) offers; /* completions; borrowed from the profile */
	size_t offer;		/* the one that the last Tab took; SIZE_MAX: none */
	struct tui_line search, search_before;

	bool has_help;
	struct tui_help_state help;
	struct tui_message message;
	uint64_t now_ms;
	unsigned tabs_width; /* of the screen that they were last drawn on; 0: not yet */
	unsigned width, height;
};

/* ---- browser.c ---- */

struct browser *browser_create(struct session *session, const struct browse_options *options);
void browser_destroy(struct browser *b);
void browser_set_session(struct browser *b, struct session *session);
/* Shows a message in the last line for some seconds.  Foreign bytes are escaped. */
void browser_say(struct browser *b, enum tui_style style, const char *format, ...)
	printf_like(3, 4);

/* ---- live.c ---- */

/* Looks for a newer session, if it is time to. */
void browser_look(struct browser *b);
/* Milliseconds until then; BROWSE_ENDED: never. */
uint64_t browser_look_wait_ms(const struct browser *b);
void browser_pause(struct browser *b);
/* "live", "paused" or "ended"; NULL: the session stays as it is. */
const char *browser_live_state(const struct browser *b);

/* ---- ask.c ---- */

/*
 * The current view's report, asked for if it is not known; NULL: there is none, see the problem in
 * browser_asked.
 */
const struct report *browser_report(struct browser *b);
/* The question and answer of the current view. */
struct browser_asked *browser_asked(struct browser *b);
/* Whether the current view's answer is known, so that browser_report returns at once. */
bool browser_is_answered(struct browser *b);
void browser_asked_deinit(struct browser *b, struct browser_asked *asked);
/* Makes a question of the filters alone, to check them; the caller frees it (question_deinit). */
struct question browser_filters_question(const struct browser *b);
/* Whether the profile knows what the view shows. */
bool browser_has_view(const struct browser *b, enum browser_view view);
extern const char *const browser_view_names[BROWSER_VIEWS];
/* Sorts the functions by the next column, or the one before. */
void browser_next_sort(struct browser *b, int by);
void browser_next_level(struct browser *b);
void browser_next_metric(struct browser *b, int by);
/* Puts processes, threads or nothing at the roots of the tree. */
void browser_next_roots(struct browser *b);
/* The function as --center and annotate take it; the caller frees it. */
char *browser_center(const struct browser *b);

/* ---- select.c ---- */

/* Whether the entity is the selected function. */
bool browser_is_selected(const struct browser *b, const struct entity *entity);
void browser_select(struct browser *b, const struct entity *entity);
/* Makes it the selected function, and remembers the one before. */
void browser_enter(struct browser *b, const struct entity *entity);
/* Returns to the function before. */
void browser_return(struct browser *b);

/* ---- page.c ---- */

void browser_page_deinit(struct browser_page *page);
/* The current page's cursor is to be where it is now, when a newer session has been asked. */
void browser_page_keep(struct browser *b);
/* Lays the page out for the width, if that has not been done. */
void browser_page_update(struct browser *b);
void browser_page_draw(struct browser *b, struct tui_canvas *canvas, unsigned y, unsigned end);
bool browser_page_key(struct browser *b, uint32_t key);
void browser_page_mouse(struct browser *b, struct tui_mouse mouse);
bool browser_page_search(struct browser *b, int direction, bool from_here);
/* The report's row at the cursor; false: none. */
bool browser_page_row(struct browser *b, size_t *row);
/* Moves the cursor to the line of a row; false: no line shows it. */
bool browser_page_go(struct browser *b, size_t row);
/* Adds a figure of a row: "1.234 s", "12.3%". */
void browser_figure_put(
	struct strbuf *out, const struct report *report, size_t row, enum column_id column);

/* ---- tree_rows.c ---- */

void browser_tree_deinit(struct browser_tree *tree);
/* Sets path, end and rows for the report, if that has not been done. */
void browser_tree_update(struct browser *b, const struct report *report);
/* The row with that path; NO_ID: there is none. */
uint32_t browser_tree_find(
	const struct browser_tree *tree, const struct report *report, uint64_t path);
/* What `report` shows, as the tree shows it: with some of its rows. */
struct report browser_tree_report(const struct browser *b, const struct report *report);
bool browser_tree_key(struct browser *b, uint32_t key);
/* Opens what is above the row. */
void browser_tree_reveal(struct browser *b, const struct report *report, uint32_t row);
/* Opens what is above the selected function's heaviest row, unless one is shown already. */
void browser_tree_show(struct browser *b);
/* '+': closed, '-': open, ' ': nothing below. */
char browser_tree_mark(const struct browser *b, const struct report *report, uint32_t row);
bool browser_tree_search(struct browser *b, int direction, bool from_here);

/* ---- flame_screen.c ---- */

void browser_flame_deinit(struct browser_flame *flame);
void browser_flame_draw(struct browser *b, struct tui_canvas *canvas, unsigned y, unsigned end);
bool browser_flame_key(struct browser *b, uint32_t key);
void browser_flame_mouse(struct browser *b, struct tui_mouse mouse);
bool browser_flame_search(struct browser *b, int direction, bool from_here);
/* The row of the box at the cursor; false: the box of all stacks. */
bool browser_flame_row(const struct browser *b, size_t *row);
/* Moves the cursor to the selected function's widest box, unless it is on one. */
void browser_flame_find(struct browser *b);

/* ---- filters.c ---- */

struct browser_stack browser_filters(const struct browser *b);
/* Adds a filter; what undo took back is then gone. */
void browser_filter_add(struct browser *b, enum filter_kind kind, struct str text);
void browser_filter_remove(struct browser *b, size_t at);
void browser_filters_clear(struct browser *b);
void browser_undo(struct browser *b);
void browser_redo(struct browser *b);
void browser_chips_draw(struct browser *b, struct tui_canvas *canvas, unsigned y);

/* ---- prompt.c, complete.c ---- */

void browser_prompt_open(struct browser *b, enum browser_prompt prompt, enum filter_kind kind);
void browser_prompt_key(struct browser *b, uint32_t key);
/* Draws the line at y, and up to two above it. */
void browser_prompt_draw(struct browser *b, struct tui_canvas *canvas, unsigned y);
/* Finds names that continue what is typed. */
void browser_offers_update(struct browser *b);
/* Replaces what is typed of a name by the next completion. */
void browser_offers_take(struct browser *b, int by);
/* Adds a name as a regular expression that matches just it. */
void browser_regex_put(struct strbuf *out, struct str name);

/* ---- screen.c, keys.c ---- */

void browser_draw(struct browser *b, struct tui_canvas *canvas);
/* The view whose name is there; false: none. */
bool browser_tab_at(const struct browser *b, unsigned x, unsigned y, enum browser_view *view);
void browser_help_draw(struct browser *b, struct tui_canvas *canvas);
void browser_show(struct browser *b, enum browser_view view);
void browser_key(struct browser *b, uint32_t key);
void browser_mouse(struct browser *b, struct tui_mouse mouse);
/* Moves to the next match. */
void browser_search(struct browser *b, int direction, bool from_here);

enum {
	BROWSER_TABS_Y = 1,
	BROWSER_CHIPS_Y = 2,
	BROWSER_TOP = 3,
	BROWSER_BOTTOM = 2,
	BROWSER_WHEEL = 3
};

#endif
