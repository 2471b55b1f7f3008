#ifndef SONDE_FORMATS_SONDE_CAPTURE_TREE_H
#define SONDE_FORMATS_SONDE_CAPTURE_TREE_H

/*
 * Adds the stack tree of a capture file to a builder.  Chunks may be missing, so later ones may
 * refer to undefined ids.  Stacks below an undefined node are rooted at "[truncated]".
 *
 * A file has each pair of node and address once.  If each address has one frame, and all are
 * different, nodes are the profile's stacks, and become these in place.  Otherwise, a stack is
 * looked up if another node may have the same one, and added without a look-up if not.
 */

#include "base/child_table.h"
#include "formats/sonde/capture_names.h"
#include "formats/sonde/capture_nodes.h"
#include "formats/sonde/capture_tails.h"
#include "formats/sonde/layout/capture_chunk.h"

/* Dense ids, with holes where chunks are missing: id → index in an array without holes. */
struct capture_id_run {
	uint32_t first, count;
	size_t place;
};
struct capture_id_runs {
	VEC(struct capture_id_run) runs; /* ascending, disjoint */
};

enum capture_stack_flag {
	CAPTURE_STACK_TRUNCATED = 1, /* not walked to its root */
	CAPTURE_STACK_ORPHAN = 2,    /* its root was in a missing part of the file */
	CAPTURE_STACK_FOREIGN = 4,   /* its leaf has no name */
	CAPTURE_STACK_GUESSED = 8,   /* some of its callers are guessed */
	/* Other nodes may have the same stack: some frame in it belongs to several addresses. */
	CAPTURE_STACK_SHARED = 16,
	CAPTURE_STACK_RESTORED = 32, /* some of its callers had left no frame */
	CAPTURE_STACK_NOT_WHOLE = CAPTURE_STACK_TRUNCATED | CAPTURE_STACK_GUESSED,
};

struct capture_tree {
	struct builder *builder;
	VEC(struct capture_frame) frames;
	/* [place] Place 0 is the empty stack; frames are the file's until the tree is built. */
	VEC(frame_id) nodes;
	struct run_list parents; /* by place, but a run's parent is an id */
	struct capture_id_runs frame_runs, node_runs;
	size_t count;	  /* of nodes, once the tree is built */
	stack_id *stacks; /* [index], once built; NULL: the stack's number is the index */
	uint8_t *flags;	  /* [index]; NULL: none */
	struct capture_names *names;
	const struct capture_tails *tails; /* set before it is built; NULL: none */
	struct tail_places *tail_places;   /* while it is built */
	uint64_t stacks_left; /* how many the builder may add; a byte can stand for hundreds */
	uint64_t left_out;    /* inlined and restored frames omitted because of that */
};

void capture_tree_init(struct capture_tree *t, struct builder *b);
void capture_tree_deinit(struct capture_tree *t);
/*
 * Adds the STACKS chunks among chunks[count], in order; others are skipped.  Returns how many could
 * not be read; *first_bad is then the offset of the first.
 */
uint64_t capture_tree_read(struct capture_tree *t, const struct capture_chunk *chunks, size_t count,
	size_t threads, uint64_t *first_bad);
/*
 * Sets frames and tree from memory instead of chunks: for node i, from 1, nodes[i] has the parent
 * and the frame, an index in frames.  nodes[0] is the root.
 */
void capture_tree_fill(struct capture_tree *t, const struct capture_frame *frames,
	size_t frame_count, const struct child_table *nodes);
/* After reading all chunks: names the frames and adds all stacks to the builder. */
void capture_tree_build(struct capture_tree *t, struct capture_names *names, bool ask_local);
/* The stack of a node. */
stack_id capture_tree_stack(struct capture_tree *t, uint32_t node, uint8_t *flags);
/* The same for many nodes. */
void capture_tree_stacks(struct capture_tree *t, const uint32_t *nodes, size_t count,
	stack_id *stacks, uint8_t *flags);
/* Transfers the stacks of all nodes, once built; false if some are missing. */
bool capture_tree_take(const struct capture_tree *t, struct capture_nodes *nodes);

#endif
