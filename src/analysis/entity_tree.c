/*
 * The stack tree at one level of aggregation.
 *
 * The profile's stacks are a prefix tree of frames already; what remains is to let nodes meet that
 * differ in frames only, or at coarse levels in repeated neighbours only.  The tree is made from
 * the root outwards, in pre-order: a node is a list of stacks, its children are their children,
 * told apart by entity.  A stamp for each entity finds the group that a child belongs to, so there
 * is no hashing, and memory is mostly passed over in order; that is what makes millions of stacks
 * cheap.
 *
 * Siblings stand in order of first sight: by the least stack with weight that is shown in their
 * subtree.
 */
#include "analysis/entity_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/entity_map.h"
#include "base/alloc.h"
#include "base/vec.h"

const char *const level_names[LEVEL_COUNT + 1] = {
	[LEVEL_FUNCTION] = "function",
	[LEVEL_MODULE] = "module",
	[LEVEL_FILE] = "file",
	[LEVEL_LINE] = "line",
	[LEVEL_INSTRUCTION] = "instruction",
	[LEVEL_THREAD] = "thread",
	[LEVEL_PROCESS] = "process",
};

bool level_is_of_samples(enum level level)
{
	return level == LEVEL_THREAD || level == LEVEL_PROCESS;
}

struct error *level_check(enum level level, const struct profile *profile)
{
	return level_is_of_samples(level) ? profile_needs_threads(profile) : NULL;
}

const struct entity entity_spontaneous = {
	.name = {"<spontaneous>", sizeof("<spontaneous>") - 1}, .occurrence = 1};

struct str entity_label(const struct entity *e, struct strbuf *scratch)
{
	if (e->occurrence <= 1)
		return e->name;
	strbuf_clear(scratch);
	strbuf_add(scratch, e->name);
	strbuf_printf(scratch, "'%u", e->occurrence);
	return strbuf_str(scratch);
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

int entity_compare(const struct entity *a, const struct entity *b)
{
	int order = str_compare(a->name, b->name);

	if (order == 0)
		order = str_compare(a->module, b->module);
	if (order == 0)
		order = str_compare(a->file, b->file);
	if (order == 0)
		order = compare_numbers(a->line, b->line);
	if (order == 0)
		order = compare_numbers(a->address, b->address);
	if (order == 0)
		order = compare_numbers(a->occurrence, b->occurrence);
	return order;
}

/* What stands behind stack ids of a list: there is no more. */
#define NONE 0 /* the empty stack is nobody's child, nor a further member */

/* A node whose children are not made yet. */
struct group {
	uint32_t entity;
	uint32_t first;		/* least stack with weight that is shown in it or below */
	uint32_t head, tail;	/* its stacks, chained by growth.next_member */
	uint32_t parent, depth; /* in the tree */
};

/* The tree as it grows. */
struct growth {
	const struct selection *selection;
	const struct entity_map *map;
	const metric_id *metrics;
	size_t metric_count;
	/* [stack] */
	uint32_t *first;       /* NO_ID: no weight is shown here or below */
	uint32_t *first_child; /* of those with weight, ascending */
	uint32_t *next_sibling;
	uint32_t *next_member;
	/* [metric][stack]: weight that is shown there, and whether there is any */
	const int64_t **weight;
	bool **passed; /* NULL with one metric */

