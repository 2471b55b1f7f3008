#ifndef SONDE_VIEW_REPORT_H
#define SONDE_VIEW_REPORT_H

/*
 * One view of one profile, analysed and ready to be drawn: the query, the analysis result, and
 * which of its rows are shown in which order.  Every output format draws the same report.
 */

#include "analysis/callers.h"
#include "analysis/callgraph.h"
#include "analysis/calltree.h"
#include "analysis/functions.h"
#include "analysis/listing.h"
#include "analysis/selection.h"
#include "analysis/stats.h"
#include "base/arena.h"
#include "model/profile.h"
#include "view/columns.h"

struct brief_subject;
struct callers_rows;
struct zones;
struct heat;
struct margins;
struct zones_frameless;
struct view;
struct difference;

enum percent {
	PERCENT_RAW,	/* weights in their unit, no percentages */
	PERCENT_TOTAL,	/* percent of the total */
	PERCENT_PARENT, /* percent of the row above in the tree, or of the callers view's centre */
	PERCENT_COUNT
};
/* "raw", "total", "parent". */
extern const char *const percent_names[PERCENT_COUNT + 1]; /* NULL at the end */

/* What was requested.  Other views ignore the tree's fields. */
struct report_query {
	const struct view *view;
	metric_id metric;
	/* Further metrics, shown next to that one; borrowed, distinct. */
	const metric_id *others;
	size_t other_count;
	/*
	 * If the profile is a difference, the difference that these metrics belong to; else NULL.
	 * See view/difference.h.
	 */
	const struct difference *difference;
	size_t hidden_count; /* of others, after the first other_count: not shown */
	/* Of these, the last: stretches of time (view/margins.h), which decide no order. */
	size_t stretch_count;
	enum level level;
	const struct same_rule *same; /* borrowed */
	size_t same_count;
	const char *center;	     /* as requested; NULL: each entity is a centre; borrowed */
	const struct centre *centre; /* center's entities in the tree; NULL without */
	bool spread;
	bool confidence; /* how far figures may be off by chance */
	bool invert;	 /* stacks are shown from their leaves */
	enum collapse collapse;
	enum calltree_order order;
	enum percent percent;
	const struct column *sort; /* NULL: the view's own order */
	bool brief;		   /* without explanations */
	size_t budget; /* an answer of at most so many characters (view/brief.h); 0: not brief */
	const struct brief_subject *subject; /* what its next questions repeat; NULL: none */
	size_t limit;			     /* entries at most; 0: all */
	size_t part_rows;  /* rows of each part of an entry at most (struct view's parts); 0: all */
	bool with_modules; /* folded: frames name their load object */
	bool has_widths;   /* tree: rows have widths (struct calltree), whatever the limit */
	struct play **kept_play;       /* tree: of trees with the same nodes; NULL: not kept */
	const struct listing *listing; /* view annotate: the function's, borrowed; else NULL */
	const struct zones_frameless *frameless; /* view zones: what is left out; else NULL */
	/* What is missing in this report only, as sentences; borrowed. */
	const char *const *remarks;
	size_t remark_count;
	/* Columns to show instead of the view's own; count 0: the view's own. */
	enum column_id columns[COLUMN_COUNT + 1]; /* with a COLUMN_COUNT at the end */
	size_t column_count;
};

/*
 * A row is one line of text or CSV.  In most views each row is an entry, one of the things that the
 * report lists.  In some (struct view's parts) an entry has several consecutive rows, its own
 * first.
 */
struct report {
	const struct profile *profile;
	const struct selection *selection; /* what of it is shown */
	struct report_query query;
	const struct entity_tree *tree;
	const struct functions *functions; /* views functions, modules … and callers, else NULL */
	const struct callers *callers;	   /* view callers, else NULL */
	const struct callers_rows *callers_rows; /* the same */
	const struct calltree *calltree;	 /* view tree, else NULL */
	const struct callgraph *callgraph;	 /* view graph, else NULL */
	const struct zones *zones;		 /* view zones, else NULL */
	const struct heat *heat;		 /* view heat, else NULL */
	const struct stats *stats;		 /* views stats and deep, else NULL */
	/* View annotate, else NULL.  annotation: the listing's own, or one of another metric. */
	const struct listing *listing;
	const struct annotation *annotation;
	size_t row_count;     /* rows of the analysis result */
	const uint32_t *rows; /* [count] the rows to show, in order; NULL: the first count */
	size_t count;
	size_t left_out;       /* entries that the analysis dropped at the limit, after its rows */
	size_t entry_count;    /* entries of the analysis result, including those left out */
	size_t entries_shown;  /* of those */
	size_t lines_left_out; /* of the shown entries, beyond part_rows */
	const struct report *second; /* the same by the view's second_sort; else NULL */
	/* The analysis's remarks on the figures, sentences without full stop (report_note). */
	const char *const *notes;
	size_t note_count;
	/* [row]: whether it changed by more than chance; NULL: unknown. */
	const bool *marks;
	const struct margins *margins; /* if they were requested, else NULL */
	/*
	 * [query.other_count] The same rows with the figures of the other metrics, so that columns
	 * read them as they read this report; they have no others themselves.  The hidden ones come
	 * last.
	 */
	const struct report *const *others;
};

/*
 * Creates the report of a query.  tree: the selection's tree at the query's level, with its
 * metrics, spread and inverted if the query says so.  report_tree makes it; reports may share a
 * tree if they agree in all of these, in joins_metrics and in report_wants_sums.  The report lives
 * in the arena; selection and tree must live as long.
 */
struct report *report_create(const struct selection *selection, const struct entity_tree *tree,
	const struct report_query *query, struct arena *arena);
/* The specification of that tree; its metrics live in the arena. */
struct entity_spec report_spec(
	const struct profile *profile, const struct report_query *query, struct arena *arena);
const struct entity_tree *report_tree(
	const struct selection *selection, const struct report_query *query, struct arena *arena);
/* Adds a note, which must live as long as the report; called by a view's analyse. */
void report_note(struct report *report, const char *note, struct arena *arena);
/* Whether the report needs only sums by entity (struct entity_spec); the view decides. */
bool report_wants_sums(const struct report_query *query);

/* The metrics of that tree, in the order of its others: the query's, then those its view adds. */
const metric_id *report_tree_metrics(const struct profile *profile,
	const struct report_query *query, struct arena *arena, size_t *count);

/* The report with the figures of metric m ≤ query.other_count: 0 is the report itself. */
static inline const struct report *report_of_metric(const struct report *report, size_t m)
{
	return m == 0 ? report : report->others[m - 1];
}

/* The row of the analysis result that is shown at position `place` (< count). */
static inline size_t report_row(const struct report *report, size_t place)
{
	return report->rows ? report->rows[place] : place;
}
/*
 * The position of a row of the tree view among the shown rows; the row must be shown.  In the tree
 * view, rows are always ascending.
 */
size_t report_place(const struct report *report, size_t row);

struct metric report_metric(const struct report *report);
/* For views that show statistics: sets report->stats. */
void report_add_stats(struct report *report, struct arena *arena);

#endif
