#ifndef SONDE_VIEW_TEXT_GRAPH_INDEX_H
#define SONDE_VIEW_TEXT_GRAPH_INDEX_H

#include "view/text/text.h"

/* The shown entries of the graph view by name, with their numbers, in as many columns as fit. */
void graph_index_draw(struct text *text, const struct report *report);

#endif