	/* [entity]: the group that it has among the children of node `stamp`. */
	uint32_t *stamp, *group_of;
	VEC(struct group) fresh;   /* the groups among the children of one node */
	VEC(struct group) pending; /* groups that are to become nodes, the next one last */
	VEC(struct entity_node) nodes;
	VEC(uint32_t) firsts; /* [node] */
	VEC(int64_t) weights; /* [node × metric_count + metric] */
	VEC(bool) passes;     /* the same */
	uint32_t depth_max;
};

static bool has_weight(const struct growth *g, uint32_t stack)
{
	for (size_t k = 0; k < g->metric_count; k++)
		if (g->selection->weight[g->metrics[k].i][stack] != 0)
			return true;
	return false;
}

/* Whether samples are shown as other stacks than their own. */
static bool is_moved(const struct selection *s)
{
	for (uint32_t i = 0; i < s->profile->stack_count; i++)
		if (s->shown[i] != i)
			return true;
	return false;
}

/* The weight by what it is shown as. */
static void growth_weigh(struct growth *g)
{
	const struct selection *s = g->selection;
	size_t count = s->profile->stack_count;
	bool moved = is_moved(s);

	g->weight = xcalloc(g->metric_count, sizeof(*g->weight));
	g->passed = g->metric_count > 1 ? xcalloc(g->metric_count, sizeof(*g->passed)) : NULL;
	for (size_t k = 0; k < g->metric_count; k++) {
		const int64_t *from = s->weight[g->metrics[k].i];
		int64_t *to = xcalloc(count, sizeof(*to));

		if (g->passed)
			g->passed[k] = xcalloc(count, sizeof(**g->passed));
		for (size_t i = 0; i < count; i++) {
			if (from[i] == 0 || (moved && !SHOWN_IS_STACK(s->shown[i])))
				continue;
			to[s->shown[i]] += from[i];
			if (g->passed)
				g->passed[k][s->shown[i]] = true;
		}
		g->weight[k] = to;
	}
}

/* Which stacks are in the tree at all, since when, and whose children they are. */
static void growth_chain(struct growth *g)
{
	const struct selection *s = g->selection;
	uint32_t count = (uint32_t)s->profile->stack_count;

	g->first = xcalloc(count, sizeof(*g->first));
	g->first_child = xcalloc(count, sizeof(*g->first_child));
	g->next_sibling = xcalloc(count, sizeof(*g->next_sibling));
	g->next_member = xcalloc(count, sizeof(*g->next_member));
	for (uint32_t i = 0; i < count; i++)
		g->first[i] = NO_ID;
	for (uint32_t i = 0; i < count; i++)
		if (SHOWN_IS_STACK(s->shown[i]) && i < g->first[s->shown[i]] && has_weight(g, i))
			g->first[s->shown[i]] = i;
	for (uint32_t i = count; i-- > 1;) {
		uint32_t parent = s->parent[i];

		if (g->first[i] == NO_ID)
			continue;
		if (g->first[i] < g->first[parent])
			g->first[parent] = g->first[i];
		g->next_sibling[i] = g->first_child[parent];
		g->first_child[parent] = i;
	}
}

static void growth_init(struct growth *g, const struct selection *selection,
	const struct entity_map *map, const struct entity_spec *spec)
{
	*g = (struct growth){.selection = selection,
		.map = map,
		.metrics = spec->metrics,
		.metric_count = spec->metric_count,
		.stamp = xcalloc(map->entities.count, sizeof(*g->stamp)),
		.group_of = xcalloc(map->entities.count, sizeof(*g->group_of))};
	for (size_t i = 0; i < map->entities.count; i++)
		g->stamp[i] = NO_ID;
	growth_weigh(g);
	growth_chain(g);
}

static void growth_deinit(struct growth *g)
{
	for (size_t k = 0; k < g->metric_count; k++) {
		free((void *)(uintptr_t)g->weight[k]);
		if (g->passed)
			free(g->passed[k]);
	}
	free(g->weight);
	free(g->passed);
	free(g->first);
	free(g->first_child);
	free(g->next_sibling);
	free(g->next_member);
	free(g->stamp);
	free(g->group_of);
	vec_deinit(&g->fresh);
	vec_deinit(&g->pending);
	vec_deinit(&g->nodes);
	vec_deinit(&g->firsts);
	vec_deinit(&g->weights);
	vec_deinit(&g->passes);
}

/* Whether a frame is a part of what its caller's node stands for already. */
static bool joins_parent(const struct entity_map *map, const struct frame *frame)
{
	switch (map->level) {
	case LEVEL_MODULE:
	case LEVEL_FILE:
		return true;
	case LEVEL_INSTRUCTION:
		return frame->is_inline && frame->obj_addr != 0;
	case LEVEL_FUNCTION:
	case LEVEL_LINE:
	case LEVEL_THREAD:
	case LEVEL_PROCESS:
	case LEVEL_COUNT:
		break;
	}
	return false;
}

static void group_append(struct growth *g, struct group *group, uint32_t stack)
{
	g->next_member[stack] = NONE;
	g->next_member[group->tail] = stack;
	group->tail = stack;
	if (g->first[stack] < group->first)
		group->first = g->first[stack];
}

/* Puts a child of one of the node's stacks where it belongs: into the node, or a child's group. */
static void growth_sort_child(struct growth *g, struct group *node, uint32_t index, uint32_t stack)
{
	frame_id id = g->selection->profile->stacks[stack].frame;
	uint32_t entity = g->map->of_frame[id.i];

	if (entity == node->entity && joins_parent(g->map, &g->selection->profile->frames[id.i])) {
		group_append(g, node, stack);
		return;
	}
	if (g->stamp[entity] == index) {
		group_append(g, &g->fresh.data[g->group_of[entity]], stack);
		return;
	}
	g->stamp[entity] = index;
	g->group_of[entity] = (uint32_t)g->fresh.count;
	g->next_member[stack] = NONE;
	vec_push(&g->fresh, (struct group){.entity = entity,
				    .first = g->first[stack],
				    .head = stack,
				    .tail = stack,
				    .parent = index,
				    .depth = node->depth + 1});
}

/* Latest sight first, as the last pending one comes first. */
static int groups_compare(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	return (x->first < y->first) - (x->first > y->first);
}

static void growth_add_children(struct growth *g)
{
	struct group *fresh = g->fresh.data;
	size_t count = g->fresh.count;
	bool ascending = true;

	for (size_t i = 1; i < count; i++)
		ascending &= fresh[i - 1].first < fresh[i].first;
	if (!ascending)
		qsort(fresh, count, sizeof(*fresh), groups_compare);
	for (size_t i = 0; i < count; i++)
		vec_push(&g->pending, fresh[ascending ? count - 1 - i : i]);
	g->fresh.count = 0;
}

static void growth_add_stack(struct growth *g, uint32_t index, uint32_t stack)
{
	size_t row = (size_t)index * g->metric_count;

	for (size_t k = 0; k < g->metric_count; k++) {
		g->weights.data[row + k] += g->weight[k][stack];
		if (g->passed)
			g->passes.data[row + k] |= g->passed[k][stack];
	}
}

/* Makes a node of a group, and groups of its children. */
static void growth_add_node(struct growth *g, struct group *node)
{
	uint32_t index = (uint32_t)g->nodes.count;

	vec_push(&g->nodes, (struct entity_node){.parent = node->parent, .entity = node->entity});
	vec_push(&g->firsts, node->first);
	for (size_t k = 0; k < g->metric_count; k++) {
		vec_push(&g->weights, 0);
		if (g->passed)
			vec_push(&g->passes, false);
	}
	if (node->depth > g->depth_max)
		g->depth_max = node->depth;
	for (uint32_t s = node->head, more = true; more; s = g->next_member[s]) {
		growth_add_stack(g, index, s);
		for (uint32_t c = g->first_child[s]; c != NONE; c = g->next_sibling[c])
			growth_sort_child(g, node, index, c);
		more = g->next_member[s] != NONE;
	}
	growth_add_children(g);
}

static void growth_run(struct growth *g)
{
	vec_push(&g->pending,
		(struct group){.entity = NO_ID, .first = g->first[0], .parent = NO_ID});
	while (g->pending.count > 0) {
		struct group node = g->pending.data[--g->pending.count];

		growth_add_node(g, &node);
	}
}

/* Samples by thread or process: one node each. */
static void growth_run_samples(struct growth *g)
{
	const struct selection *s = g->selection;
	const struct samples *samples = &s->profile->samples;

	vec_push(&g->nodes, (struct entity_node){.parent = NO_ID, .entity = NO_ID});
	vec_push(&g->firsts, 0);
	for (size_t i = 0; i < samples->count; i++) {
		if ((s->sample_kept && !s->sample_kept[i]) ||
			!SHOWN_IS_STACK(s->shown[samples->stack[i].i]))
			continue;
		uint32_t entity = g->map->of_thread[samples->thread[i].i];
		bool any = false;

		for (size_t k = 0; k < g->metric_count; k++)
			any |= samples->weight[g->metrics[k].i][i] != 0;
		if (!any || g->stamp[entity] != NO_ID)
			continue;
		g->stamp[entity] = (uint32_t)g->nodes.count;
		vec_push(&g->nodes, (struct entity_node){.parent = 0, .entity = entity});
		vec_push(&g->firsts, (uint32_t)i);
		g->depth_max = 1;
	}
}

static void growth_weigh_samples(struct growth *g)
{
	const struct selection *s = g->selection;
	const struct samples *samples = &s->profile->samples;
	size_t cells = g->nodes.count * g->metric_count;

	vec_reserve(&g->weights, cells);
	memset(g->weights.data, 0, cells * sizeof(*g->weights.data));
	if (g->passed) {
		vec_reserve(&g->passes, cells);
		memset(g->passes.data, 0, cells * sizeof(*g->passes.data));
	}
	for (size_t i = 0; i < samples->count; i++) {
		if ((s->sample_kept && !s->sample_kept[i]) ||
			!SHOWN_IS_STACK(s->shown[samples->stack[i].i]))
			continue;
		uint32_t node = g->stamp[g->map->of_thread[samples->thread[i].i]];

		for (size_t k = 0; k < g->metric_count && node != NO_ID; k++) {
			int64_t weight = samples->weight[g->metrics[k].i][i];

			g->weights.data[node * g->metric_count + k] += weight;
			if (g->passed)
				g->passes.data[node * g->metric_count + k] |= weight != 0;
		}
	}
}

/* Where subtrees end. */
static void nodes_end(struct entity_node *nodes, size_t count)
{
	for (uint32_t i = 0; i < count; i++)
		nodes[i].end = i + 1;
	for (size_t i = count; i-- > 1;)
		if (nodes[i].end > nodes[nodes[i].parent].end)
			nodes[nodes[i].parent].end = nodes[i].end;
}

void entity_nodes_rank(struct entity_node *nodes, size_t count, uint32_t *firsts)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++) {
		if (firsts[i] == NO_ID) /* the root of a tree of nothing */
			firsts[i] = 0;
		most = firsts[i] > most ? firsts[i] : most;
	}
	uint32_t *at = xcalloc((size_t)most + 2, sizeof(*at));
	for (size_t i = 0; i < count; i++)
		at[firsts[i] + 1]++;
	for (size_t i = 1; i <= most; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < count; i++)
		nodes[i].first_seen = at[firsts[i]]++;
	free(at);
}

