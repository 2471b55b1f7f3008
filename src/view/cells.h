#ifndef SONDE_VIEW_CELLS_H
#define SONDE_VIEW_CELLS_H

/*
 * Cells of the column registry (columns.c): how a figure of an analysis result becomes a cell.
 * They look things up and compute nothing, except the sum of a tree node's direct and indirect
 * visits, which is the definition of "in or under".
 *
 * row: of the report's analysis result, not of the shown selection.
 */

#include "view/columns.h"
#include "view/report.h"

/* Text, null where it is not known. */
static inline struct cell cell_str(struct str text)
{
	return (struct cell){.is_null = text.data == NULL, .text = text};
}

/* A number, null where it is UINT64_MAX. */
static inline struct cell cell_known(uint64_t number)
{
	return (struct cell){.is_null = number == UINT64_MAX, .number = number};
}

/* cells_entity.c: of every view whose rows are entities. */
struct cell cells_name(const struct report *report, size_t row);
struct cell cells_module(const struct report *report, size_t row);
struct cell cells_file(const struct report *report, size_t row);
struct cell cells_line(const struct report *report, size_t row);
struct cell cells_address(const struct report *report, size_t row);
/* Null for rows that stand for no entity of a stack: <Total>, cycles. */
struct cell cells_id(const struct report *report, size_t row);
/* Of views whose entries have several rows: the key of the row's part, or "own". */
struct cell cells_part(const struct report *report, size_t row);

/* cells_callers.c */
struct cell cells_attributed(const struct report *report, size_t row);
struct cell cells_is_recursive(const struct report *report, size_t row);

/* cells_functions.c: of the views callers and functions. */
struct cell cells_exclusive(const struct report *report, size_t row);
struct cell cells_inclusive(const struct report *report, size_t row);
struct cell cells_function_calls(const struct report *report, size_t row);

/* cells_difference.c */
struct cell cells_exclusive_change(const struct report *report, size_t row);
struct cell cells_inclusive_change(const struct report *report, size_t row);
struct cell cells_shallow_change(const struct report *report, size_t row);
struct cell cells_deep_change(const struct report *report, size_t row);
struct cell cells_in_or_under_change(const struct report *report, size_t row);
struct cell cells_in_only_change(const struct report *report, size_t row);
struct cell cells_attributed_change(const struct report *report, size_t row);
struct cell cells_self_and_children_change(const struct report *report, size_t row);
struct cell cells_significant(const struct report *report, size_t row);

/* cells_margins.c */
struct cell cells_exclusive_margin(const struct report *report, size_t row);
struct cell cells_inclusive_margin(const struct report *report, size_t row);
struct cell cells_attributed_margin(const struct report *report, size_t row);
struct cell cells_shallow_margin(const struct report *report, size_t row);
struct cell cells_deep_margin(const struct report *report, size_t row);
struct cell cells_in_or_under_margin(const struct report *report, size_t row);
struct cell cells_in_only_margin(const struct report *report, size_t row);
struct cell cells_self_margin(const struct report *report, size_t row);
struct cell cells_children_margin(const struct report *report, size_t row);
struct cell cells_self_and_children_margin(const struct report *report, size_t row);
struct cell cells_listing_exclusive_margin(const struct report *report, size_t row);
struct cell cells_listing_inclusive_margin(const struct report *report, size_t row);

/* cells_tree.c */
struct cell cells_level(const struct report *report, size_t row);
struct cell cells_kind(const struct report *report, size_t row);
struct cell cells_target(const struct report *report, size_t row);
struct cell cells_direct(const struct report *report, size_t row);
struct cell cells_indirect(const struct report *report, size_t row);
struct cell cells_stub_weight(const struct report *report, size_t row);
struct cell cells_depth_max(const struct report *report, size_t row);
struct cell cells_depth_mean(const struct report *report, size_t row);
struct cell cells_in_or_under(const struct report *report, size_t row);
struct cell cells_in_only(const struct report *report, size_t row);

/* cells_graph.c: of entries' own rows and of lines. */
struct cell cells_entry(const struct report *report, size_t row);
struct cell cells_entry_number(const struct report *report, size_t row);
struct cell cells_index(const struct report *report, size_t row);
struct cell cells_graph_kind(const struct report *report, size_t row);
struct cell cells_cycle(const struct report *report, size_t row);
struct cell cells_graph_percent(const struct report *report, size_t row);
struct cell cells_self(const struct report *report, size_t row);
struct cell cells_children(const struct report *report, size_t row);
struct cell cells_self_and_children(const struct report *report, size_t row);
struct cell cells_called(const struct report *report, size_t row);
struct cell cells_calls(const struct report *report, size_t row);
struct cell cells_of(const struct report *report, size_t row);

/* cells_stats.c: its one row. */
struct cell cells_counted(const struct report *report, size_t row);
struct cell cells_expected(const struct report *report, size_t row);
struct cell cells_lost(const struct report *report, size_t row);
struct cell cells_foreign(const struct report *report, size_t row);
struct cell cells_critical(const struct report *report, size_t row);
struct cell cells_guessed(const struct report *report, size_t row);
struct cell cells_excluded(const struct report *report, size_t row);
struct cell cells_duration(const struct report *report, size_t row);
struct cell cells_cpu(const struct report *report, size_t row);
struct cell cells_interval(const struct report *report, size_t row);
struct cell cells_interval_asked(const struct report *report, size_t row);
struct cell cells_fit(const struct report *report, size_t row);
struct cell cells_stacks(const struct report *report, size_t row);
struct cell cells_functions(const struct report *report, size_t row);
struct cell cells_stack_depth_max(const struct report *report, size_t row);
struct cell cells_stack_depth_mean(const struct report *report, size_t row);
struct cell cells_recursive(const struct report *report, size_t row);
struct cell cells_metric_total(const struct report *report, size_t row);
struct cell cells_metric_samples(const struct report *report, size_t row);

/* cells_listing.c: of the annotate view. */
struct cell cells_listing_kind(const struct report *report, size_t row);
struct cell cells_listing_function(const struct report *report, size_t row);
struct cell cells_listing_file(const struct report *report, size_t row);
struct cell cells_listing_line(const struct report *report, size_t row);
struct cell cells_listing_depth(const struct report *report, size_t row);
struct cell cells_listing_address(const struct report *report, size_t row);
struct cell cells_listing_text(const struct report *report, size_t row);
struct cell cells_listing_exclusive(const struct report *report, size_t row);
struct cell cells_listing_inclusive(const struct report *report, size_t row);

/* cells_heat.c */
struct cell cells_start(const struct report *report, size_t row);
struct cell cells_end_time(const struct report *report, size_t row);
struct cell cells_weight(const struct report *report, size_t row);

/* cells_zones.c */
struct cell cells_entries(const struct report *report, size_t row);
struct cell cells_zone_depth_max(const struct report *report, size_t row);
struct cell cells_ticks(const struct report *report, size_t row);
struct cell cells_exclusive_per_tick(const struct report *report, size_t row);
struct cell cells_inclusive_per_tick(const struct report *report, size_t row);
struct cell cells_entries_per_tick(const struct report *report, size_t row);
struct cell cells_slowest_tick(const struct report *report, size_t row);
struct cell cells_exclusive_median(const struct report *report, size_t row);
struct cell cells_exclusive_p95(const struct report *report, size_t row);
struct cell cells_exclusive_max(const struct report *report, size_t row);
struct cell cells_inclusive_median(const struct report *report, size_t row);
struct cell cells_inclusive_p95(const struct report *report, size_t row);
struct cell cells_inclusive_max(const struct report *report, size_t row);

#endif
