/*
 * Cells of the callers view.
 */
#include "view/cells.h"

#include "view/callers_rows.h"

/*
 * A centre's exclusive weight is attributed to itself: together with that of its callees it equals
 * the inclusive weight, as the sum of the callers does.
 */
struct cell cells_attributed(const struct report *report, size_t row)
{
	const struct callers_line *line = callers_rows_line(report, row);
	const struct callers_row *centre = callers_rows_centre(report, row);
	bool of_parent = report->query.percent == PERCENT_PARENT;

	return (struct cell){.weight = line ? line->attributed : centre->exclusive,
		.base = of_parent ? centre->inclusive : report->tree->total};
}

struct cell cells_is_recursive(const struct report *report, size_t row)
{
	const struct callers_line *line = callers_rows_line(report, row);

	return (struct cell){.is_null = line == NULL, .flag = line && line->is_recursive};
}
