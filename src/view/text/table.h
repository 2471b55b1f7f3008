#ifndef SONDE_VIEW_TEXT_TABLE_H
#define SONDE_VIEW_TEXT_TABLE_H

/*
 * Lays out a report's rows in aligned columns.  The name is always the last column, so that only it
 * has to give way where the terminal is narrow; so the view must have an `entity`.
 */

#include "base/vec.h"
#include "view/columns.h"
#include "view/report.h"
#include "view/text/text.h"
#include "view/text/units.h"

struct table_column {
	const struct column *column;
	const struct report *report; /* whose figures: the table's, or one of its others */
	const struct scale *scale;   /* of that one's metric */
	const char *heading;
	size_t width;	       /* of the figure, or of the text */
	size_t indirect_width; /* of a pair's " (indirect)" */
	bool is_empty;	       /* no row has a text here */
};

struct table {
	struct text *text;
	const struct report *report;
	VEC(struct table_column) items;
	bool has_module; /* as a column, so that names need not say it */
	bool keep_empty; /* show text columns in which nothing stands, too */
	struct strbuf scratch;
};

/* What surrounds a row's name. */
struct table_label {
	struct strbuf before; /* guides, emptied for each row */
	struct strbuf after;  /* behind the name, emptied for each row */
	struct strbuf aside;  /* a line of its own next to the row, emptied for each row */
	bool is_stub;	      /* "..." behind the name */
	bool is_main;	      /* the entry's own row among several */
	bool is_aside_above;  /* else it is below */
	bool begins;	      /* a rule goes before this row, as a new entry begins */
	struct str module;    /* size 0: none */
};
typedef void table_label_fn(void *context, size_t place, struct table_label *label);

void table_init(struct table *table, struct text *text, const struct report *report);
void table_deinit(struct table *table);
void table_add(struct table *table, enum column_id id);
/* A column with the figures of metric m ≤ query.other_count. */
void table_add_of(struct table *table, size_t m, enum column_id id);
/* The columns that the query asks for, in each metric's figures where they have any, the name last.
 */
void table_add_asked(struct table *table);
/* Headings and rows.  label is called for each row in order; NULL: nothing around names. */
void table_draw(struct table *table, table_label_fn *label, void *context);

/*
 * For views that draw the last column themselves: finds the widths of the columns before it; their
 * headings; those columns of a row, with blanks behind them; the width of all that.
 */
void table_measure(struct table *table);
void table_draw_headings(struct table *table);
void table_draw_figures(struct table *table, size_t row);
size_t table_figures_width(const struct table *table);

/*
 * Some columns of the report's first row below each other, one a line.  ids ends with COLUMN_COUNT;
 * columns added to the table mean nothing here.
 */
void table_draw_facts(struct table *table, const enum column_id *ids);

#endif
