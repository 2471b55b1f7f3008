/*
 * Entries of several rows.  An entry's rows are adjacent in a report, its own first.
 */
#include "view/text/entries.h"

#include "base/alloc.h"
#include "view/views.h"

static size_t part_at(const struct report *report, size_t place)
{
	return report->query.view->part(report, report_row(report, place));
}

uint32_t *entries_rows(const struct report *report)
{
	uint32_t *rows = xcalloc(report->count + 1, sizeof(*rows));

	for (size_t own = 0, end; own < report->count; own = end) {
		size_t callers_end = own + 1;

		while (callers_end < report->count && part_at(report, callers_end) == 1)
			callers_end++;
		for (end = callers_end; end < report->count && part_at(report, end) != 0;)
			end++;
		for (size_t i = own + 1; i < callers_end; i++)
			rows[own + callers_end - 1 - i] = (uint32_t)report_row(report, i);
		rows[callers_end - 1] = (uint32_t)report_row(report, own);
		for (size_t i = callers_end; i < end; i++)
			rows[i] = (uint32_t)report_row(report, i);
	}
	return rows;
}
