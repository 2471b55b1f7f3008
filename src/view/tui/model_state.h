#ifndef SONDE_VIEW_TUI_MODEL_STATE_H
#define SONDE_VIEW_TUI_MODEL_STATE_H

/* The model's fields, for the files that it is spread over. */

#include "base/vec.h"
#include "view/tui/box.h"
#include "view/tui/line.h"
#include "view/tui/list.h"
#include "view/tui/message.h"
#include "view/tui/model.h"
#include "zonereport/follow.h"
#include "zonereport/frames.h"
#include "zonereport/report.h"

enum tui_screen { TUI_SCREEN_PROGRAMS, TUI_SCREEN_ZONES };
enum tui_overlay { TUI_OVERLAY_NONE, TUI_OVERLAY_HELP, TUI_OVERLAY_THREADS, TUI_OVERLAY_ZONE };
enum tui_prompt { TUI_PROMPT_NONE, TUI_PROMPT_SEARCH, TUI_PROMPT_FREEZE, TUI_PROMPT_SAVE };

/* What a column of the table shows. */
enum tui_column {
	TUI_COLUMN_NAME,
	TUI_COLUMN_SELF,
	TUI_COLUMN_HIER,
	TUI_COLUMN_COUNT,
	TUI_COLUMN_SHARE, /* share of all zones' time, for the first time column */
	TUI_COLUMN_HEAT,
	TUI_COLUMN_PLACE, /* file and line */
	TUI_COLUMN_BAR,	  /* share, drawn */
	TUI_COLUMNS,
};
#define TUI_SORT_MODE TUI_COLUMNS /* as defined by the mode */

struct tui_seen_program {
	struct tui_program program;
	bool is_gone; /* no longer in the host's list */
	uint64_t gone_ms;
};

struct tui_programs {
	VEC(struct tui_seen_program) all; /* by pid, those that are gone last */
	VEC(size_t) shown;		  /* the rows of `all` that match the filter */
	struct tui_list list;
	pid_t cursor_pid;
	struct tui_line filter;
	bool is_filtering; /* typing goes to the filter */
};

/* The attached program. */
struct tui_attached {
	bool is_attached;
	pid_t pid;
	struct zone_region region;
	struct zone_follow *follow;
	enum tui_state state;
	char detail[128];
	uint64_t last_frames,
		last_frame_ms;	 /* frames added, and when this was last seen to change */
	struct zone_stats stats; /* of the last frames; frames is 0 if there are none */
	uint64_t replaced_ms;	 /* when the host was last asked whether it called exec */
};

/* The table of zones. */
struct tui_table {
	struct zone_query query;
	struct zone_report *report; /* NULL: none yet */
	VEC(size_t) order;	    /* rows of report, as they are shown */
	struct tui_list list;
	/* The cursor's row stays on its zone when rows move. */
	enum zone_row_kind cursor_kind;
	uint32_t cursor_zone, cursor_depth;
	enum tui_column sort; /* or TUI_SORT_MODE */
	bool is_reverse;
	/* The columns as last drawn, and where each ends. */
	enum tui_column column[TUI_COLUMNS];
	unsigned column_end[TUI_COLUMNS];
	size_t column_count;
	unsigned head_y;
};

struct tui_graph {
	bool is_hidden;
	size_t per_column;   /* frames per column; the longest of them is shown */
	size_t first_ago;    /* of the rightmost column */
	unsigned x, columns; /* where it was drawn last */
	unsigned y, height;  /* height 0: it was not drawn */
};

/* What was requested and has not appeared yet; NULL: nothing, or no longer. */
struct tui_start {
	const char *zone, *thread;
	bool is_said; /* a message says that it has not appeared yet */
};

struct tui_model {
	const struct tui_host *host;
	struct tui_options options;
	uint64_t now_ms, look_ms, list_ms, state_ms; /* now, and when these were last done */
	bool is_done;
	enum tui_screen screen;
	enum tui_overlay overlay;
	struct tui_help_state help;
	unsigned tabs_y, tabs_width; /* where the modes were last drawn */

	struct tui_programs programs;
	struct tui_attached attached;
	struct tui_start start;
	struct tui_table table;
	struct tui_graph graph;
	struct tui_list threads;
	VEC(uint32_t) thread_slots; /* the slots of the rows of threads; row 0 is all threads */

	bool is_paused;	     /* by the user */
	bool is_held;	     /* because an old frame is shown */
	double freeze_ms;    /* 0: never */
	bool was_frozen;     /* at the last look */
	bool is_raw;	     /* the last frame is shown as it was, not averaged */
	unsigned raw_before; /* the average to return to afterwards */

	enum tui_prompt prompt;
	struct tui_line line;
	struct tui_line search;	       /* the text searched for; empty: none */
	struct tui_line search_before; /* its value when the prompt was opened */
	uint32_t search_from_zone, search_from_depth;
	enum zone_row_kind search_from_kind;

	struct tui_message message;
};

