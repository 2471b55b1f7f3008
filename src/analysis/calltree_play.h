#ifndef SONDE_ANALYSIS_CALLTREE_PLAY_H
#define SONDE_ANALYSIS_CALLTREE_PLAY_H

/*
 * The call tree as it is made, before it is laid out in rows: nodes and stubs in the order in which
 * they are made, with their weights.
 */

#include "analysis/calltree.h"
#include "base/child_table.h"

/* A node of the call tree, or a stub.  Its parent and entity are those of children.nodes[number].
 */
struct play_node {
	uint32_t depth;
	uint32_t stub;	      /* a stub's index in play.stubs; else NO_ID */
	uint32_t first_seen;  /* lowest of the entity nodes that arrived here */
	uint32_t fresh_depth; /* of the deepest node on the path whose name is nowhere above it */

	/* While stacks are played. */
	uint32_t pending;	/* first entity node to continue from here; chained by play.next */
	uint32_t pending_child; /* first child with pending entity nodes */
	uint32_t link; /* pending: the next such sibling; entered: the outer node of its entity */
};

struct play_stub {
	uint32_t target; /* node */
};

/* The stacks' figures at a node. */
struct play_figures {
	int64_t direct, indirect, in_only;
	uint32_t reached_end; /* end of the entity subtree that was last counted here */
};

/* The stacks' figures at a stub. */
struct play_jumps {
	uint32_t last_jump; /* the entity node that last arrived; 0: none */
	uint32_t jumps_max;
	int64_t weight;
	__int128 jumps; /* weight × jumps, may exceed 64 bits */
};

/* The figures by one metric. */
struct play_weights {
	const struct entity_tree *tree;
	struct play_figures *nodes;
	struct play_jumps *stubs;
};

struct play {
	const struct entity_tree *tree;
	enum collapse collapse;
	struct child_table children;
	VEC(struct play_node) nodes; /* 0 is the nameless root */
	VEC(struct play_stub) stubs;
	struct play_weights *weights; /* [metric_count], the tree's own metric first */
	size_t metric_count;
	uint32_t *nearest;    /* [entity]: innermost node of it on the path, or NO_ID */
	uint32_t *first_seen; /* [entity node], while stacks are played */
	uint32_t *arrival;    /* [entity node]: the node or stub it arrived at */
	uint32_t *next;	 /* [entity node]: the next pending one; later the jump before this one */
	uint32_t *jumps; /* [entity node]: how often its stub was taken up to here */
	bool *jumped;	 /* [entity node]: whether any stub was */
};

/* Plays and weighs all stacks. */
void play_init(struct play *p, const struct entity_tree *tree, enum collapse collapse);
void play_deinit(struct play *p);

static inline uint32_t play_parent(const struct play *p, size_t node)
{
	return p->children.nodes.data[node].parent;
}

static inline uint32_t play_entity(const struct play *p, size_t node)
{
	return p->children.nodes.data[node].key;
}

#endif
