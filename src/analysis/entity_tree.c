/*
 * The stack tree at one level of aggregation.
 *
 * Stacks that have weight are added, in order, to a trie of entities: those that differ in frames
 * only, or at coarse levels in repeated neighbours only, meet in one node.  Then the trie is copied
 * out in pre-order.  As parents come before their children in it, one backward loop gives the size
 * of every subtree and one forward loop gives every node its place: where its parent says the next
 * child begins.
 */
#include "analysis/entity_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "base/child_table.h"
#include "analysis/entity_map.h"
#include "base/alloc.h"
#include "base/vec.h"

const char *const level_names[LEVEL_COUNT + 1] = {
	[LEVEL_FUNCTION] = "function",
	[LEVEL_MODULE] = "module",
};

struct str entity_label(const struct entity *e, struct strbuf *scratch)
{
	if (e->occurrence <= 1)
		return e->name;
	strbuf_clear(scratch);
	strbuf_add(scratch, e->name);
	strbuf_printf(scratch, "'%u", e->occurrence);
	return strbuf_str(scratch);
}

int entity_compare(const struct entity *a, const struct entity *b)
{
	int order = str_compare(a->name, b->name);

	if (order == 0)
		order = str_compare(a->module, b->module);
	if (order == 0)
		order = str_compare(a->file, b->file);
	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	if (order == 0)
		order = (a->occurrence > b->occurrence) - (a->occurrence < b->occurrence);
	return order;
}

/* Where a node of the trie goes in pre-order. */
struct trie_place {
	uint32_t size; /* nodes of its subtree, itself included */
	uint32_t at;
	uint32_t next_child; /* where its next child's subtree goes */
	uint32_t depth;
};

/* The tree in the making: nodes in order of first sight. */
struct trie {
	const struct entity_map *map;
	struct child_table children;
	uint32_t *of_stack;	   /* [stack]: its node; NO_ID: not added */
	VEC(uint32_t) chain;	   /* stacks on the way up, in trie_add_stack */
	struct trie_place *places; /* [node] */
};

static void trie_init(struct trie *t, const struct entity_map *map)
{
	size_t stack_count = map->profile->stack_count;

	*t = (struct trie){.map = map};
	child_table_init(&t->children, stack_count);
	t->of_stack = xcalloc(stack_count, sizeof(*t->of_stack));
	for (size_t i = 1; i < stack_count; i++)
		t->of_stack[i] = NO_ID;
}

static void trie_deinit(struct trie *t)
{
	child_table_deinit(&t->children);
	vec_deinit(&t->chain);
	free(t->of_stack);
	free(t->places);
}

static uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t entity)
{
	bool added;

	if (t->map->level != LEVEL_FUNCTION && t->children.nodes.data[parent].key == entity)
		return parent;
	return child_table_at(&t->children, parent, entity, &added);
}

/* Makes the node of a stack and, at first sight, all above it. */
static void trie_add_stack(struct trie *t, uint32_t stack)
{
	const struct profile *p = t->map->profile;

	while (t->of_stack[stack] == NO_ID) {
		vec_push(&t->chain, stack);
		stack = p->stacks[stack].parent.i;
	}
	uint32_t node = t->of_stack[stack];
	while (t->chain.count > 0) {
		stack = t->chain.data[--t->chain.count];
		function_id function = p->frames[p->stacks[stack].frame.i].function;
		node = trie_child(t, node, t->map->of_function[function.i]);
		t->of_stack[stack] = node;
	}
}

static struct trie_place *trie_parent(const struct trie *t, size_t node)
{
	return &t->places[t->children.nodes.data[node].parent];
}

/* Gives every node its place; the greatest depth. */
static uint32_t trie_place(struct trie *t)
{
	size_t count = t->children.nodes.count;
	uint32_t depth_max = 0;

	t->places = xcalloc(count, sizeof(*t->places));
	for (size_t i = count - 1; i > 0; i--)
		trie_parent(t, i)->size += ++t->places[i].size;
	t->places[0] = (struct trie_place){.size = (uint32_t)count, .next_child = 1};
	for (size_t i = 1; i < count; i++) {
		struct trie_place *place = &t->places[i], *parent = trie_parent(t, i);
		place->at = parent->next_child;
		place->next_child = place->at + 1;
		parent->next_child += place->size;
		place->depth = parent->depth + 1;
		if (place->depth > depth_max)
			depth_max = place->depth;
	}
	return depth_max;
}

