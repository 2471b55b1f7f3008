/*
 * The stack tree at one level of aggregation.
 *
 * Two trees are made on the way.  First a trie of entities, in the order of the profile's stacks:
 * stacks that differ in frames only, or at coarse levels in repeated neighbours only, meet in one
 * node there.  Then its live part, the subtrees that hold weight, is copied out in pre-order.  As
 * parents come before their children in the trie, one backward loop gives the size of every subtree
 * and one forward loop gives every node its place: where its parent says the next child begins.
 */
#include "analysis/entity_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/child_table.h"
#include "base/alloc.h"
#include "base/map.h"
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

/* Which entity each function belongs to. */
struct entity_map {
	const struct profile *profile;
	enum level level;
	uint32_t *of_function;	    /* [function] */
	uint32_t *module_of_object; /* [object]: index into modules */
	struct str_table modules;   /* base names; those not known are the empty one */
	uint32_t unknown_module;    /* that of functions without load object */
	struct map by_identity;
	VEC(struct entity) entities;
};

static struct str str_or_null(struct str s)
{
	return s.size ? s : (struct str){0};
}

static struct str str_or_unknown(struct str s)
{
	return s.size ? s : STR("[unknown]");
}

static struct entity entity_of_module(const struct profile *p, const struct function *f)
{
	struct str module = profile_module(p, f->object);

	return (struct entity){
		.name = str_or_unknown(module), .module = str_or_null(module), .occurrence = 1};
}

static struct entity entity_of_function(const struct profile *p, const struct function *f)
{
	return (struct entity){
		.name = str_or_unknown(profile_string(p, f->name)),
		.module = str_or_null(profile_module(p, f->object)),
		.file = str_or_null(profile_string(p, f->file)),
		.line = f->line,
		.occurrence = 1,
	};
}

/* Load objects by base name, so that two copies of a library are one module. */
static void entity_map_modules(struct entity_map *m, struct arena *scratch)
{
	const struct profile *p = m->profile;

	str_table_init(&m->modules, scratch);
	m->unknown_module = str_table_intern(&m->modules, (struct str){0});
	m->module_of_object = ARENA_ARRAY(scratch, uint32_t, p->object_count);
	for (uint32_t i = 0; i < p->object_count; i++)
		m->module_of_object[i] =
			str_table_intern(&m->modules, profile_module(p, (object_id){i}));
}

static uint32_t entity_map_add(struct entity_map *m, const struct function *f)
{
	bool at_module = m->level == LEVEL_MODULE;
	uint32_t module =
		f->object.i == NO_ID ? m->unknown_module : m->module_of_object[f->object.i];
	uint64_t a = at_module ? module : (uint64_t)f->name.i << 32 | module;
	uint64_t b = at_module ? 0 : (uint64_t)f->file.i << 32 | f->line;
	bool added;
	uint32_t index = *map_at(&m->by_identity, a, b, (uint32_t)m->entities.count, &added);

	if (added)
		vec_push(&m->entities, at_module ? entity_of_module(m->profile, f)
						 : entity_of_function(m->profile, f));
	return index;
}

static void entity_map_init(
	struct entity_map *m, const struct profile *p, enum level level, struct arena *scratch)
{
	*m = (struct entity_map){.profile = p, .level = level};
	entity_map_modules(m, scratch);
	m->of_function = ARENA_ARRAY(scratch, uint32_t, p->function_count);
	for (size_t i = 0; i < p->function_count; i++)
		m->of_function[i] = entity_map_add(m, &p->functions[i]);
}

static void entity_map_deinit(struct entity_map *m)
{
	str_table_deinit(&m->modules);
	map_deinit(&m->by_identity);
	vec_deinit(&m->entities);
}

/* The tree in the making: nodes in order of first sight. */
struct trie_node {
	int64_t weight, weight_below;
	uint64_t samples;
	uint32_t live_size; /* nodes of its subtree that are kept, itself included; 0: not kept */
	uint32_t place;	    /* of a kept one, in pre-order */
	uint32_t next_child_place;
};

struct trie {
	struct child_table children;
	VEC(struct trie_node) nodes;
};

