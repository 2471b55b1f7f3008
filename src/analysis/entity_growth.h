#ifndef SONDE_ANALYSIS_ENTITY_GROWTH_H
#define SONDE_ANALYSIS_ENTITY_GROWTH_H

/*
 * An entity tree in the making: entity_growth.c finds the groups that become nodes, and what they
 * weigh, entity_layout.c puts them in pre-order, or entity_sums.c sums them up without, and
 * entity_tree.c alone asks for these.
 */

#include "analysis/entity_map.h"
#include "base/child_table.h"

/* A group is what becomes one node; group 0 is the root, parents have smaller numbers. */
struct growth {
	const struct selection *selection;
	const struct entity_map *map;
	const struct entity_spec *spec;
	/*
	 * Each stack is a group of its own, of the same number, and some have nothing in or below
	 * them; otherwise groups are the nodes of the table, by entity.
	 */
	bool is_stacks;
	struct child_table table;
	size_t count;
	/*
	 * [group]: the first stack or sample with weight in it, NO_ID: none; NULL: each group is a
	 * stack, all stacks are shown as what they are, and first is it who has weight.
	 */
	uint32_t *first;
	/* [metric of the spec][row], asked for by growth_weight */
	const int64_t **weight;
	bool is_by_row;	      /* weights stand by the stack's row; else by the group's number */
	int64_t **sums;	      /* what of the weights is the growth's own: all or nothing (NULL) */
	bool **passed;	      /* as sums: whether there is any weight; NULL: as weights tell */
	uint32_t *zone_group; /* [stack], at LEVEL_ZONE: as entity_tree.zone_node, of groups */
};

/* Finds and weighs the groups of what the spec asks for. */
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
 * Sets sums, of the tree and of the trees of further metrics, and no node but the root; false:
 * sums are not all that is wanted, or take more work than nodes.
 */
bool growth_sum(const struct growth *g, struct entity_tree *const *trees, struct arena *arena);
/* Sets nodes, their columns and weights, of the tree and of the trees of further metrics. */
void growth_lay_out(const struct growth *g, struct entity_tree *const *trees, struct arena *arena);

#endif
