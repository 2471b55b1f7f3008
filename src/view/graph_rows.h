#ifndef SONDE_VIEW_GRAPH_ROWS_H
#define SONDE_VIEW_GRAPH_ROWS_H

/* What a row of the graph view's report is: an entry's own, or one of its lines. */

#include "view/report.h"

struct graph_row {
	const struct callgraph_entry *entry; /* the entry that contains it */
	size_t index;			     /* the entry's index */
	const struct callgraph_line *line;   /* NULL: the entry's own row */
	enum callgraph_part part;	     /* of a line */
};

struct graph_row graph_row(const struct report *report, size_t row);
/* The cycle of the entity that the row is about: from 1; 0: none. */
uint32_t graph_row_cycle(const struct report *report, size_t row);

#endif
