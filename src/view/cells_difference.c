/*
 * Cells of differences: the change as part of what was there before, and whether it is more than
 * chance.
 */
#include "view/cells.h"

#include "view/callers_rows.h"
#include "view/difference.h"

/* tested: the column whose figure is the tested one. */
static struct cell change_of(
	const struct report *report, size_t row, enum column_id id, enum column_id tested)
{
	/* Reports of old and new have no others. */
	if (report->query.difference == NULL || report->others == NULL)
		return (struct cell){.is_null = true};
	struct cell cell = columns[id].get(report, row);
	struct cell before = columns[id].get(report->others[DIFFERENCE_OLD], row);

	return (struct cell){.is_null = cell.is_null,
		.weight = cell.weight + cell.indirect,
		.base = before.weight + before.indirect,
		.flag = report->marks && report->marks[row] &&
			difference_column(report, row) == tested};
}

struct cell cells_exclusive_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_EXCLUSIVE, COLUMN_EXCLUSIVE);
}

struct cell cells_inclusive_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_INCLUSIVE, COLUMN_INCLUSIVE);
}

struct cell cells_shallow_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_SHALLOW, COLUMN_SHALLOW);
}

struct cell cells_deep_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_DEEP, COLUMN_DEEP);
}

struct cell cells_in_or_under_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_IN_OR_UNDER, COLUMN_IN_OR_UNDER);
}

struct cell cells_in_only_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_IN_ONLY, COLUMN_IN_ONLY);
}

/* The weight attributed to a centre itself is its exclusive weight. */
struct cell cells_attributed_change(const struct report *report, size_t row)
{
	bool is_line = callers_rows_line(report, row) != NULL;

	return change_of(
		report, row, COLUMN_ATTRIBUTED, is_line ? COLUMN_ATTRIBUTED : COLUMN_EXCLUSIVE);
}

struct cell cells_self_and_children_change(const struct report *report, size_t row)
{
	return change_of(report, row, COLUMN_SELF_AND_CHILDREN, COLUMN_SELF_AND_CHILDREN);
}

struct cell cells_significant(const struct report *report, size_t row)
{
	if (report->marks == NULL)
		return (struct cell){.is_null = true};
	return (struct cell){.flag = report->marks[row]};
}
