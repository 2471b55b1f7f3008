/*
 * Cells of the call graph: of entries, and of the lines in them.
 */
#include "view/cells.h"

#include "view/callers_rows.h"
#include "view/graph_rows.h"

static struct cell cell_calls(struct callgraph_calls calls)
{
	return (struct cell){.is_null = !calls.is_known, .number = calls.count};
}

struct cell cells_entry(const struct report *report, size_t row)
{
	size_t index =
		report->callers ? report->callers_rows->entry[row] : graph_row(report, row).index;

	return (struct cell){.number = index + 1};
}

struct cell cells_entry_number(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return (struct cell){
		.is_null = r.line != NULL, .is_reference = true, .number = r.index + 1};
}

struct cell cells_index(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	if (r.line == NULL)
		return (struct cell){.number = r.index + 1};
	return (struct cell){
		.is_null = r.line->entry == NO_ID, .number = (uint64_t)r.line->entry + 1};
}

struct cell cells_graph_kind(const struct report *report, size_t row)
{
	bool is_cycle = graph_row(report, row).entry->entity == NO_ID;

	if (graph_row(report, row).line)
		return (struct cell){.is_null = true};
	return (struct cell){.text = is_cycle ? STR("cycle") : STR("function")};
}

struct cell cells_cycle(const struct report *report, size_t row)
{
	return (struct cell){.number = graph_row_cycle(report, row)};
}

struct cell cells_graph_percent(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	/* A change is not a part of anything. */
	return (struct cell){.is_null = r.line || (report->query.difference && report->others),
		.weight = r.entry->self + r.entry->children,
		.base = report->callgraph->total};
}

static struct cell cell_times(
	const struct report *report, const struct graph_row *r, int64_t weight)
{
	return (struct cell){.is_null = r->line && !r->line->has_times,
		.weight = weight,
		.base = report->callgraph->total};
}

struct cell cells_self(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return cell_times(report, &r, r.line ? r.line->self : r.entry->self);
}

struct cell cells_children(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return cell_times(report, &r, r.line ? r.line->children : r.entry->children);
}

struct cell cells_self_and_children(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return cell_times(report, &r,
		r.line ? r.line->self + r.line->children : r.entry->self + r.entry->children);
}

struct cell cells_called(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);
	struct cell cell = cell_calls(r.line ? r.line->calls : r.entry->outside);

	if (r.line == NULL) {
		cell.calls = CALLS_INSIDE;
		cell.more_calls = r.entry->inside.count;
	} else if (r.line->of.is_known) {
		cell.calls = CALLS_OF;
		cell.more_calls = r.line->of.count;
	}
	return cell;
}

struct cell cells_calls(const struct report *report, size_t row)
{
	if (report->functions)
		return cells_function_calls(report, row);
	struct graph_row r = graph_row(report, row);

	return r.line ? cell_calls(r.line->calls) : (struct cell){.is_null = true};
}

struct cell cells_of(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	return r.line ? cell_calls(r.line->of) : (struct cell){.is_null = true};
}