bool entity_nodes_finish(struct entity_node *nodes, size_t count)
{
	bool has_negative = false;

	nodes_end(nodes, count);
	for (size_t i = count; i-- > 0;) {
		has_negative |= nodes[i].weight < 0;
		nodes[i].weight_below += nodes[i].weight;
		if (i > 0)
			nodes[nodes[i].parent].weight_below += nodes[i].weight_below;
	}
	return has_negative;
}

/* For struct entity_tree's is_passed. */
static bool *growth_passed(const struct growth *g, size_t k, struct arena *arena)
{
	size_t count = g->nodes.count;
	bool *passed = ARENA_ARRAY(arena, bool, count);

	for (size_t i = 0; i < count; i++)
		passed[i] = g->passes.data[i * g->metric_count + k];
	for (size_t i = count; i-- > 1;)
		if (passed[i])
			passed[g->nodes.data[i].parent] = true;
	return passed;
}

static int64_t spontaneous_weight(const struct selection *s, metric_id metric)
{
	int64_t weight = 0;

	for (size_t i = 0; i < s->profile->stack_count; i++)
		if (s->shown[i] == SHOWN_SPONTANEOUS)
			weight += s->weight[metric.i][i];
	return weight;
}

/* The tree with one metric's weights. */
static struct entity_tree *growth_tree(
	const struct growth *g, size_t k, const struct entity *entities, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	size_t count = g->nodes.count;
	struct entity_node *nodes = ARENA_ARRAY(arena, struct entity_node, count);

	memcpy(nodes, g->nodes.data, count * sizeof(*nodes));
	for (size_t i = 0; i < count; i++)
		nodes[i].weight = g->weights.data[i * g->metric_count + k];
	bool has_negative = entity_nodes_finish(nodes, count);
	*tree = (struct entity_tree){
		.entities = entities,
		.entity_count = g->map->entities.count,
		.nodes = nodes,
		.node_count = count,
		.total = g->selection->total[g->metrics[k].i],
		.spontaneous = spontaneous_weight(g->selection, g->metrics[k]),
		.has_negative = has_negative,
		.depth_max = g->depth_max,
		.is_passed = g->passed ? growth_passed(g, k, arena) : NULL,
		.has_stacks = g->selection->profile->has_stacks,
	};
	return tree;
}

