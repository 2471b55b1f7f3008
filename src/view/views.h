#ifndef SONDE_VIEW_VIEWS_H
#define SONDE_VIEW_VIEWS_H

/*
 * The views: the ways to look at a profile.
 *
 * To add one (docs/howto/add-a-view.md goes through it):
 * 1. give the result of its analysis a field in struct report, and a line in report.c's
 *    report_other; a view computes no figure of its own;
 * 2. write view_NAME.c, which ends in one `const struct view`: it runs the analysis, names its
 *    columns (view/columns.h) and draws its text (view/text/);
 * 3. add it to the arrays in views.c.
 * The command line, JSON, CSV and help follow.
 */

#include "analysis/entity_tree.h"
#include "base/arena.h"
#include "view/columns.h"
#include "view/report.h"

struct text;

/* Ends lists of column ids. */
#define COLUMN_END COLUMN_COUNT

/* One of the kinds of rows that an entry has. */
struct view_part {
	const char *key; /* of their array in the entry's JSON; NULL: the entry's own row */
	/*
	 * The columns of such a row in JSON, and those among them that differ between metrics; each
	 * ends with COLUMN_END.
	 */
	const enum column_id *columns, *metric_columns;
	/* The column that is tested for differences, as in struct view. */
	enum column_id main_column;
	bool is_whole; /* part_rows does not bound it, except in brief reports */
};

struct view {
	const char *name;
	const char *summary; /* a few words for help */
	/* The columns of JSON and CSV, in order; ends with COLUMN_END. */
	const enum column_id *data_columns;
	/* Further columns, for text, --columns and --sort; ends with COLUMN_END. */
	const enum column_id *more_columns;
	/* Those of these columns that JSON and CSV repeat for each metric; ends with COLUMN_END. */
	const enum column_id *metric_columns;
	/*
	 * For views whose entries have several rows: the kinds of rows, [part_count], the own one
	 * first, and the kind of a given row.  An entry's rows are adjacent, ordered by part; it
	 * has one own row.  CSV has data_columns for every row.  NULL: each row is an entry.
	 */
	const struct view_part *parts;
	size_t part_count;
	size_t (*part)(const struct report *report, size_t row);
	/*
	 * The view's main figure.  Differences are sorted by it and, unless a part has its own,
	 * tested on it; COLUMN_NAME: none.
	 */
	enum column_id main_column;
	/* Whether its rows come from all requested metrics, not just the first. */
	bool joins_metrics;
	/* Whether it needs only sums by entity from the stacks (struct entity_spec). */
	bool sums_only;
	/* Whether rows also come from ZONE_ENTRIES, if the profile has that metric. */
	bool adds_entries;
	/*
	 * The metric that is shown if none is requested and the profile has it; NULL: the profile's
	 * default.
	 */
	const char *own_metric;
	/*
	 * Whether it needs stacks, and calls alone are not enough; and whether the costs of calls
	 * are enough instead.
	 */
	bool needs_stacks, takes_costs;
	/* Whether it needs the times of samples. */
	bool needs_times;
	/* Whether rows are parts of others, for --percent parent. */
	bool has_parents;
	/*
	 * Whether a report has one of data_columns that not every profile has; NULL: it has all.  A
	 * column that is requested by name is shown anyway.
	 */
	bool (*has_column)(const struct report *report, enum column_id id);
	/*
	 * The column by which text lists the rows a second time, without --sort; NULL: it does not.
	 */
	const enum column_id *second_sort;
	/* Whether --level, --sort and the tree's options apply. */
	bool has_levels, sorts, is_tree;
	enum level level; /* the only one if !has_levels */
	/* Runs the analysis: sets the report's result and row_count. */
	void (*analyse)(struct report *report, struct arena *arena);
	/* The entity of a row; NULL for views without entities, whose text cannot be a table. */
	const struct entity *(*entity)(const struct report *report, size_t row);
	/*
	 * For views with many rows of one entity: its number in the tree, or NO_ID.  Rows with the
	 * same number have the same cells in columns that are is_of_entity, and the same label but
	 * for what follows the name; text draws these once.  NULL: none.
	 */
	uint32_t (*line_entity)(const struct report *report, size_t row);
	/* Selects query.limit of row_count rows; NULL: the first ones. */
	void (*select)(struct report *report, struct arena *arena);
	/* Draws the text, without heading and notes. */
	void (*draw)(struct text *text, const struct report *report);
};

/* NULL-terminated. */
extern const struct view *const views[];
extern const struct view view_functions, view_callers, view_tree, view_modules, view_lines,
	view_threads, view_graph, view_deep, view_stats, view_zones, view_heat;
/* One function's code; not available by --view, because its query needs a listing. */
extern const struct view view_annotate;

/* The columns of the statistics in text, for stats and below deep; ends with COLUMN_END. */
extern const enum column_id statistics_columns[];

/* Whether rows of a level belong to load objects, without being load objects. */
bool level_has_modules(enum level level);
/* Whether a list that ends with COLUMN_END has the id. */
bool column_list_has(const enum column_id *list, enum column_id id);
/* Whether JSON and CSV have one of the view's data_columns. */
bool view_shows_column(const struct report *report, enum column_id id);
/*
 * The columns that JSON and CSV add after the view's own, so that rows of one function can be
 * distinguished: the place, at the levels of lines and instructions.  Ends with COLUMN_END.
 */
const enum column_id *level_columns(enum level level);
/* Whether the view has that column. */
bool view_has_column(const struct view *view, enum column_id id);
/* Whether some column of the view is a margin of error. */
bool view_has_margins(const struct view *view);

#endif
