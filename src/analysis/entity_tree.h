#ifndef SONDE_ANALYSIS_ENTITY_TREE_H
#define SONDE_ANALYSIS_ENTITY_TREE_H

/*
 * The profile's stack tree at one level of aggregation, with one metric's weights: the input of
 * every analysis.  What changes stacks before a view (spread now, filters later) takes an entity tree
 * and gives another, so that they stack in any order.
 *
 * An entity is one "f" of semantics.md: a function, a load object, …  At levels coarser than the
 * function, neighbours that are the same entity are one node.
 */

#include "base/arena.h"
#include "model/profile.h"

enum level {
	LEVEL_FUNCTION,
	LEVEL_MODULE,
	LEVEL_COUNT
};
/* "function", "module". */
extern const char *const level_names[LEVEL_COUNT + 1]; /* NULL at the end */

struct entity {
	struct str name;   /* whole; at LEVEL_MODULE the load object's base name */
	struct str module; /* base name; data NULL: not known */
	struct str file;   /* of its definition; data NULL: not known */
	uint32_t line;	   /* 0: not known */
};

struct entity_node {
	uint32_t parent; /* < own index; node 0 is the root, which has no entity */
	uint32_t entity; /* NO_ID for the root */
	int64_t weight;  /* of the stacks that end here */
	uint64_t samples; /* likewise, 0 where not known */
};

struct entity_tree {
	const struct entity *entities;
	size_t entity_count;
	const struct entity_node *nodes;
	size_t node_count; /* at least 1 */
	int64_t total;
	uint32_t depth_max;
};

/* Lives in the arena; strings are the profile's. */
struct entity_tree *entity_tree_create(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena);

/*
 * Spread (semantics.md section 2): the k-th occurrence (k ≥ 2) of an entity in a stack becomes an
 * entity of its own, named f'k.
 */
struct entity_tree *entity_tree_spread(const struct entity_tree *tree, struct arena *arena);

#endif