static struct entity_tree *growth_trees(struct growth *g, struct arena *arena)
{
	size_t entity_count = g->map->entities.count, count = g->metric_count;
	struct entity *entities = ARENA_ARRAY(arena, struct entity, entity_count);
	const struct entity_tree **others = ARENA_ARRAY(arena, const struct entity_tree *, count);
	struct entity_tree *tree = NULL;

	entity_nodes_rank(g->nodes.data, g->nodes.count, g->firsts.data);
	if (entity_count)
		memcpy(entities, g->map->entities.data, entity_count * sizeof(*entities));
	for (size_t k = count; k-- > 0;) {
		tree = growth_tree(g, k, entities, arena);
		if (k > 0)
			others[k - 1] = tree;
	}
	tree->others = others;
	tree->other_count = count - 1;
	return tree;
}

/* Filters leave stacks that are not those whose calls were counted. */
static void tree_add_arcs(struct entity_tree *tree, const struct selection *selection,
	const struct entity_map *map, struct arena *arena)
{
	const struct profile *p = selection->profile;

	if (map->of_function == NULL || (selection->step_count > 0 && p->has_stacks))
		return;
	struct entity_arc *arcs = ARENA_ARRAY(arena, struct entity_arc, p->arc_count);
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		arcs[i].caller = a->caller.i == NO_ID ? NO_ID : map->of_function[a->caller.i];
		arcs[i].callee = map->of_function[a->callee.i];
		arcs[i].calls = a->calls;
	}
	tree->arcs = arcs;
	tree->arc_count = p->arc_count;
}

