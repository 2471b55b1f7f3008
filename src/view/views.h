#ifndef SONDE_VIEW_VIEWS_H
#define SONDE_VIEW_VIEWS_H

/*
 * The views: what of a profile can be looked at.
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

/* One kind of the rows that an entry has. */
struct view_part {
	const char *key; /* of their array in the entry's JSON object; NULL: the entry's own row */
	/* What JSON has of such a row, and what of that differs between metrics; end with
	 * COLUMN_END. */
	const enum column_id *columns, *metric_columns;
	/* What of it a difference is looked for in, as struct view's. */
	enum column_id main_column;
};

struct view {
	const char *name;
	const char *summary; /* a few words for help */
	/* The columns of JSON and CSV in order; ends with COLUMN_END. */
	const enum column_id *data_columns;
	/* Further columns, for text, --columns and --sort; ends with COLUMN_END. */
	const enum column_id *more_columns;
	/* Of these, what several metrics have side by side, in JSON and CSV; ends with COLUMN_END.
	 */
	const enum column_id *metric_columns;
	/*
	 * Of views whose entries have several rows: the kinds of rows, [part_count], the own one
	 * first, and which of them a row is.  An entry's rows stand together, by part; it has one
	 * own row.  CSV has data_columns of every row.  NULL: each row is an entry.
	 */
	const struct view_part *parts;
	size_t part_count;
	size_t (*part)(const struct report *report, size_t row);
	/*
	 * The figure that it is about, by which differences are sorted and, where parts do not say
	 * otherwise, tested; COLUMN_NAME: none.
	 */
	enum column_id main_column;
	/* Whether its rows are of all metrics asked for, not of the first alone. */
	bool joins_metrics;
	/* Whether all that it shows of stacks is sums by entity (struct entity_spec). */
	bool sums_only;
	/* Whether rows are of ZONE_ENTRIES, too, where the profile has that metric. */
	bool adds_entries;
	/* The metric that is shown where none is asked for and the profile has it; NULL: its
	 * default. */
	const char *own_metric;
	/*
	 * Whether it means something only where there are stacks, not calls alone; and whether the
	 * costs of calls would do, too.
	 */
	bool needs_stacks, takes_costs;
	/* Whether it is about when samples were taken. */
	bool needs_times;
	/* Whether rows are parts of others, for --percent parent. */
	bool has_parents;
	/*
	 * Whether a report has one of data_columns, of those that not every profile has; NULL: it
	 * has all.  What is asked for by name is shown all the same.
	 */
	bool (*has_column)(const struct report *report, enum column_id id);
	/* What text lists the rows by once more, where --sort does not say; NULL: it does not. */
	const enum column_id *second_sort;
	/* Whether --level, --sort and the tree's options apply. */
	bool has_levels, sorts, is_tree;
	enum level level; /* the only one where !has_levels */
	/* Runs the analysis: sets the report's result and row_count. */
	void (*analyse)(struct report *report, struct arena *arena);
	/* The entity of a row; NULL function for views without, whose text can be no table. */
	const struct entity *(*entity)(const struct report *report, size_t row);
	/* Chooses query.limit rows of row_count; NULL: the first ones. */
	void (*select)(struct report *report, struct arena *arena);
	/* Draws the text, without heading and notes. */
	void (*draw)(struct text *text, const struct report *report);
};

/* NULL-terminated. */
extern const struct view *const views[];
extern const struct view view_functions, view_callers, view_tree, view_modules, view_lines,
	view_threads, view_graph, view_deep, view_stats, view_zones, view_heat;
/* One function's code, which no --view names: its query needs a listing. */
extern const struct view view_annotate;

/* What the text of the statistics is made of, in stats and below deep; ends with COLUMN_END. */
extern const enum column_id statistics_columns[];

/* Whether rows of a level belong to load objects, and are none. */
bool level_has_modules(enum level level);
/* Whether a list that ends with COLUMN_END has the id. */
bool column_list_has(const enum column_id *list, enum column_id id);
/* Whether JSON and CSV have one of the view's data_columns. */
bool view_shows_column(const struct report *report, enum column_id id);
/*
 * What JSON and CSV have of a row behind the columns of its view, so that rows of one function can
 * be distinguished: its place, at the levels of lines and instructions.  Ends with COLUMN_END.
 */
const enum column_id *level_columns(enum level level);
/* Whether the view has that column. */
bool view_has_column(const struct view *view, enum column_id id);

#endif
