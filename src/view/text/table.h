#ifndef SONDE_VIEW_TEXT_TABLE_H
#define SONDE_VIEW_TEXT_TABLE_H

/*
 * Lays out a report's rows in aligned columns.  The name is always the last column, so that only it
 * has to be shortened on a narrow terminal.  So the view must have an `entity`.
 */

#include "base/vec.h"
#include "view/columns.h"
#include "view/report.h"
#include "view/text/text.h"
#include "view/text/units.h"

struct table_column {
	const struct column *column;
	const struct report *report; /* of the figures: the table's report, or one of its others */
	const struct scale *scale;   /* for that report's metric */
	const char *heading;
	size_t width;	       /* of the figure, or of the text */
	size_t indirect_width; /* of a pair's " (indirect)" */
	bool is_empty;	       /* no row has a text here */
	/* While it is measured: the largest figures of each sign and kind, plus 1; their base. */
	uint64_t largest[2][FIGURE_KINDS];
	int64_t base;
};

struct table {
	struct text *text;
	const struct report *report;
	VEC(struct table_column) items;
	/* Of views with many rows of one entity, while a table is drawn. */
	VEC(uint32_t) firsts; /* the places of each entity's first row, and of rows of none */
	struct arena *arena;  /* of what is drawn once; NULL: nothing is */
	struct str *drawn;    /* [entity_count] the columns from own_count on */
	size_t own_count;     /* columns before those that are the same in all of its rows */
	bool has_module;      /* there is a module column, so names leave it out */
	bool keep_empty;      /* also show empty text columns */
	struct strbuf scratch;
};

/* What surrounds a row's name. */
struct table_label {
	struct strbuf before; /* guides, emptied for each row */
	struct strbuf after;  /* after the name, emptied for each row */
	struct strbuf aside;  /* a line of its own next to the row, emptied for each row */
	bool is_stub;	      /* "..." after the name */
	bool is_main;	      /* the entry's own row among several */
	bool is_aside_above;  /* else below */
	bool begins;	      /* a new entry begins: draw a rule before this row */
	struct str module;    /* size 0: none */
};
typedef void table_label_fn(void *context, size_t place, struct table_label *label);

/* The units of a report's weights, for its metric and their size. */
const struct scale *report_scale(const struct report *report);

void table_init(struct table *table, struct text *text, const struct report *report);
void table_deinit(struct table *table);
void table_add(struct table *table, enum column_id id);
/* A column with the figures of metric m ≤ query.other_count. */
void table_add_of(struct table *table, size_t m, enum column_id id);
/*
 * Adds the columns that the query asks for, once for each metric where they depend on it; the name
 * last.
 */
void table_add_asked(struct table *table);
/*
 * Headings and rows.  label is called for each row in order; NULL: names have nothing around them.
 */
void table_draw(struct table *table, table_label_fn *label, void *context);

/*
 * For views that draw the last column themselves.  In this order: find the widths of the columns
 * before it; draw their headings; draw these columns of a row, followed by blanks; return their
 * total width.
 */
void table_measure(struct table *table);
void table_draw_headings(struct table *table);
void table_draw_figures(struct table *table, size_t row);
size_t table_figures_width(const struct table *table);

/*
 * Draws some columns of the report's first row, one per line.  ids ends with COLUMN_COUNT; columns
 * added to the table are ignored.
 */
void table_draw_facts(struct table *table, const enum column_id *ids);

#endif