struct entity_tree *entity_tree_create(
	const struct selection *selection, const struct entity_spec *spec, struct arena *arena)
{
	struct arena *scratch = arena_create();
	struct entity_map map;
	struct growth g;

	assert(spec->level < LEVEL_COUNT && spec->metric_count >= 1);
	for (size_t k = 0; k < spec->metric_count; k++)
		assert(spec->metrics[k].i < selection->profile->metric_count);
	entity_map_init(&map, selection->profile, spec, scratch, arena);
	growth_init(&g, selection, &map, spec);
	if (level_is_of_samples(spec->level)) {
		growth_run_samples(&g);
		growth_weigh_samples(&g);
	} else {
		growth_run(&g);
	}
	struct entity_tree *tree = growth_trees(&g, arena);
	tree_add_arcs(tree, selection, &map, arena);

	growth_deinit(&g);
	entity_map_deinit(&map);
	arena_destroy(scratch);
	return tree;
}

struct entity_tree *entity_tree_of(
	const struct profile *profile, enum level level, metric_id metric, struct arena *arena)
{
	return entity_tree_of_metrics(profile, level, &metric, 1, arena);
}

struct entity_tree *entity_tree_of_metrics(const struct profile *profile, enum level level,
	const metric_id *metrics, size_t count, struct arena *arena)
{
	struct entity_spec spec = {.level = level, .metrics = metrics, .metric_count = count};

	return entity_tree_create(selection_all(profile, arena), &spec, arena);
}
