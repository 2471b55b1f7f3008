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

#include "analysis/child_table.h"
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

/* The tree in the making: nodes in order of first sight. */
struct trie_node {
	int64_t weight, weight_below;
	uint64_t samples;
	uint32_t size;	/* nodes of its subtree, itself included */
	uint32_t place; /* in pre-order */
	uint32_t next_child_place;
};

struct trie {
	const struct entity_map *map;
	struct child_table children;
	VEC(struct trie_node) nodes;
	uint32_t *of_stack;  /* [stack]: its node; NO_ID: not added yet */
	VEC(uint32_t) chain; /* stacks on the way up, in trie_add_stack */
};

static void trie_init(struct trie *t, const struct entity_map *map)
{
	size_t stack_count = map->profile->stack_count;

	*t = (struct trie){.map = map};
	child_table_init(&t->children);
	vec_push(&t->nodes, (struct trie_node){0});
	t->of_stack = xcalloc(stack_count, sizeof(*t->of_stack));
	for (size_t i = 1; i < stack_count; i++)
		t->of_stack[i] = NO_ID;
}

static void trie_deinit(struct trie *t)
{
	child_table_deinit(&t->children);
	vec_deinit(&t->nodes);
	vec_deinit(&t->chain);
	free(t->of_stack);
}

static uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t entity)
{
	bool added;

	if (t->map->level != LEVEL_FUNCTION &&
		child_table_key(&t->children, parent).entity == entity)
		return parent;
	uint32_t node = child_table_at(&t->children, parent, entity, &added);
	if (added)
		vec_push(&t->nodes, (struct trie_node){0});
	return node;
}

/* The node of a stack, made with all above it at first sight. */
static uint32_t trie_add_stack(struct trie *t, uint32_t stack)
{
	const struct profile *p = t->map->profile;

	t->chain.count = 0;
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
	return node;
}

static void trie_add_profile(struct trie *t, metric_id metric)
{
	const struct profile *p = t->map->profile;
	const int64_t *weight = p->stack_weight[metric.i];

	for (uint32_t i = 0; i < p->stack_count; i++) {
		if (weight[i] == 0)
			continue;
		uint32_t node = trie_add_stack(t, i);
		t->nodes.data[node].weight += weight[i];
		t->nodes.data[node].samples += p->stack_samples ? p->stack_samples[i] : 0;
	}
}

static struct trie_node *trie_parent(const struct trie *t, size_t node)
{
	return &t->nodes.data[child_table_key(&t->children, (uint32_t)node).parent];
}

static void trie_sum(struct trie *t)
{
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct trie_node *n = &t->nodes.data[i];
		n->weight_below += n->weight;
		n->size++;
		if (i == 0)
			continue;
		struct trie_node *parent = trie_parent(t, i);
		parent->weight_below += n->weight_below;
		parent->size += n->size;
	}
}

static void trie_place(struct trie *t)
{
	t->nodes.data[0].next_child_place = 1;
	for (size_t i = 1; i < t->nodes.count; i++) {
		struct trie_node *n = &t->nodes.data[i];
		struct trie_node *parent = trie_parent(t, i);
		n->place = parent->next_child_place;
		n->next_child_place = n->place + 1;
		parent->next_child_place += n->size;
	}
}

static const struct entity_node *trie_copy(const struct trie *t, struct arena *arena)
{
	struct entity_node *out = ARENA_ARRAY(arena, struct entity_node, t->nodes.count);

	for (uint32_t i = 0; i < t->nodes.count; i++) {
		const struct trie_node *n = &t->nodes.data[i];
		out[n->place] = (struct entity_node){
			.parent = i ? trie_parent(t, i)->place : NO_ID,
			.entity = child_table_key(&t->children, i).entity,
			.end = n->place + n->size,
			.first_seen = i,
			.weight = n->weight,
			.weight_below = n->weight_below,
			.samples = n->samples,
		};
	}
	return out;
}

static uint32_t nodes_depth_max(const struct entity_node *nodes, size_t count)
{
	uint32_t *depth = xcalloc(count, sizeof(*depth));
	uint32_t max = 0;

	for (size_t i = 1; i < count; i++) {
		depth[i] = depth[nodes[i].parent] + 1;
		if (depth[i] > max)
			max = depth[i];
	}
	free(depth);
	return max;
}

static struct entity_tree *tree_from_trie(struct trie *t, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	size_t entity_count = t->map->entities.count;
	struct entity *entities = ARENA_ARRAY(arena, struct entity, entity_count);

	trie_sum(t);
	trie_place(t);
	if (entity_count)
		memcpy(entities, t->map->entities.data, entity_count * sizeof(*entities));
	tree->entities = entities;
	tree->entity_count = entity_count;
	tree->nodes = trie_copy(t, arena);
	tree->node_count = t->nodes.count;
	tree->total = t->nodes.data[0].weight_below;
	tree->depth_max = nodes_depth_max(tree->nodes, tree->node_count);
	return tree;
}

struct entity_tree *entity_tree_create(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena)
{
	struct arena *scratch = arena_create();
	struct entity_map map;
	struct trie trie;

	assert(level < LEVEL_COUNT && metric.i < profile->metric_count);
	entity_map_init(&map, profile, level, scratch);
	trie_init(&trie, &map);
	trie_add_profile(&trie, metric);
	struct entity_tree *tree = tree_from_trie(&trie, arena);
	assert(tree->total == profile->total[metric.i]);
	trie_deinit(&trie);
	entity_map_deinit(&map);
	arena_destroy(scratch);
	return tree;
}
