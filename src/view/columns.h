#ifndef SONDE_VIEW_COLUMNS_H
#define SONDE_VIEW_COLUMNS_H

/*
 * The one registry of columns.  A row of it is a column of a text table, a sort key, a CSV header
 * and a JSON key at once, so that all of them have the same names and the same figures.
 *
 * To add one (docs/howto/add-a-column.md goes through it):
 * 1. give it an id in enum column_id;
 * 2. write the function that reads it from a report's row (view/cells.h);
 * 3. give it a row in columns.c: its key, its heading, its kind and that function;
 * 4. add the id to the column lists of the views that have it (src/view/view_*.c).
 * Sorting, --columns, text, CSV and JSON follow from the row.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct entity;
struct report;

enum column_id {
	COLUMN_NAME,
	COLUMN_MODULE,
	COLUMN_FILE,
	COLUMN_LINE,
	COLUMN_ADDRESS,
	COLUMN_ID,
	COLUMN_EXCLUSIVE,
	COLUMN_EXCLUSIVE_PERCENT,
	COLUMN_INCLUSIVE,
	COLUMN_INCLUSIVE_PERCENT,
	COLUMN_ATTRIBUTED,
	COLUMN_ATTRIBUTED_PERCENT,
	COLUMN_IS_RECURSIVE,
	COLUMN_SHALLOW,
	COLUMN_SHALLOW_PERCENT,
	COLUMN_DEEP,
	COLUMN_DEEP_PERCENT,
	COLUMN_LEVEL,
	COLUMN_KIND,
	COLUMN_DIRECT,
	COLUMN_INDIRECT,
	COLUMN_IN_OR_UNDER,
	COLUMN_IN_OR_UNDER_PERCENT,
	COLUMN_IN_ONLY,
	COLUMN_IN_ONLY_PERCENT,
	COLUMN_TARGET,
	COLUMN_STUB_WEIGHT,
	COLUMN_DEPTH_MAX,
	COLUMN_DEPTH_MEAN,
	COLUMN_COUNTED,
	COLUMN_EXPECTED,
	COLUMN_LOST,
	COLUMN_FOREIGN,
	COLUMN_CRITICAL,
	COLUMN_GUESSED,
	COLUMN_EXCLUDED,
	COLUMN_DURATION,
	COLUMN_CPU,
	COLUMN_INTERVAL,
	COLUMN_INTERVAL_ASKED,
	COLUMN_FIT,
	COLUMN_STACKS,
	COLUMN_FUNCTIONS,
	COLUMN_STACK_DEPTH_MAX,
	COLUMN_STACK_DEPTH_MEAN,
	COLUMN_RECURSIVE,
	COLUMN_METRIC_TOTAL,
	COLUMN_METRIC_SAMPLES,
	COLUMN_LISTING_KIND,
	COLUMN_LISTING_FUNCTION,
	COLUMN_LISTING_FILE,
	COLUMN_LISTING_LINE,
	COLUMN_LISTING_ADDRESS,
	COLUMN_LISTING_DEPTH,
	COLUMN_LISTING_TEXT,
	COLUMN_LISTING_EXCLUSIVE,
	COLUMN_LISTING_EXCLUSIVE_PERCENT,
	COLUMN_LISTING_INCLUSIVE,
	COLUMN_LISTING_INCLUSIVE_PERCENT,
	COLUMN_ENTRY,
	COLUMN_PART,
	COLUMN_ENTRY_NUMBER,
	COLUMN_INDEX,
	COLUMN_GRAPH_KIND,
	COLUMN_CYCLE,
	COLUMN_PERCENT,
	COLUMN_SELF,
	COLUMN_CHILDREN,
	COLUMN_SELF_AND_CHILDREN,
	COLUMN_CALLED,
	COLUMN_CALLS,
	COLUMN_OF,
	COLUMN_EXCLUSIVE_CHANGE,
	COLUMN_INCLUSIVE_CHANGE,
	COLUMN_SHALLOW_CHANGE,
	COLUMN_DEEP_CHANGE,
	COLUMN_IN_OR_UNDER_CHANGE,
	COLUMN_IN_ONLY_CHANGE,
	COLUMN_ATTRIBUTED_CHANGE,
	COLUMN_SELF_AND_CHILDREN_CHANGE,
	COLUMN_SIGNIFICANT,
	COLUMN_EXCLUSIVE_MARGIN,
	COLUMN_INCLUSIVE_MARGIN,
	COLUMN_ATTRIBUTED_MARGIN,
	COLUMN_SHALLOW_MARGIN,
	COLUMN_DEEP_MARGIN,
	COLUMN_IN_OR_UNDER_MARGIN,
	COLUMN_IN_ONLY_MARGIN,
	COLUMN_SELF_MARGIN,
	COLUMN_CHILDREN_MARGIN,
	COLUMN_SELF_AND_CHILDREN_MARGIN,
	COLUMN_LISTING_EXCLUSIVE_MARGIN,
	COLUMN_LISTING_INCLUSIVE_MARGIN,
	COLUMN_ENTRIES,
	COLUMN_ZONE_DEPTH_MAX,
	COLUMN_TICKS,
	COLUMN_EXCLUSIVE_PER_TICK,
	COLUMN_INCLUSIVE_PER_TICK,
	COLUMN_ENTRIES_PER_TICK,
	COLUMN_SLOWEST_TICK,
	COLUMN_EXCLUSIVE_MEDIAN,
	COLUMN_EXCLUSIVE_P95,
	COLUMN_EXCLUSIVE_MAX,
	COLUMN_INCLUSIVE_MEDIAN,
	COLUMN_INCLUSIVE_P95,
	COLUMN_INCLUSIVE_MAX,
	COLUMN_START,
	COLUMN_END_TIME,
	COLUMN_WEIGHT,
	COLUMN_WEIGHT_PERCENT,
	COLUMN_COUNT
};

enum column_kind {
	COLUMN_KIND_TEXT,
	COLUMN_KIND_NUMBER,  /* a plain count or index */
	COLUMN_KIND_COUNT,   /* a count, the same for all metrics; in a difference, its change */
	COLUMN_KIND_TIME,    /* nanoseconds */
	COLUMN_KIND_WEIGHT,  /* in the metric's unit */
	COLUMN_KIND_PERCENT, /* a weight as a share of a base */
	COLUMN_KIND_MEAN,    /* of counts, not negative */
	COLUMN_KIND_FLAG,    /* true or false; text shows the heading's word, or nothing */
	COLUMN_KIND_CALLS,   /* a number of calls, possibly with a second number */
	COLUMN_KIND_CHANGE,  /* a change as a share of the old value, its base */
};

