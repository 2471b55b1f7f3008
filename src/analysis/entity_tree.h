#ifndef SONDE_ANALYSIS_ENTITY_TREE_H
#define SONDE_ANALYSIS_ENTITY_TREE_H

/*
 * The profile's stack tree at one level of aggregation, with one metric's weights: the input of
 * every analysis.  Several metrics are several trees of the same nodes, so that an analysis gives
 * rows for all of them at once; what it says of one is what it would say of that one alone, but for
 * rows in which this one has no weight.  What changes stacks before a view (spread now, filters
 * later) takes an entity tree and gives another, so that they stack in any order.
 *
 * An entity is one "f" of semantics.md: a function, a load object, …  At levels coarser than the
 * function, neighbours that are the same entity are one node.
 *
 * Nodes stand in pre-order, so a subtree is the run of nodes [i, end), the children of i are found
 * by `for (c = i + 1; c < nodes[i].end; c = nodes[c].end)`, and node i lies below node a exactly
 * while a < i < nodes[a].end.  One loop over the array is thus a walk of the tree, at any depth,
 * without recursion and without a stack of its own.
 */

#include "base/arena.h"
#include "model/profile.h"

enum level {
	LEVEL_FUNCTION, /* one that has the same name, module, file and line is the same */
	LEVEL_MODULE,	/* load objects, told apart by base name */
	LEVEL_COUNT
};
/* "function", "module". */
extern const char *const level_names[LEVEL_COUNT + 1]; /* NULL at the end */

struct entity {
	struct str name; /* never empty; of a module: the load object's base name or "[unknown]" */
	struct str module; /* base name; data NULL: not known */
	struct str file;   /* of its definition; data NULL: not known */
	uint32_t line;	   /* of its definition; 0: not known */
	/* 1, but k for what spread made of the k-th occurrence: shown as name'k by entity_label. */
	uint32_t occurrence;
};

/* The name to show, occurrence included: the entity's own, or made in scratch. */
struct str entity_label(const struct entity *e, struct strbuf *scratch);
/* Orders by name, module, file, line, occurrence; 0 only for the same entity. */
int entity_compare(const struct entity *a, const struct entity *b);

struct entity_node {
	uint32_t parent;     /* < own index; NO_ID for node 0, the root */
	uint32_t entity;     /* NO_ID for the root */
	uint32_t end;	     /* one past the last node of its subtree */
	uint32_t first_seen; /* ascends in the order in which the profile's stacks first got here */
	int64_t weight;	     /* of the stacks that end here */
	int64_t weight_below; /* of the stacks that end here or in the subtree */
};

struct entity_tree {
	const struct entity *entities;
	size_t entity_count; /* some may have no node */
	/*
	 * Siblings in order of first sight; stacks of weight 0 make no nodes.  Where there are
	 * others, stacks are there that have weight in any of the metrics.
	 */
	const struct entity_node *nodes;
	size_t node_count; /* at least 1; the root holds the weight of empty stacks */
	int64_t total;
	bool has_negative;  /* some node's weight is: it is a difference, and has no means */
	uint32_t depth_max; /* the root's children are 1 */
	/* [other_count] The same nodes with the weights of further metrics; they have no others. */
	const struct entity_tree *const *others;
	size_t other_count;
	/*
	 * [node] Whether stacks with weight in this metric end here or below, which sums do not
	 * tell, as weights may cancel; NULL: everywhere, as always where there are no others.
	 */
	const bool *is_passed;
};

/*
 * Lives in the arena; strings are the profile's.  First sight is the order of the profile's stack
 * ids, which for recorded samples is the order in time.
 */
must_use struct entity_tree *entity_tree_create(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena);
/* The same for metrics[count], count ≥ 1, all different: the first one's, with others. */
must_use struct entity_tree *entity_tree_create_for(const struct profile *profile, enum level level,
	const metric_id *metrics, size_t count, struct arena *arena);

/*
 * Spread (semantics.md section 2): the k-th occurrence (k ≥ 2) of an entity in a stack becomes an
 * entity of its own, named f'k.  Entities before spreading keep their index.
 */
must_use struct entity_tree *entity_tree_spread(
	const struct entity_tree *tree, struct arena *arena);

#endif