/* Shows a message in the last line for some seconds.  Foreign bytes are escaped. */
void tui_say(struct tui_model *m, enum tui_style style, const char *format, ...) printf_like(3, 4);
/* Shows the error, and destroys it. */
void tui_say_error(struct tui_model *m, struct error *err);

/* ---- programs.c ---- */

/* Asks the host for the list of programs. */
struct error *tui_programs_refresh(struct tui_model *m);
/*
 * If the attached program has ended, shows the list instead.  Its row shows its last state and
 * leads back to it, so it must not be detached.  False: it still runs, or is a file.
 */
bool tui_programs_keep(struct tui_model *m);
void tui_programs_deinit(struct tui_programs *programs);
void tui_programs_draw(struct tui_model *m, struct tui_canvas *canvas);
void tui_programs_key(struct tui_model *m, uint32_t key);
void tui_programs_mouse(struct tui_model *m, struct tui_mouse mouse);

/* ---- attached.c ---- */

/* Attaches the program in place of the current one; on failure nothing is attached. */
struct error *tui_attach(struct tui_model *m, pid_t pid);
void tui_detach(struct tui_model *m);
/* Reads the program's state, and its memory unless the display is still. */
void tui_attached_look(struct tui_model *m);
/* Whether the display stays as it is. */
bool tui_is_still(const struct tui_model *m);
/* Shows the last frame as it was. */
void tui_show_raw(struct tui_model *m);
/* Shows current data again, and continues. */
void tui_resume(struct tui_model *m);
void tui_set_base(struct tui_model *m, uint32_t base);
void tui_set_freeze(struct tui_model *m, double ms);
/* The name of a slot's thread: the one it was given, or the kernel's; raw bytes. */
void tui_thread_name(struct tui_model *m, const struct zonewire_slot *slot, char name[64]);

/* ---- start.c ---- */

/* Selects what the command line requested, when it exists; called after each look. */
void tui_start_look(struct tui_model *m);

/* ---- table.c, table_draw.c ---- */

/* Writes a figure between x and end, with at most `decimals` decimals, as many as fit. */
void tui_put_figure(struct tui_canvas *canvas, unsigned y, unsigned x, unsigned end,
	enum tui_style style, double value, int decimals);

/* Rebuilds the report after a change. */
void tui_table_update(struct tui_model *m);
void tui_table_deinit(struct tui_table *table);
/* The row at the cursor; NULL: none. */
const struct zone_row *tui_table_row(const struct tui_model *m, size_t row);
/* Call it after moving the cursor: remembers the cursor's zone. */
void tui_table_mark(struct tui_model *m);
void tui_table_set_mode(struct tui_model *m, enum zone_mode mode);
void tui_table_select(struct tui_model *m);
void tui_table_select_parent(struct tui_model *m);
void tui_table_sort(struct tui_model *m, enum tui_column column);
/* The column that rows are sorted by; never TUI_SORT_MODE. */
enum tui_column tui_sorted_column(const struct tui_table *table);
void tui_table_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned end);
/* Whether the mode shows zones around a focus. */
bool tui_mode_has_focus(enum zone_mode mode);

/* ---- search.c ---- */

/* Moves the cursor to the next match; from_here: which may be the cursor's own row. */
bool tui_search_move(struct tui_model *m, int direction, bool from_here);

/* ---- zones_keys.c, zones_draw.c ---- */

void tui_zones_key(struct tui_model *m, uint32_t key);
void tui_zones_mouse(struct tui_model *m, struct tui_mouse mouse);
void tui_zones_draw(struct tui_model *m, struct tui_canvas *canvas);
/* Finds the mode whose tab is there; false: none. */
bool tui_tab_at(const struct tui_model *m, unsigned x, unsigned y, enum zone_mode *mode);
/* Moves by that many frames; negative: to older ones. */
void tui_move_frame(struct tui_model *m, long by);
/* Shows the frame that many before the last one, and holds it. */
void tui_show_frame(struct tui_model *m, size_t ago);

/* ---- prompt.c ---- */

void tui_prompt_open(struct tui_model *m, enum tui_prompt prompt);
void tui_prompt_key(struct tui_model *m, uint32_t key);
void tui_prompt_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y);

/* ---- graph.c ---- */

void tui_graph_draw(struct tui_model *m, struct tui_canvas *canvas, unsigned y, unsigned height);
/* Finds the frame at a column of the screen; false: none. */
bool tui_graph_at(const struct tui_model *m, unsigned x, unsigned y, size_t *ago);

/* ---- header.c ---- */

/* Returns the number of lines it took. */
unsigned tui_header_draw(struct tui_model *m, struct tui_canvas *canvas);

/* ---- overlays.c ---- */

/* Draws the open overlay, if any. */
void tui_overlay_draw(struct tui_model *m, struct tui_canvas *canvas);
void tui_overlay_key(struct tui_model *m, uint32_t key);
void tui_overlay_mouse(struct tui_model *m, struct tui_mouse mouse);
void tui_threads_open(struct tui_model *m);

#endif