/* What follows a number of calls. */
enum cell_calls {
	CALLS_ALONE,  /* nothing */
	CALLS_INSIDE, /* these calls come from outside; the second number, from within: "5+2" */
	CALLS_OF,     /* these are a part of the second number: "5/7" */
};

/* The contents of one row in one column. */
struct cell {
	bool is_null;  /* nothing to show: unknown, or a stub's */
	bool flag;     /* COLUMN_KIND_FLAG; COLUMN_KIND_CHANGE: the change is more than chance */
	bool is_blank; /* a zero that is not worth showing in text */
	bool is_reference;	     /* COLUMN_KIND_NUMBER: shown in brackets in text */
	bool is_address;	     /* COLUMN_KIND_NUMBER: hexadecimal in text */
	bool is_id;		     /* the id of `entity` is shown, not its name */
	struct str text;	     /* COLUMN_KIND_TEXT, unless it is an entity's name */
	const struct entity *entity; /* the entity whose name is shown; else NULL */
	uint64_t number;	     /* COLUMN_KIND_NUMBER, COLUMN_KIND_TIME, COLUMN_KIND_CALLS */
	enum cell_calls calls;	     /* COLUMN_KIND_CALLS */
	uint64_t more_calls;
	double mean; /* COLUMN_KIND_MEAN */
	/* COLUMN_KIND_WEIGHT, COLUMN_KIND_PERCENT, COLUMN_KIND_CHANGE, COLUMN_KIND_COUNT */
	int64_t weight;
	int64_t indirect; /* of a pair: the part in parentheses */
	int64_t base;	  /* COLUMN_KIND_PERCENT: what 100 % is */
};

struct column {
	const char *key;     /* JSON key, CSV header, name for --sort and --columns */
	const char *heading; /* of a text table */
	const char *help;    /* its meaning in a few words */
	enum column_kind kind;
	/* row: a row of the analysis result, not of the shown selection. */
	struct cell (*get)(const struct report *report, size_t row);
	bool is_pair;	    /* shown as `weight (indirect)` */
	bool is_of_entity;  /* the same in all rows of an entity */
	bool is_own;	    /* what was spent in the row itself; large values are coloured */
	bool is_per_metric; /* differs with the report's metric: shown once for each of several */
	bool of_difference; /* only in reports of differences */
	bool of_confidence; /* only with --confidence: how far column margin_of may be off */
	enum column_id margin_of;
	bool is_per_tick; /* such a small part of the total that it has a scale of its own */
};

/* Indexed by enum column_id. */
extern const struct column columns[COLUMN_COUNT];

/*
 * Weight and indirect part as a percentage of the base, which must not be 0.  Show it with at most
 * four decimals; doubles are precise enough for these.
 */
double cell_percent(const struct cell *cell);
/* A text cell's text, whole and unescaped; lives in scratch or as long as the cell's sources. */
struct str cell_text(const struct cell *cell, struct strbuf *scratch);
/* A COLUMN_KIND_CALLS cell's text, for text and CSV. */
void cell_calls_put(struct strbuf *out, const struct cell *cell);
/*
 * Order for sorting: weights, times, means and calls descending, texts and numbers ascending, set
 * flags first, null last.
 */
int cell_compare(enum column_kind kind, const struct cell *a, const struct cell *b);

#endif
