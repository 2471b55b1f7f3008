#ifndef SONDE_VIEW_MARGINS_H
#define SONDE_VIEW_MARGINS_H

/*
 * How far a report's figures may be off by chance: for --confidence, the same report is made of
 * each stretch of time, and its figures are compared (analysis/confidence.h).
 */

#include "analysis/confidence.h"
#include "view/report.h"

struct margins;

/*
 * The margins of all rows, for each of the view's columns that is a margin.  The report must be
 * complete; its rows must have the weights of one profile, which has passed confidence_check.
 * Lives in the arena.  Makes several stretches at a time as further metrics, as memory allows.
 */
must_use const struct margins *margins_create(const struct report *report, struct arena *arena);

/*
 * The notes that they give rise to, for report_note; NULL: none.  The first says that there are too
 * few samples to show how they cluster, the second which rows cannot be distinguished.
 */
const char *margins_few_note(const struct margins *margins);
const char *margins_alike_note(
	const struct margins *margins, const struct report *report, struct arena *arena);

/* A cell of a column that is a margin; null without --confidence. */
struct cell margins_cell(const struct report *report, size_t row, enum column_id id);

/*
 * For reports whose analysis is made beforehand (listings): how many stretches to make of so many
 * stacks, and adding them to the query's metrics, numbered from `first` on.
 */
size_t margins_stretches_max(size_t stacks);
void margins_ask(struct report_query *query, size_t first, size_t count, struct arena *arena);

#endif
