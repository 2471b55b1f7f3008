/*
 * Cells of the zones view: entries, recursion, and figures of ticks.
 */
#include "view/cells.h"

#include "analysis/zones.h"

static const struct zone_row *zone_row(const struct report *report, size_t row)
{
	return &report->zones->rows[row];
}

static bool has_ticks(const struct report *report)
{
	return report->zones->tick_count > 0;
}

/* The sum of all ticks over each of them, to the nearest whole. */
static struct cell cell_per_tick(const struct report *report, int64_t sum)
{
	int64_t count = (int64_t)report->zones->tick_count;

	if (count == 0)
		return (struct cell){.is_null = true};
	return (struct cell){.weight = sum / count + (sum % count >= count - sum % count)};
}

static struct cell cell_of_ticks(const struct report *report, int64_t weight)
{
	return (struct cell){.is_null = !has_ticks(report), .weight = weight};
}

struct cell cells_entries(const struct report *report, size_t row)
{
	return (struct cell){
		.is_null = !report->zones->knows_entries, .weight = zone_row(report, row)->entries};
}

struct cell cells_zone_depth_max(const struct report *report, size_t row)
{
	return (struct cell){.number = zone_row(report, row)->depth_max};
}

struct cell cells_ticks(const struct report *report, size_t row)
{
	return cell_of_ticks(report, (int64_t)zone_row(report, row)->ticks);
}

struct cell cells_exclusive_per_tick(const struct report *report, size_t row)
{
	return cell_per_tick(report, zone_row(report, row)->exclusive);
}

struct cell cells_inclusive_per_tick(const struct report *report, size_t row)
{
	return cell_per_tick(report, zone_row(report, row)->inclusive);
}

struct cell cells_entries_per_tick(const struct report *report, size_t row)
{
	const struct zones *zones = report->zones;

	if (!zones->knows_entries || zones->tick_count == 0)
		return (struct cell){.is_null = true};
	return (struct cell){
		.mean = (double)zones->rows[row].entries_in_ticks / (double)zones->tick_count};
}

struct cell cells_slowest_tick(const struct report *report, size_t row)
{
	return cell_known(zone_row(report, row)->slowest);
}

struct cell cells_exclusive_median(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->exclusive_ranks.median);
}

struct cell cells_exclusive_p95(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->exclusive_ranks.p95);
}

struct cell cells_exclusive_max(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->exclusive_ranks.max);
}

struct cell cells_inclusive_median(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->inclusive_ranks.median);
}

struct cell cells_inclusive_p95(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->inclusive_ranks.p95);
}

struct cell cells_inclusive_max(const struct report *report, size_t row)
{
	return cell_of_ticks(report, zone_row(report, row)->inclusive_ranks.max);
}
