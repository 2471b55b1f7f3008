#ifndef SONDE_ANALYSIS_ENTITY_GROWTH_H
#define SONDE_ANALYSIS_ENTITY_GROWTH_H

/*
 * An entity tree in the making: entity_growth.c finds the groups that become nodes, and their
 * weights; then entity_layout.c puts them in pre-order, or entity_sums.c sums them up without
 * order.  Only entity_tree.c uses these.
 */

#include "analysis/entity_map.h"
#include "base/child_table.h"

/* A group becomes one node; group 0 is the root, parents have smaller numbers. */
struct growth {
	const struct selection *selection;
	const struct entity_map *map;
	const struct entity_spec *spec;
	/*
	 * Each stack is its own group, with the same number, and some groups have nothing in or
	 * below them; otherwise groups are the nodes of the table, by entity.
	 */
	bool is_stacks;
	struct child_table table;
	size_t count;
	/*
	 * [group]: the first stack or sample with weight in it, NO_ID: none; samples where filters
	 * keep some of them.  NULL: each group is a stack and nothing is filtered, or only sums are
	 * wanted; a group comes first if it has weight.
	 */
	uint32_t *first;
	/* [metric of the spec][row], read through growth_weight */
	const int64_t **weight;
	bool is_by_row;	      /* weights are by the stack's row; else by the group's number */
	int64_t **sums;	      /* the weights that the growth owns: all or none (NULL) */
	bool **passed;	      /* as sums: whether there is any weight; NULL: if weight ≠ 0 */
	uint32_t *row_group;  /* [row]: where it is shown, or NO_ID; NULL: the spec keeps none */
	uint32_t *zone_group; /* [stack], at LEVEL_ZONE: as entity_tree.zone_node, with groups */
};

/* Finds and weighs the groups that the spec asks for. */
void growth_init(struct growth *g, const struct selection *selection, const struct entity_map *map,
	const struct entity_spec *spec);
void growth_deinit(struct growth *g);

static inline uint32_t growth_parent(const struct growth *g, uint32_t group)
{
	return g->is_stacks ? selection_parent(g->selection, group)
			    : g->table.nodes.data[group].parent;
}

static inline uint32_t growth_entity(const struct growth *g, uint32_t group)
{
	return g->is_stacks ? g->map->of_frame[g->selection->profile->stack_frame[group].i]
			    : g->table.nodes.data[group].key;
}

static inline uint32_t growth_row(const struct growth *g, uint32_t group)
{
	return g->is_by_row ? profile_row(g->selection->profile, group) : group;
}

static inline int64_t growth_weight(const struct growth *g, size_t metric, uint32_t group)
{
	return g->weight[metric][growth_row(g, group)];
}

/* Whether something with weight in a metric of the spec is shown in the group itself. */
static inline bool growth_has_weight(const struct growth *g, size_t metric, uint32_t group)
{
	return g->passed ? g->passed[metric][group] : growth_weight(g, metric, group) != 0;
}

struct entity_tree;
/*
 * Sets sums in the tree and in the trees of further metrics, and no node but the root.  False: more
 * than sums is wanted, or sums take more work than nodes.
 */
bool growth_sum(const struct growth *g, struct entity_tree *const *trees, struct arena *arena);
/* Sets nodes, their columns and weights in the tree and in the trees of further metrics. */
void growth_lay_out(const struct growth *g, struct entity_tree *const *trees, struct arena *arena);

#endif
