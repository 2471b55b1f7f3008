#ifndef SONDE_FORMATS_SONDE_CAPTURE_TREE_H
#define SONDE_FORMATS_SONDE_CAPTURE_TREE_H

/*
 * The stack tree of a capture file on its way into a builder.  Chunks may be missing, so ids that a
 * later chunk refers to may never have been defined: what hangs below such a node is rooted at
 * "[truncated]".
 *
 * A file names each pair of node and address once.  Where addresses have a frame each, all
 * different, its nodes are the profile's stacks, and become these in place; where only some have,
 * a stack is looked up where there may be another node for it, and made without where there is
 * none.
 */

#include "base/child_table.h"
#include "formats/sonde/capture_names.h"
#include "formats/sonde/capture_nodes.h"

/* Dense ids with holes where chunks are missing: id → place in an array without holes. */
struct capture_id_run {
	uint32_t first, count;
	size_t place;
};
struct capture_id_runs {
	VEC(struct capture_id_run) runs; /* ascending, disjoint */
};

enum capture_stack_flag {
	CAPTURE_STACK_TRUNCATED = 1, /* not walked to its root */
	CAPTURE_STACK_ORPHAN = 2,    /* its root was in a part of the file that is missing */
	CAPTURE_STACK_FOREIGN = 4,   /* its leaf has no name */
	CAPTURE_STACK_GUESSED = 8,   /* some of its callers are a guess */
	/* Other nodes may stand for the same stack: some frame above is that of several addresses.
	 */
	CAPTURE_STACK_SHARED = 16,
	CAPTURE_STACK_NOT_WHOLE = CAPTURE_STACK_TRUNCATED | CAPTURE_STACK_GUESSED,
};

struct capture_tree {
	struct builder *builder;
	struct capture_stacks chunk; /* scratch */
	VEC(struct capture_frame) frames;
	/* [place] Place 0 is the empty stack; frames are the file's until the tree is built. */
	VEC(frame_id) nodes;
	struct run_list parents; /* by place, but a run's parent is an id */
	struct capture_id_runs frame_runs, node_runs;
	size_t count;	  /* of places, once the tree is built */
	stack_id *stacks; /* [place], once built; NULL: each is the stack of its own number */
	uint8_t *flags;	  /* the same; NULL: none */
	struct capture_names *names;
	uint64_t stacks_left; /* how many the builder may get; a byte can stand for hundreds */
	uint64_t left_out;    /* inlined frames, for want of that */
};

void capture_tree_init(struct capture_tree *t, struct builder *b);
void capture_tree_deinit(struct capture_tree *t);
/* A STACKS chunk. */
must_use struct error *capture_tree_read_stacks(struct capture_tree *t, struct cursor *payload);
/*
 * Takes frames and the tree above them from elsewhere, in place of chunks: node i, from 1, has
 * parent and frame, a place in frames, in nodes[i].  nodes[0] is the root's.
 */
void capture_tree_fill(struct capture_tree *t, const struct capture_frame *frames,
	size_t frame_count, const struct child_table *nodes);
/* When all chunks are read: names the frames and gives the builder all stacks. */
void capture_tree_build(struct capture_tree *t, struct capture_names *names, bool ask_local);
/* The stack of a node. */
stack_id capture_tree_stack(struct capture_tree *t, uint32_t node, uint8_t *flags);
/* The same of many. */
void capture_tree_stacks(struct capture_tree *t, const uint32_t *nodes, size_t count,
	stack_id *stacks, uint8_t *flags);
/* Hands over the stacks of all nodes, once built; false if some of these are missing. */
bool capture_tree_take(const struct capture_tree *t, struct capture_nodes *nodes);

#endif
