/*
 * Cells of the flat views.
 */
#include "view/cells.h"

struct cell cells_exclusive(const struct report *report, size_t row)
{
	return (struct cell){
		.weight = report->functions->rows[row].exclusive, .base = report->tree->total};
}

struct cell cells_inclusive(const struct report *report, size_t row)
{
	return (struct cell){
		.weight = report->functions->rows[row].inclusive, .base = report->tree->total};
}
