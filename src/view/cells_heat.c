/*
 * Cells of the heat map: a slice of time, and its weight.
 */
#include "view/cells.h"

#include "analysis/heat.h"

struct cell cells_start(const struct report *report, size_t row)
{
	const struct heat *heat = report->heat;

	return (struct cell){.number = heat->begin_ns + row * heat->slice_ns};
}

struct cell cells_end_time(const struct report *report, size_t row)
{
	return cells_start(report, row + 1);
}

struct cell cells_weight(const struct report *report, size_t row)
{
	return (struct cell){.weight = report->heat->weight[row],
		.base = report->selection->total[report->query.metric.i]};
}
