/*
 * Cells of exclusive and inclusive weight in any view.
 */
#include "view/callers_rows.h"
#include "view/cells.h"

static struct function_row figures(const struct report *report, size_t row)
{
	return report->callers ? callers_rows_figures(report, row) : report->functions->rows[row];
}

struct cell cells_exclusive(const struct report *report, size_t row)
{
	return (struct cell){.weight = figures(report, row).exclusive, .base = report->tree->total};
}

struct cell cells_inclusive(const struct report *report, size_t row)
{
	return (struct cell){.is_null = report->functions && !report->functions->knows_inclusive,
		.weight = figures(report, row).inclusive,
		.base = report->tree->total};
}

struct cell cells_function_calls(const struct report *report, size_t row)
{
	return cell_known(report->functions->rows[row].calls);
}
