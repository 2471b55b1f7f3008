/*
 * Rows of the graph view.  An entry's own row comes before its lines, so entry i begins at its
 * first line's number plus the number of entries before it.
 */
#include "view/graph_rows.h"

#include "base/search.h"

static size_t entry_row(const struct callgraph *graph, size_t index)
{
	return index + graph->entries[index].parts[CALLGRAPH_CALLERS].first;
}

/* The last entry that begins at or before the row. */
static size_t find_entry(const struct callgraph *graph, size_t row)
{
	return partition_point(i, 1, graph->shown_count, entry_row(graph, i) <= row) - 1;
}

struct graph_row graph_row(const struct report *report, size_t row)
{
	const struct callgraph *graph = report->callgraph;
	size_t index = find_entry(graph, row);
	struct graph_row r = {.entry = &graph->entries[index], .index = index};
	size_t line = row - index - 1;

	if (row == entry_row(graph, index))
		return r;
	r.line = &graph->lines[line];
	while (line >= r.entry->parts[r.part].end)
		r.part++;
	return r;
}

uint32_t graph_row_cycle(const struct report *report, size_t row)
{
	struct graph_row r = graph_row(report, row);

	if (r.line == NULL)
		return r.entry->cycle;
	return r.line->entry == NO_ID ? 0 : report->callgraph->entries[r.line->entry].cycle;
}
