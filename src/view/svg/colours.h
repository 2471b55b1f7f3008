#ifndef SONDE_VIEW_SVG_COLOURS_H
#define SONDE_VIEW_SVG_COLOURS_H

/*
 * Colours of a flame graph's boxes: quiet, distinct also to people who see red and green alike, and
 * readable under black text.
 */

#include "analysis/flame.h"
#include "base/map.h"

struct svg_colours {
	struct map modules; /* by hash: an index of the palette */
	bool by_function;   /* there are no load objects to distinguish */
};

/*
 * A load object's colour depends on its name, as far as the heaviest ones then have different
 * colours; functions of one load object are lighter or darker by their names.
 */
void svg_colours_init(struct svg_colours *c, const struct calltree *tree,
	const struct entity_tree *entities, const struct flame *flame);
void svg_colours_deinit(struct svg_colours *c);
/* As 0xrrggbb; entity NULL: all stacks. */
uint32_t svg_colour(const struct svg_colours *c, const struct entity *entity);
/* For a difference: pale means no change, full orange or blue is the whole of `now`. */
uint32_t svg_colour_of_change(int64_t change, uint64_t now);

#endif
