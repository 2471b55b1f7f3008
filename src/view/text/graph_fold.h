#ifndef SONDE_VIEW_TEXT_GRAPH_FOLD_H
#define SONDE_VIEW_TEXT_GRAPH_FOLD_H

/* Long parts of the call graph's entries as text: the heaviest lines, the others as one. */

#include "base/str.h"
#include "view/report.h"

/* Lines that are not drawn. */
struct graph_rest {
	uint32_t count;
	int64_t weight; /* self and children together */
};

struct graph_fold {
	struct report drawn; /* the rows that are drawn, in the order of entries_rows() */
	uint32_t *rows;
	struct graph_rest *rests; /* [place] what is left out next to that row (callers: above) */
};

/*
 * Selects the first lines of each long part; all lines for differences, and if everything is
 * requested.  graph_fold_deinit() frees what it holds; the report must outlive it.
 */
void graph_fold_init(struct graph_fold *fold, const struct report *report);
void graph_fold_deinit(struct graph_fold *fold);
/* Adds "and 12 more callees, 3.400 ms", or nothing; returns whether it goes above the row. */
bool graph_fold_put(const struct graph_fold *fold, size_t place, struct strbuf *out);

#endif
