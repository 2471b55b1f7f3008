#ifndef SONDE_VIEW_CALLERS_ROWS_H
#define SONDE_VIEW_CALLERS_ROWS_H

/*
 * The rows of a callers report: of each centre its own, then its callers, then its callees, in the
 * order of the analysis.
 */

#include "view/report.h"

enum { CALLERS_OWN, CALLERS_CALLERS, CALLERS_CALLEES, CALLERS_PARTS };

/* Looks up what belongs to a row in constant time; built with the report. */
struct callers_rows {
	uint32_t *entry;    /* [row] the centre's row in report->callers */
	uint32_t *function; /* [entity] its row in report->functions; NO_ID: it has none */
};

/* The report must have its callers and functions; the result lives in the arena. */
const struct callers_rows *callers_rows_create(const struct report *report, struct arena *arena);

/* The row's part of struct view: one of CALLERS_OWN, …. */
size_t callers_rows_part(const struct report *report, size_t row);
/* The row's entity, as in struct view. */
const struct entity *callers_rows_entity(const struct report *report, size_t row);
/* The number of a line's entity; NO_ID: <Total>, or the row is a centre's own. */
uint32_t callers_rows_line_entity(const struct report *report, size_t row);
/* The centre that the row belongs to. */
const struct callers_row *callers_rows_centre(const struct report *report, size_t row);
/* The row's caller or callee; NULL for the centre's own row. */
const struct callers_line *callers_rows_line(const struct report *report, size_t row);
/* Exclusive and inclusive weight of the row's entity, from all its callers. */
struct function_row callers_rows_figures(const struct report *report, size_t row);

#endif
