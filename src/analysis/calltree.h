#ifndef SONDE_ANALYSIS_CALLTREE_H
#define SONDE_ANALYSIS_CALLTREE_H

/*
 * Puma's call tree with recursion collapsed (semantics.md section 2): stacks are played into a tree;
 * a frame that recurs becomes a stub that points at the node where it stood before, and the play
 * goes on from there.
 */

#include "analysis/entity_tree.h"

enum collapse {
	COLLAPSE_NONE,
	COLLAPSE_DIRECT,
	COLLAPSE_CONSERVATIVE,
	COLLAPSE_FULL,
	COLLAPSE_COUNT
};
/* "none", "direct", "conservative", "full". */
extern const char *const collapse_names[COLLAPSE_COUNT + 1]; /* NULL at the end */

enum calltree_order {
	CALLTREE_BY_WEIGHT, /* direct + indirect descending, ties by name; stubs last */
	CALLTREE_FIRST_SEEN, /* every row, stubs too, where it was first seen */
};

struct calltree_row {
	uint32_t level;	 /* the root's children are 1 */
	uint32_t parent; /* row, or NO_ID at level 1 */
	uint32_t entity;
	bool is_stub;
	uint32_t target; /* a stub's: the row it points at; else NO_ID */
	/* Zero for stubs. */
	int64_t direct;   /* stacks that came here before any jump */
	int64_t indirect; /* stacks that came here first after a jump */
	int64_t in_only;  /* stacks that end here */
};

struct calltree {
	const struct entity_tree *tree;
	enum collapse collapse;
	const struct calltree_row *rows; /* pre-order */
	size_t count; /* nodes of weight zero are left out unless a row below stays */
	uint32_t level_max;
};

struct calltree *calltree_analyse(const struct entity_tree *tree, enum collapse collapse,
	enum calltree_order order, struct arena *arena);

#endif
