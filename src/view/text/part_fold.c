/*
 * Folds the small lines of entries: a function that calls dozens of others has mostly lines of
 * almost no weight, which separate it from the next entry.  They are drawn as one line with their
 * sum, so that a part still adds up; data formats have them all.
 */
#include "view/text/part_fold.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "view/text/entries.h"
#include "view/text/table.h"
#include "view/views.h"

/* Parts with more than LINES_MAX lines show LINES_SHOWN, so that the rest is worth its own line. */
#define LINES_MAX   20u
#define LINES_SHOWN 15u
/* More empty lines than this are not drawn. */
#define EMPTY_MAX 3u

/* Part 0 is the entry's own row, part 1 its callers, which are drawn from last to first. */
static size_t part_at(const struct part_fold *fold, size_t place)
{
	return fold->drawn.query.view->part(&fold->drawn, fold->rows[place]);
}

/* The place after the last row of the same part as the row at that place. */
static size_t part_end(const struct part_fold *fold, size_t place)
{
	size_t part = part_at(fold, place), end = place + 1;

	while (part != 0 && end < fold->drawn.count && part_at(fold, end) == part)
		end++;
	return end;
}

static bool line_is_empty(const struct part_fold *fold, size_t place)
{
	return fold->is_empty && fold->is_empty(&fold->drawn, fold->rows[place]);
}

static struct part_rest rest_of(const struct part_fold *fold, size_t begin, size_t end)
{
	struct part_rest rest = {.count = (uint32_t)(end - begin)};

	for (size_t place = begin; place < end; place++) {
		rest.weight += fold->weight(&fold->drawn, fold->rows[place]);
		rest.empty += line_is_empty(fold, place);
	}
	return rest;
}

/* How many of the part's lines are drawn. */
static size_t lines_shown(const struct part_fold *fold, size_t begin, size_t end)
{
	size_t count = end - begin, empty = 0;

	for (size_t place = begin; place < end; place++)
		empty += line_is_empty(fold, place);
	if (empty > EMPTY_MAX)
		count -= empty;
	if (count > LINES_MAX)
		return LINES_SHOWN;
	/* The rest is drawn next to a line of its part. */
	return count ? count : 1;
}

/* Moves the part's rows that are drawn to the place `kept`; returns the place after them. */
static size_t fold_part(struct part_fold *fold, size_t begin, size_t end, size_t kept)
{
	bool is_upwards = part_at(fold, begin) == 1;
	size_t shown = part_at(fold, begin) == 0 ? 1 : lines_shown(fold, begin, end);
	size_t rest = end - begin - shown;
	size_t first = is_upwards ? begin + rest : begin;

	if (rest)
		fold->rests[is_upwards ? kept : kept + shown - 1] =
			is_upwards ? rest_of(fold, begin, first)
				   : rest_of(fold, begin + shown, end);
	fold->left_out += rest;
	for (size_t i = 0; i < shown; i++)
		fold->rows[kept + i] = fold->rows[first + i];
	return kept + shown;
}

void part_fold_init(struct part_fold *fold, const struct report *report,
	part_fold_weight_fn *weight, part_fold_is_empty_fn *is_empty)
{
	size_t kept = 0;

	*fold = (struct part_fold){.drawn = *report,
		.rows = entries_rows(report),
		.rests = xcalloc(report->count + 1, sizeof(*fold->rests)),
		.weight = weight,
		.is_empty = is_empty};
	fold->drawn.rows = fold->rows;
	if (report->query.limit == 0 || report->query.difference)
		return;
	for (size_t place = 0, end; place < report->count; place = end) {
		end = part_end(fold, place);
		kept = fold_part(fold, place, end, kept);
	}
	fold->drawn.count = kept;
}

void part_fold_deinit(struct part_fold *fold)
{
	free(fold->rows);
	free(fold->rests);
}

bool part_fold_put(const struct part_fold *fold, size_t place, struct strbuf *out)
{
	const struct report *report = &fold->drawn;
	struct part_rest rest = fold->rests[place];

	if (rest.count == 0)
		return false;
	size_t part = part_at(fold, place);
	strbuf_printf(out, "    and %" PRIu32 " more %s", rest.count,
		report->query.view->parts[part].key);
	/* With several metrics there would be several weights. */
	if (rest.weight && report->query.other_count == 0) {
		strbuf_add(out, STR(", "));
		scale_put(out, report_scale(report), rest.weight);
	}
	return part == 1;
}
