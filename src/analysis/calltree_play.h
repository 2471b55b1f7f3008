#ifndef SONDE_ANALYSIS_CALLTREE_PLAY_H
#define SONDE_ANALYSIS_CALLTREE_PLAY_H

/*
 * The call tree before it is laid out in rows.
 *
 * Its nodes and stubs have the numbers of entity nodes: each that of the first that arrives there,
 * in the entity tree's pre-order.  So most of the tree is the entity tree, and only the differences
 * are stored: entity nodes that make no node of their own but arrive at another's ("arrivals"), by
 * a jump or because that node is the same, and the nodes at which they arrive ("shared").  A
 * parent's number is less than its child's.
 */

#include "analysis/calltree.h"
#include "base/vec.h"

/* An entity node that arrives at a node made by another entity node. */
struct play_arrival {
	uint32_t entity_node;
	uint32_t at;   /* the node where stacks continue: a jump's target */
	uint32_t stub; /* of a jump: index in play.stubs; else NO_ID */
	uint32_t next; /* the next one at the same node; NO_ID: none */
};

struct play_stub {
	uint32_t node;	 /* its number: the entity node that jumped first */
	uint32_t parent; /* node */
	uint32_t target; /* node */
};

/* The stacks' figures at a node. */
struct play_figures {
	int64_t direct, indirect, in_only;
};

/* The figures at a shared node. */
struct play_sums {
	struct play_figures figures;
	uint32_t reached_end; /* end of the entity subtree that was last counted */
};

/* The stacks' figures at a stub. */
struct play_jumps {
	uint32_t last_jump; /* index of the last in play.arrivals; NO_ID: none */
	uint32_t jumps_max;
	int64_t weight;
	__int128 jumps; /* weight × jumps, may exceed 64 bits */
};

/* The figures by one metric. */
struct play_weights {
	const struct entity_tree *tree;
	struct play_sums *sums;	  /* [shared] */
	struct play_jumps *stubs; /* [stub] */
};

struct play {
	const struct entity_tree *tree; /* that it is weighed for */
	enum collapse collapse;
	struct arena *arena;
	struct rank_set arriving;	   /* the entity nodes of arrivals */
	VEC(struct play_arrival) arrivals; /* ascending by entity node */
	struct rank_set shared;		   /* the nodes at which they arrive */
	uint32_t *first_arrival;	   /* [shared] index in arrivals */
	const uint64_t *jumped;	      /* a bit for each entity node: whether a jump led there */
	VEC(struct play_stub) stubs;  /* ascending by node */
	struct play_weights *weights; /* [metric_count], the tree's own metric first */
	size_t metric_count;
	/* [node] the lowest entity_tree_first_seen of those that arrived at it, or NULL */
	uint32_t *first_seen;
};

/* Plays all stacks, without weights. */
void play_init(struct play *p, const struct entity_tree *tree, enum collapse collapse);
void play_deinit(struct play *p);
/*
 * Weighs the stacks of the tree, or of one with the same nodes (entity_tree_weigh); makes
 * first_seen if has_order.  Once for each play_unweigh.
 */
void play_weigh(struct play *p, const struct entity_tree *tree, bool has_order);
/* Frees what play_weigh made. */
void play_unweigh(struct play *p);

/* The arrival of an entity node at another's node; NULL: it makes its own. */
static inline const struct play_arrival *play_arrival(const struct play *p, uint32_t entity_node)
{
	return rank_set_has(&p->arriving, entity_node)
		       ? &p->arrivals.data[rank_set_below(&p->arriving, entity_node)]
		       : NULL;
}

/* Whether a number is that of a node or stub. */
bool play_is_node(const struct play *p, uint32_t number);
/* A stub's index in play.stubs; a node's: NO_ID. */
uint32_t play_stub(const struct play *p, uint32_t node);
/* The node's parent; of the root: 0. */
uint32_t play_parent(const struct play *p, uint32_t node);
/* How many nodes and stubs there are; the root is not counted, nor is what has no weight. */
size_t play_count(const struct play *p);
/* All are zero for a stub. */
struct play_figures play_figures(const struct play *p, size_t metric, uint32_t node);

/* The first that arrives at a node made by another, an index in arrivals; NO_ID: none. */
uint32_t play_first_arrival(const struct play *p, uint32_t node);

#endif
