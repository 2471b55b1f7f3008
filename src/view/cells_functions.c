/*
 * Cells of exclusive and inclusive weight in any view, with their margins of error.
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

struct cell cells_exclusive_margin(const struct report *report, size_t row)
{
	const struct confidence *c = report->confidence;

	return (struct cell){.is_null = c == NULL,
		.weight = c ? c->rows[row].exclusive : 0,
		.base = report->tree->total};
}

struct cell cells_inclusive_margin(const struct report *report, size_t row)
{
	const struct confidence *c = report->confidence;

	return (struct cell){.is_null = c == NULL || !report->functions->knows_inclusive,
		.weight = c ? c->rows[row].inclusive : 0,
		.base = report->tree->total};
}