static void trie_copy(const struct trie *t, struct entity_node *out)
{
	for (uint32_t i = 0; i < t->children.nodes.count; i++) {
		const struct trie_place *place = &t->places[i];
		out[place->at] = (struct entity_node){
			.parent = i ? trie_parent(t, i)->at : NO_ID,
			.entity = t->children.nodes.data[i].key,
			.end = place->at + place->size,
			.first_seen = i,
		};
	}
}

static void trie_copy_weights(const struct trie *t, metric_id metric, struct entity_node *out)
{
	const struct profile *p = t->map->profile;

	for (size_t i = 0; i < p->stack_count; i++) {
		int64_t weight = p->stack_weight[metric.i][i];
		if (weight != 0)
			out[t->places[t->of_stack[i]].at].weight += weight;
	}
}

/* For struct entity_tree's is_passed. */
static bool *trie_passed(const struct trie *t, metric_id metric, const struct entity_node *nodes,
	struct arena *arena)
{
	const struct profile *p = t->map->profile;
	bool *passed = ARENA_ARRAY(arena, bool, t->children.nodes.count);

	for (size_t i = 0; i < p->stack_count; i++)
		if (p->stack_weight[metric.i][i] != 0)
			passed[t->places[t->of_stack[i]].at] = true;
	for (size_t i = t->children.nodes.count; i-- > 1;)
		if (passed[i])
			passed[nodes[i].parent] = true;
	return passed;
}

/* Sums weights below; whether any weight is negative. */
static bool nodes_sum(struct entity_node *nodes, size_t count)
{
	bool has_negative = false;

	for (size_t i = count; i-- > 0;) {
		has_negative |= nodes[i].weight < 0;
		nodes[i].weight_below += nodes[i].weight;
		if (i > 0)
			nodes[nodes[i].parent].weight_below += nodes[i].weight_below;
	}
	return has_negative;
}

/* The placed trie, with one metric's weights. */
static struct entity_tree *trie_tree(const struct trie *t, metric_id metric,
	const struct entity *entities, uint32_t depth_max, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	size_t count = t->children.nodes.count;
	struct entity_node *nodes = ARENA_ARRAY(arena, struct entity_node, count);

	trie_copy(t, nodes);
	trie_copy_weights(t, metric, nodes);
	bool has_negative = nodes_sum(nodes, count);
	*tree = (struct entity_tree){
		.entities = entities,
		.entity_count = t->map->entities.count,
		.nodes = nodes,
		.node_count = count,
		.total = nodes[0].weight_below,
		.has_negative = has_negative,
		.depth_max = depth_max,
	};
	assert(tree->total == t->map->profile->total[metric.i]);
	return tree;
}

static struct entity_tree *trie_trees(
	struct trie *t, const metric_id *metrics, size_t count, struct arena *arena)
{
	size_t entity_count = t->map->entities.count;
	struct entity *entities = ARENA_ARRAY(arena, struct entity, entity_count);
	const struct entity_tree **others = ARENA_ARRAY(arena, const struct entity_tree *, count);
	uint32_t depth_max = trie_place(t);
	struct entity_tree *tree = NULL;

	if (entity_count)
		memcpy(entities, t->map->entities.data, entity_count * sizeof(*entities));
	for (size_t k = count; k-- > 0;) {
		tree = trie_tree(t, metrics[k], entities, depth_max, arena);
		if (count > 1)
			tree->is_passed = trie_passed(t, metrics[k], tree->nodes, arena);
		if (k > 0)
			others[k - 1] = tree;
	}
	tree->others = others;
	tree->other_count = count - 1;
	return tree;
}

static bool has_weight(
	const struct profile *p, const metric_id *metrics, size_t count, uint32_t stack)
{
	for (size_t k = 0; k < count; k++)
		if (p->stack_weight[metrics[k].i][stack] != 0)
			return true;
	return false;
}

struct entity_tree *entity_tree_create(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena)
{
	return entity_tree_create_for(profile, level, &metric, 1, arena);
}

struct entity_tree *entity_tree_create_for(const struct profile *profile, enum level level,
	const metric_id *metrics, size_t count, struct arena *arena)
{
	struct arena *scratch = arena_create();
	struct entity_map map;
	struct trie trie;

	assert(level < LEVEL_COUNT && count >= 1);
	for (size_t k = 0; k < count; k++)
		assert(metrics[k].i < profile->metric_count);
	entity_map_init(&map, profile, level, scratch);
	trie_init(&trie, &map);
	for (uint32_t i = 0; i < profile->stack_count; i++)
		if (has_weight(profile, metrics, count, i))
			trie_add_stack(&trie, i);
	struct entity_tree *tree = trie_trees(&trie, metrics, count, arena);

	trie_deinit(&trie);
	entity_map_deinit(&map);
	arena_destroy(scratch);
	return tree;
}
