/*
 * Cells of margins: how far the figures of a column may be off by chance.
 */
#include "view/cells.h"
#include "view/margins.h"

struct cell cells_exclusive_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_EXCLUSIVE_MARGIN);
}

struct cell cells_inclusive_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_INCLUSIVE_MARGIN);
}

struct cell cells_attributed_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_ATTRIBUTED_MARGIN);
}

struct cell cells_shallow_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_SHALLOW_MARGIN);
}

struct cell cells_deep_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_DEEP_MARGIN);
}

struct cell cells_in_or_under_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_IN_OR_UNDER_MARGIN);
}

struct cell cells_in_only_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_IN_ONLY_MARGIN);
}

struct cell cells_self_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_SELF_MARGIN);
}

struct cell cells_children_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_CHILDREN_MARGIN);
}

struct cell cells_self_and_children_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_SELF_AND_CHILDREN_MARGIN);
}

struct cell cells_listing_exclusive_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_LISTING_EXCLUSIVE_MARGIN);
}

struct cell cells_listing_inclusive_margin(const struct report *report, size_t row)
{
	return margins_cell(report, row, COLUMN_LISTING_INCLUSIVE_MARGIN);
}
