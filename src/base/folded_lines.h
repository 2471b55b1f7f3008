#ifndef SONDE_BASE_FOLDED_LINES_H
#define SONDE_BASE_FOLDED_LINES_H

/*
 * Folded stacks, "main;work 12", identified by their text: stacks with the same text are one line.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/child_table.h"
#include "base/map.h"
#include "base/sink.h"
#include "base/str.h"
#include "base/vec.h"

struct folded_lines {
	struct arena *arena;
	struct str_table texts;	   /* of frames, as escape_folded makes them */
	struct child_table stacks; /* by text; 0: the empty stack */
	VEC(int64_t) weights;	   /* [stack] */
	VEC(uint32_t) path;	   /* the texts of one stack, leaf first */
};

void folded_lines_init(struct folded_lines *l);
void folded_lines_deinit(struct folded_lines *l);
/* Returns the number of a frame's text, which is copied. */
uint32_t folded_lines_text(struct folded_lines *l, struct str text);
/* Returns the stack of that frame called from `parent`, which is another stack or 0. */
uint32_t folded_lines_stack(struct folded_lines *l, uint32_t parent, uint32_t text);
void folded_lines_add(struct folded_lines *l, uint32_t stack, int64_t weight);
/*
 * Writes the lines with nonzero weight, in the order in which their stacks were first seen, so that
 * readers restore that order.  The empty stack is "[unknown]".  Stops early if the sink fails.
 */
void folded_lines_write(struct folded_lines *l, struct sink *sink);

#endif
