/*
 * Folds the call graph's small lines: a function that calls dozens of others has mostly lines of
 * almost no weight, which in gprof's layout separate it from the next entry.  They are drawn as one
 * line with their sum, so that a part still adds up; data formats have them all.
 */
#include "view/text/graph_fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "view/graph_rows.h"
#include "view/text/entries.h"
#include "view/text/units.h"

/* Parts with more than LINES_MAX lines show LINES_SHOWN, so that the rest is worth its own line. */
#define LINES_MAX   20u
#define LINES_SHOWN 15u

static struct graph_row row_at(const struct graph_fold *fold, size_t place)
{
	return graph_row(&fold->drawn, fold->rows[place]);
}

/* The place after the last row of the same part as the row at that place. */
static size_t part_end(const struct graph_fold *fold, size_t place)
{
	struct graph_row first = row_at(fold, place);
	size_t end = place + 1;

	for (; first.line && end < fold->drawn.count; end++) {
		struct graph_row r = row_at(fold, end);

		if (r.line == NULL || r.index != first.index || r.part != first.part)
			break;
	}
	return end;
}

static struct graph_rest rest_of(const struct graph_fold *fold, size_t begin, size_t end)
{
	struct graph_rest rest = {.count = (uint32_t)(end - begin)};

	for (size_t place = begin; place < end; place++) {
		const struct callgraph_line *line = row_at(fold, place).line;

		rest.weight += line->has_times ? line->self + line->children : 0;
	}
	return rest;
}

/* Moves the part's rows that are drawn to the place `kept`; returns the place after them. */
static size_t fold_part(struct graph_fold *fold, size_t begin, size_t end, size_t kept)
{
	bool is_upwards = row_at(fold, begin).part == CALLGRAPH_CALLERS;
	size_t shown = end - begin > LINES_MAX ? LINES_SHOWN : end - begin;
	size_t rest = end - begin - shown;
	size_t first = is_upwards ? begin + rest : begin;

	if (rest)
		fold->rests[is_upwards ? kept : kept + shown - 1] =
			is_upwards ? rest_of(fold, begin, first)
				   : rest_of(fold, begin + shown, end);
	for (size_t i = 0; i < shown; i++)
		fold->rows[kept + i] = fold->rows[first + i];
	return kept + shown;
}

void graph_fold_init(struct graph_fold *fold, const struct report *report)
{
	size_t kept = 0;

	*fold = (struct graph_fold){.drawn = *report,
		.rows = entries_rows(report),
		.rests = xcalloc(report->count + 1, sizeof(*fold->rests))};
	fold->drawn.rows = fold->rows;
	if (report->query.limit == 0 || report->query.difference)
		return;
	for (size_t place = 0, end; place < report->count; place = end) {
		end = part_end(fold, place);
		kept = fold_part(fold, place, end, kept);
	}
	fold->drawn.count = kept;
}

void graph_fold_deinit(struct graph_fold *fold)
{
	free(fold->rows);
	free(fold->rests);
}

bool graph_fold_put(const struct graph_fold *fold, size_t place, struct strbuf *out)
{
	static const char *const names[] = {"callers", "members", "callees"};
	const struct report *report = &fold->drawn;
	struct graph_rest rest = fold->rests[place];
	int64_t total = report->callgraph->total;
	struct str unit = profile_string(report->profile, report_metric(report).unit);

	if (rest.count == 0)
		return false;
	strbuf_printf(
		out, "    and %" PRIu32 " more %s", rest.count, names[row_at(fold, place).part]);
	/* With several metrics there would be several weights. */
	if (rest.weight && report->query.other_count == 0) {
		strbuf_add(out, STR(", "));
		scale_put(out, scale_for(unit, (uint64_t)llabs(total)), rest.weight);
	}
	return row_at(fold, place).part == CALLGRAPH_CALLERS;
}