static void trie_init(struct trie *t)
{
	*t = (struct trie){0};
	child_table_init(&t->children);
	vec_push(&t->nodes, (struct trie_node){0});
}

static void trie_deinit(struct trie *t)
{
	child_table_deinit(&t->children);
	vec_deinit(&t->nodes);
}

static uint32_t trie_child(struct trie *t, uint32_t parent, uint32_t entity)
{
	bool added;
	uint32_t node = child_table_at(&t->children, parent, entity, &added);

	if (added)
		vec_push(&t->nodes, (struct trie_node){0});
	return node;
}

static void trie_add_profile(struct trie *t, const struct entity_map *m, metric_id metric)
{
	const struct profile *p = m->profile;
	bool merge_neighbours = m->level != LEVEL_FUNCTION;
	uint32_t *node_of = xcalloc(p->stack_count, sizeof(*node_of));

	for (size_t i = 0; i < p->stack_count; i++) {
		uint32_t node = 0;
		if (i > 0) {
			function_id function = p->frames[p->stacks[i].frame.i].function;
			uint32_t entity = m->of_function[function.i];
			node = node_of[p->stacks[i].parent.i];
			if (!merge_neighbours || child_table_entity(&t->children, node) != entity)
				node = trie_child(t, node, entity);
		}
		node_of[i] = node;
		t->nodes.data[node].weight += p->stack_weight[metric.i][i];
		t->nodes.data[node].samples += p->stack_samples ? p->stack_samples[i] : 0;
	}
	free(node_of);
}

static struct trie_node *trie_parent(const struct trie *t, size_t node)
{
	return &t->nodes.data[child_table_parent(&t->children, (uint32_t)node)];
}

/* Sums weights up the tree and counts what is to be kept: what holds weight, and the root. */
static void trie_sum(struct trie *t)
{
	for (size_t i = t->nodes.count; i-- > 0;) {
		struct trie_node *n = &t->nodes.data[i];
		n->weight_below += n->weight;
		if (i == 0 || n->weight != 0 || n->live_size > 0)
			n->live_size++;
		if (i == 0)
			continue;
		struct trie_node *parent = trie_parent(t, i);
		parent->weight_below += n->weight_below;
		parent->live_size += n->live_size;
	}
}

static void trie_place(struct trie *t)
{
	t->nodes.data[0].next_child_place = 1;
	for (size_t i = 1; i < t->nodes.count; i++) {
		struct trie_node *n = &t->nodes.data[i];
		struct trie_node *parent = trie_parent(t, i);
		if (n->live_size == 0)
			continue;
		n->place = parent->next_child_place;
		n->next_child_place = n->place + 1;
		parent->next_child_place += n->live_size;
	}
}

static const struct entity_node *trie_copy(const struct trie *t, struct arena *arena)
{
	struct entity_node *out =
		ARENA_ARRAY(arena, struct entity_node, t->nodes.data[0].live_size);

	for (uint32_t i = 0; i < t->nodes.count; i++) {
		const struct trie_node *n = &t->nodes.data[i];
		if (n->live_size == 0)
			continue;
		out[n->place] = (struct entity_node){
			.parent = i ? trie_parent(t, i)->place : NO_ID,
			.entity = child_table_entity(&t->children, i),
			.end = n->place + n->live_size,
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

static struct entity_tree *tree_from_trie(
	struct trie *t, const struct entity_map *m, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	struct entity *entities = ARENA_ARRAY(arena, struct entity, m->entities.count);

	trie_sum(t);
	trie_place(t);
	if (m->entities.count)
		memcpy(entities, m->entities.data, m->entities.count * sizeof(*entities));
	tree->entities = entities;
	tree->entity_count = m->entities.count;
	tree->nodes = trie_copy(t, arena);
	tree->node_count = t->nodes.data[0].live_size;
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
	trie_init(&trie);
	trie_add_profile(&trie, &map, metric);
	struct entity_tree *tree = tree_from_trie(&trie, &map, arena);
	assert(tree->total == profile->total[metric.i]);
	trie_deinit(&trie);
	entity_map_deinit(&map);
	arena_destroy(scratch);
	return tree;
}
