#ifndef SONDE_ZONEREPORT_REPORT_H
#define SONDE_ZONEREPORT_REPORT_H

/*
 * The rows of the zone displays: IProf's, but correct with recursion and threads.  A report depends
 * only on a history and a query; the program's own displays, `sonde live` and JSON all draw the
 * same one.
 *
 * Flat: each zone once. self and count are sums over all its nodes, hier over those without a node
 * of the same zone above: a recursive zone counts once.
 *
 * Call graph around a zone Z, the focus.  What runs in or below Z is split by the zone that called
 * the outermost Z on its stack (parents, ascending), and by the zone that the innermost Z called
 * (children, descending).  A child's self and count are its zone's own in that part.  So, with
 * recursion of all kinds:
 *	sum of parents = Z, in self, hier and count	sum of children's hier = hier - self of Z
 * Recursion of Z is a separate row, not part of these sums: the work of its inner nodes.
 * Descendants: instead of the children, all zones below Z, with self, hier and count of their work
 * there; the sum of their self times = hier - self of Z.
 *
 * Threads that end no frames wait or work for others, and their time outside zones is unrelated to
 * frames: 15 sleeping workers would be 94 % of all time.  If some thread ends frames and all
 * threads are shown, that time is in no row and no sum, but in one row at the end of flat reports.
 *
 * Spread recursion: "zone, with n of the same above" is then a separate entity, named "zone (n)",
 * so that no stack has an entity twice.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "zonereport/history.h"

/* Numbers as in Prof_Report_Mode. */
enum zone_mode {
	ZONE_MODE_SELF,	       /* flat, by self time */
	ZONE_MODE_HIER,	       /* flat, by hierarchical time */
	ZONE_MODE_GRAPH,       /* call graph */
	ZONE_MODE_DESCENDANTS, /* call graph, all below the focus */
	ZONE_MODE_NAME,	       /* flat, by name */
	ZONE_MODES
};

enum zone_recursion { ZONE_FLATTEN, ZONE_SPREAD };

/* What to show.  Fields out of range are limited to it. */
struct zone_query {
	enum zone_mode mode;
	enum zone_recursion recursion;
	uint32_t focus, focus_depth; /* zone, and with spread recursion its depth; 0: "_global" */
	uint32_t slot;		     /* ZONE_SLOT_ALL, or a single thread */
	unsigned average;	     /* 0 the last frame, 1 0.8 s, 2 2.5 s */
	size_t frame;		     /* 0: averages; n: the frame n frames before the last one */
	int cursor;		     /* row */
	double call_ns;		     /* cost of entering and leaving; 0: unknown */
};
#define ZONE_QUERY_INIT                                                                            \
	{                                                                                          \
		.slot = ZONE_SLOT_ALL, .average = ZONE_AVERAGE_DEFAULT                             \
	}

enum zone_row_kind {
	ZONE_ROW_FLAT,
	ZONE_ROW_PARENT,
	ZONE_ROW_FOCUS,
	ZONE_ROW_RECURSION, /* not included in sums */
	ZONE_ROW_CHILD,	    /* also a descendant */
	ZONE_ROW_FRAMELESS, /* the last row, in no sum: see report_work.h */
};

struct zone_row {
	enum zone_row_kind kind;
	uint32_t zone, depth;  /* the entity; depth is 0 where recursion is flattened */
	struct zone_info info; /* the history's strings; escape before drawing */
	uint32_t number;       /* maximum number of the same zone above, or depth; shown as "name
			      (n)" if not 0 */
	int indent;	       /* spaces: 0 or 3 */
	char prefix;	   /* '-' focus, '~' recursion, '!' overhead, '+' has_children, 0 none */
	bool has_children; /* some zone below it was entered more than 0.25 times a frame */
	bool is_mostly_overhead; /* the estimated cost of measuring is more than 10 % of it */
	double self_ms, hier_ms, count; /* per frame */
	double heat;			/* 0 (steady) to 1: its variation */
};

enum { ZONE_COLUMNS = 3, ZONE_TITLE_BYTES = 256 };

/* A unit of times: the largest in which the time is at least 1. */
struct zone_unit {
	const char *name; /* "ms", "us" or "ns" */
	double ms;	  /* length of one unit */
};
struct zone_unit zone_unit_of(double ms);

struct zone_report {
	char title[ZONE_TITLE_BYTES];	/* "16.667 ms/frame (fps: 60.00)  sort self - …" */
	char trouble[ZONE_TITLE_BYTES]; /* "": none; names in it are escaped */
	enum zone_measure column[ZONE_COLUMNS]; /* in display order, the sorted one first */
	double frame_ms;
	double total_ms;	 /* sum of self times of all zones */
	struct zone_unit unit;	 /* suits its longest time */
	double overhead_ms;	 /* estimated, per frame */
	struct zone_query query; /* the query after limiting it */
	size_t row_count;
	struct zone_row *row; /* [row_count] */
	int focus_row;	      /* -1: none */
	int cursor_row;	      /* -1: no rows */
};

/* The caller frees it with destroy, before the history.  NULL: out of memory. */
struct zone_report *zone_report_create(
	const struct zone_history *history, const struct zone_query *query);
void zone_report_destroy(struct zone_report *report);
/* Sets another title, for a run shown as one frame: "1234.567 ms in all  sort self". */
void zone_report_title_run(struct zone_report *report);

/* The header of a column, "zone", "self", "hier", "count", and a row's value in it. */
const char *zone_measure_name(enum zone_measure measure);
double zone_row_value(const struct zone_row *row, enum zone_measure measure);

/* ---- keys: these change only the query ---- */

void zone_query_set_mode(struct zone_query *query, enum zone_mode mode);
/*
 * Shows the call graph around the row at the cursor, which moves to the focus.  The descendants'
 * display keeps its mode.  False: no row, or out of memory.
 */
bool zone_query_select(struct zone_query *query, const struct zone_history *history);
/* Moves to the focus's largest parent; does nothing except in call graphs. */
bool zone_query_select_parent(struct zone_query *query, const struct zone_history *history);
/* Move by rows, positive is down, and by frames, negative is older. */
void zone_query_move_cursor(struct zone_query *query, const struct zone_history *history, int by);
void zone_query_move_frame(struct zone_query *query, const struct zone_history *history, int by);

/* ---- text ---- */

/*
 * Writes the report as text: titles, headers, a line per row: the label, then " %10.3lf" for each
 * value.  Labels have 30 columns, or up to 100 if some are longer; longer ones end in dots.  Bytes
 * of names that are not printable UTF-8 are written as \xNN.  False: writing failed (errno).
 */
bool zone_report_write(const struct zone_report *report, FILE *file);
/*
 * A row's label, "+name (2)" without its indent, escaped, truncated to `bytes` - 1 bytes at a
 * character; returns its length.
 */
size_t zone_row_label(const struct zone_row *row, char *label, size_t bytes);
/*
 * Describes a missing or extra Prof_End: "outer ended where inner was open", from the id and the
 * name of the zone that was open, and the name of the one that was ended; "" for an unknown one.
 * Nothing known at all: "".
 */
void zone_last_end_words(
	uint32_t open_zone, const char *open, const char *ended, char *text, size_t bytes);

/*
 * The cost of entering and leaving a zone on this machine with that clock, in ns, measured now (in
 * some microseconds) as two readings of the clock, which is a lower bound.  0 for clocks of the
 * program.
 */
double zone_call_cost_ns(enum zonewire_clock clock);

#endif
