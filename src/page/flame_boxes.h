#ifndef SONDE_PAGE_FLAME_BOXES_H
#define SONDE_PAGE_FLAME_BOXES_H

/* Boxes of a flame graph as columns of a reply: what the page draws (ui/flame.tsx). */

#include "analysis/flame.h"
#include "page/reply.h"
#include "view/report.h"
#include "view/svg/colours.h"

struct flame_boxes {
	const struct report *report;
	uint32_t *depth, *name, *jump; /* NO_ID: the box of all stacks; no recursion goes on */
	double *start, *width, *own;
	size_t count;
	/* The entities that have boxes, in the order of their numbers, "name". */
	uint32_t *used, used_count;
	uint32_t *number; /* [entity]: 1 + its number; 0: it has none */
	uint32_t *box_of; /* [row]: its box, or NO_ID */
};

/* For at most so many boxes of the report's tree; everything lives in the arena. */
void flame_boxes_init(
	struct flame_boxes *b, const struct report *report, size_t most, struct arena *arena);
/* own: what was spent in the box alone.  Returns the box's place in the columns. */
size_t flame_boxes_add(struct flame_boxes *b, const struct flame_box *box, double own);
/*
 * Once all are added: the member "names", [name, load object, colour] each, and the columns.
 * colours NULL: the colours are 0.
 */
void flame_boxes_put(struct flame_boxes *b, const struct svg_colours *colours, struct reply *reply);

#endif
