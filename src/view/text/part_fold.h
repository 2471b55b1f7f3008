#ifndef SONDE_VIEW_TEXT_PART_FOLD_H
#define SONDE_VIEW_TEXT_PART_FOLD_H

/*
 * Long parts of entries (struct view's parts) as text: the heaviest lines, and the others as one.
 */

#include "base/str.h"
#include "view/report.h"

/* What a line counts in the sum of those that are not drawn. */
typedef int64_t part_fold_weight_fn(const struct report *report, size_t row);
/* Whether a line has no weight by definition, so that many of them say little. */
typedef bool part_fold_is_empty_fn(const struct report *report, size_t row);

/* Lines that are not drawn. */
struct part_rest {
	uint32_t count;
	uint32_t empty; /* of those */
	int64_t weight;
};

struct part_fold {
	struct report drawn; /* the rows that are drawn, in the order of entries_rows() */
	uint32_t *rows;
	struct part_rest *rests; /* [place] what is left out next to that row (callers: above) */
	size_t left_out;	 /* lines, in all parts */
	part_fold_weight_fn *weight;
	part_fold_is_empty_fn *is_empty;
};

/*
 * Selects the first lines of each long part; all lines for differences, and if everything is
 * requested.  is_empty: NULL if no line is; empty lines must be the last of their part.
 * part_fold_deinit() frees what it holds; the report must outlive it.
 */
void part_fold_init(struct part_fold *fold, const struct report *report,
	part_fold_weight_fn *weight, part_fold_is_empty_fn *is_empty);
void part_fold_deinit(struct part_fold *fold);
/* Adds "and 12 more callees, 3.400 ms", or nothing; returns whether it goes above the row. */
bool part_fold_put(const struct part_fold *fold, size_t place, struct strbuf *out);

#endif
