/*
 * The stack tree at one level of aggregation.
 *
 * The profile's stacks are a prefix tree of frames already; what remains is to let nodes meet that
 * differ in frames only, or at coarse levels in repeated neighbours only: groups of stacks.  They
 * are found in the order of stack ids, where a parent comes before its children and most often
 * right before; their places in pre-order follow from the sizes of subtrees.  Each step is a loop
 * over arrays that goes on, mostly, where it was; no tree is walked.  That is what makes millions
 * of stacks cheap.
 *
 * Siblings stand in order of first sight: by the least stack with weight that is shown in their
 * subtree.
 */
#include "analysis/entity_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/entity_map.h"
#include "base/alloc.h"
#include "base/child_table.h"

const char *const level_names[LEVEL_COUNT + 1] = {
	[LEVEL_FUNCTION] = "function",
	[LEVEL_MODULE] = "module",
	[LEVEL_FILE] = "file",
	[LEVEL_LINE] = "line",
	[LEVEL_INSTRUCTION] = "instruction",
	[LEVEL_THREAD] = "thread",
	[LEVEL_PROCESS] = "process",
	[LEVEL_ZONE] = "zone",
};

bool level_is_of_tasks(enum level level)
{
	return level == LEVEL_THREAD || level == LEVEL_PROCESS;
}

struct error *level_check(enum level level, const struct profile *profile)
{
	if (level == LEVEL_ZONE)
		return profile_needs_zones(profile);
	return level_is_of_tasks(level) ? profile_needs_threads(profile) : NULL;
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

/* The tree as it grows.  A group is what becomes one node; group 0 is the root. */
struct growth {
	const struct selection *selection;
	const struct entity_map *map;
	const metric_id *metrics;
	size_t metric_count;
	struct child_table groups; /* by entity */
	/* [group]: the first stack or sample with weight in it or below, NO_ID: none; at last its
	 * place among all of them */
	uint32_t *first;
	int64_t **weight;     /* [metric][group] */
	bool **passed;	      /* the same: whether there is any; NULL with one metric */
	uint32_t *place;      /* [group]: its node */
	uint32_t *zone_group; /* [stack], at LEVEL_ZONE: as entity_tree.zone_node, of groups */
	uint32_t depth_max;
};

static void growth_init(struct growth *g, const struct selection *selection,
	const struct entity_map *map, const struct entity_spec *spec)
{
	*g = (struct growth){.selection = selection,
		.map = map,
		.metrics = spec->metrics,
		.metric_count = spec->metric_count};
	child_table_init(
		&g->groups, level_is_of_tasks(map->level) ? 0 : selection->profile->stack_count);
}

static void growth_deinit(struct growth *g)
{
	for (size_t k = 0; k < g->metric_count; k++) {
		free(g->weight[k]);
		if (g->passed)
			free(g->passed[k]);
	}
	free(g->weight);
	free(g->passed);
	free(g->first);
	free(g->place);
	free(g->zone_group);
	child_table_deinit(&g->groups);
}

/* Room for what is known of groups, when all are there. */
static void growth_ready(struct growth *g)
{
	size_t count = g->groups.nodes.count;

	g->first = xcalloc(count, sizeof(*g->first));
	for (size_t i = 0; i < count; i++)
		g->first[i] = NO_ID;
	g->weight = xcalloc(g->metric_count, sizeof(*g->weight));
	g->passed = g->metric_count > 1 ? xcalloc(g->metric_count, sizeof(*g->passed)) : NULL;
	for (size_t k = 0; k < g->metric_count; k++) {
		g->weight[k] = xcalloc(count, sizeof(**g->weight));
		if (g->passed)
			g->passed[k] = xcalloc(count, sizeof(**g->passed));
	}
}

/* The weight of stack or sample `index`, which is shown in that group. */
static void growth_weigh(struct growth *g, size_t k, uint32_t group, uint32_t index, int64_t weight)
{
	if (weight == 0)
		return;
	g->weight[k][group] += weight;
	if (index < g->first[group])
		g->first[group] = index;
	if (g->passed)
		g->passed[k][group] = true;
}

/* [stack]: whether anything is shown there. */
static bool *stacks_used(const struct growth *g)
{
	const struct selection *s = g->selection;
	uint32_t count = (uint32_t)s->profile->stack_count;
	bool *used = xcalloc(count, sizeof(*used));

	for (size_t k = 0; k < g->metric_count; k++) {
		const int64_t *weight = s->weight[g->metrics[k].i];

		for (uint32_t i = 0; i < count; i++)
			if (weight[i] != 0 && SHOWN_IS_STACK(s->shown[i]))
				used[s->shown[i]] = true;
	}
	return used;
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
	case LEVEL_ZONE:
	case LEVEL_COUNT:
		break;
	}
	return false;
}

/* [stack]: the group of each one that is used, itself or below; takes `used`. */
static uint32_t *growth_group(struct growth *g, bool *used)
{
	const struct selection *s = g->selection;
	const struct profile *p = s->profile;
	uint32_t *group = xcalloc(p->stack_count, sizeof(*group));
	bool added;

	for (size_t i = p->stack_count; i-- > 1;)
		if (used[i])
			used[s->parent[i]] = true;
	for (uint32_t i = 1; i < p->stack_count; i++) {
		if (!used[i])
			continue;
		frame_id frame = p->stacks[i].frame;
		uint32_t parent = group[s->parent[i]], entity = g->map->of_frame[frame.i];

		if (entity == g->groups.nodes.data[parent].key &&
			joins_parent(g->map, &p->frames[frame.i]))
			group[i] = parent;
		else
			group[i] = child_table_at(&g->groups, parent, entity, &added);
	}
	free(used);
	return group;
}

static void growth_run(struct growth *g)
{
	const struct selection *s = g->selection;
	uint32_t *group = growth_group(g, stacks_used(g));

	growth_ready(g);
	for (size_t k = 0; k < g->metric_count; k++) {
		const int64_t *weight = s->weight[g->metrics[k].i];

		for (uint32_t i = 0; i < s->profile->stack_count; i++)
			if (SHOWN_IS_STACK(s->shown[i]))
				growth_weigh(g, k, group[s->shown[i]], i, weight[i]);
	}
	free(group);
}

/* The thread of a sample that is shown, or NO_ID. */
static uint32_t sample_entity(const struct growth *g, size_t sample)
{
	if (!selection_shows_sample(g->selection, sample))
		return NO_ID;
	return g->map->of_thread[g->selection->profile->samples.thread[sample].i];
}

static bool sample_has_weight(const struct growth *g, size_t sample)
{
	const struct samples *samples = &g->selection->profile->samples;

	for (size_t k = 0; k < g->metric_count; k++)
		if (samples->weight[g->metrics[k].i][sample] != 0)
			return true;
	return false;
}

/* Samples by thread or process: one node each. */
static void growth_run_samples(struct growth *g)
{
	const struct samples *samples = &g->selection->profile->samples;
	bool added;

	for (uint32_t i = 0; i < samples->count; i++) {
		uint32_t entity = sample_entity(g, i);

		if (entity != NO_ID && sample_has_weight(g, i))
			(void)child_table_at(&g->groups, 0, entity, &added);
	}
	growth_ready(g);
	for (uint32_t i = 0; i < samples->count; i++) {
		uint32_t entity = sample_entity(g, i);

		for (size_t k = 0; k < g->metric_count && entity != NO_ID; k++) {
			int64_t weight = samples->weight[g->metrics[k].i][i];

			if (weight != 0)
				growth_weigh(g, k, child_table_at(&g->groups, 0, entity, &added), i,
					weight);
		}
	}
}

/* [stack]: whether samples that are shown were taken in that zone stack; [0]: in none at all. */
static bool *zones_used(const struct growth *g)
{
	const struct selection *s = g->selection;
	bool *used = xcalloc(s->profile->stack_count, sizeof(*used));

	for (size_t i = 0; i < s->profile->samples.count; i++)
		if (selection_shows_sample(s, i) && sample_has_weight(g, i))
			used[selection_zone(s, i)] |=
				selection_zone(s, i) != 0 || selection_whole_zone(s, i) == 0;
	return used;
}

/* Zones that are all hidden have left their samples at the root. */
static uint32_t sample_zone_group(const struct growth *g, size_t sample)
{
	const struct selection *s = g->selection;
	uint32_t zone = selection_zone(s, sample);

	return zone == 0 && selection_whole_zone(s, sample) != 0 ? 0 : g->zone_group[zone];
}

/* Samples by their zone stacks; what was taken in none is an entity, too. */
static void growth_run_zones(struct growth *g)
{
	const struct selection *s = g->selection;
	const struct samples *samples = &s->profile->samples;
	bool *used = zones_used(g), added, any_outside = used[0];

	g->zone_group = growth_group(g, used);
	if (any_outside)
		g->zone_group[0] = child_table_at(&g->groups, 0, g->map->no_zone, &added);
	growth_ready(g);
	for (uint32_t i = 0; i < samples->count; i++)
		for (size_t k = 0; k < g->metric_count && selection_shows_sample(s, i); k++)
			growth_weigh(g, k, sample_zone_group(g, i), i,
				samples->weight[g->metrics[k].i][i]);
}

/* Makes each of firsts[count] its rank among them; the same ones stand in order. */
static void firsts_rank(uint32_t *firsts, size_t count)
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
		firsts[i] = at[firsts[i]]++;
	free(at);
}

void entity_nodes_rank(struct entity_node *nodes, size_t count, uint32_t *firsts)
{
	firsts_rank(firsts, count);
	for (size_t i = 0; i < count; i++)
		nodes[i].first_seen = firsts[i];
}

static void growth_rank(struct growth *g)
{
	const struct child *group = g->groups.nodes.data;
	size_t count = g->groups.nodes.count;

	for (size_t i = count; i-- > 1;)
		if (g->first[i] < g->first[group[i].parent])
			g->first[group[i].parent] = g->first[i];
	firsts_rank(g->first, count);
}

/* The most steps from the root to a group. */
static uint32_t groups_depth(const struct child *group, size_t count)
{
	uint32_t *depth = xcalloc(count, sizeof(*depth)), most = 0;

	for (size_t i = 1; i < count; i++) {
		depth[i] = depth[group[i].parent] + 1;
		most = depth[i] > most ? depth[i] : most;
	}
	free(depth);
	return most;
}

/*
 * Places in pre-order.  A subtree takes as many as it has nodes; as groups are passed in the order
 * of first sight, and so after their parents, each gets the next one that its parent has left.
 */
static void growth_place(struct growth *g)
{
	const struct child *group = g->groups.nodes.data;
	size_t count = g->groups.nodes.count;
	uint32_t *order = xcalloc(count, sizeof(*order));
	uint32_t *next = xcalloc(count, sizeof(*next)); /* the size, until its place is known */

	for (uint32_t i = 0; i < count; i++)
		order[g->first[i]] = i;
	for (size_t i = count; i-- > 1;)
		next[group[i].parent] += ++next[i];
	g->place = xcalloc(count, sizeof(*g->place));
	next[0] = 1;
	for (size_t k = 1; k < count; k++) {
		uint32_t i = order[k], size = next[i];

		g->place[i] = next[group[i].parent];
		next[group[i].parent] += size;
		next[i] = g->place[i] + 1;
	}
	free(order);
	free(next);
}

bool entity_nodes_finish(struct entity_node *nodes, size_t count)
{
	bool has_negative = false;

	for (size_t i = count; i-- > 0;) {
		struct entity_node *n = &nodes[i], *parent = i > 0 ? &nodes[n->parent] : n;

		has_negative |= n->weight < 0;
		n->weight_below += n->weight;
		/* The last child, which is passed first, ends where its parent does. */
		if (n->end == 0)
			n->end = (uint32_t)i + 1;
		if (i == 0)
			break;
		if (parent->end == 0)
			parent->end = n->end;
		parent->weight_below += n->weight_below;
	}
	return has_negative;
}

/* For struct entity_tree's is_passed. */
static bool *growth_passed(
	const struct growth *g, size_t k, const struct entity_node *nodes, struct arena *arena)
{
	size_t count = g->groups.nodes.count;
	bool *passed = ARENA_ARRAY(arena, bool, count);

	for (size_t i = 0; i < count; i++)
		passed[g->place[i]] = g->passed[k][i];
	for (size_t i = count; i-- > 1;)
		if (passed[i])
			passed[nodes[i].parent] = true;
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

static struct entity_node *growth_nodes(const struct growth *g, size_t k, struct arena *arena)
{
	size_t count = g->groups.nodes.count;
	struct entity_node *nodes = ARENA_ARRAY(arena, struct entity_node, count);

	for (size_t i = 0; i < count; i++) {
		const struct child *group = &g->groups.nodes.data[i];
		struct entity_node *n = &nodes[g->place[i]];

		n->parent = i > 0 ? g->place[group->parent] : NO_ID;
		n->entity = group->key;
		n->first_seen = g->first[i];
		n->weight = g->weight[k][i];
	}
	return nodes;
}

/* The tree with one metric's weights. */
static struct entity_tree *growth_tree(
	const struct growth *g, size_t k, const struct entity *entities, struct arena *arena)
{
	struct entity_tree *tree = ARENA_NEW(arena, struct entity_tree);
	size_t count = g->groups.nodes.count;
	struct entity_node *nodes = growth_nodes(g, k, arena);
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
		.is_passed = g->passed ? growth_passed(g, k, nodes, arena) : NULL,
		.has_stacks = g->selection->profile->has_stacks,
	};
	return tree;
}

/* [stack]: the node of each zone stack. */
static uint32_t *growth_zone_nodes(const struct growth *g, struct arena *arena)
{
	size_t count = g->selection->profile->stack_count;
	uint32_t *node = ARENA_ARRAY(arena, uint32_t, count);

	for (size_t i = 0; i < count; i++)
		node[i] = g->place[g->zone_group[i]];
	return node;
}

static struct entity_tree *growth_trees(struct growth *g, struct arena *arena)
{
	size_t entity_count = g->map->entities.count, count = g->metric_count;
	struct entity *entities = ARENA_ARRAY(arena, struct entity, entity_count);
	const struct entity_tree **others = ARENA_ARRAY(arena, const struct entity_tree *, count);
	struct entity_tree *tree = NULL;

	growth_rank(g);
	growth_place(g);
	g->depth_max = groups_depth(g->groups.nodes.data, g->groups.nodes.count);
	if (entity_count)
		memcpy(entities, g->map->entities.data, entity_count * sizeof(*entities));
	for (size_t k = count; k-- > 0;) {
		tree = growth_tree(g, k, entities, arena);
		if (k > 0)
			others[k - 1] = tree;
	}
	tree->others = others;
	tree->other_count = count - 1;
	if (g->zone_group)
		tree->zone_node = growth_zone_nodes(g, arena);
	return tree;
}

/* [entity]: whether it has a node. */
static bool *tree_entities(const struct entity_tree *tree)
{
	bool *has_node = xcalloc(tree->entity_count, sizeof(*has_node));

	for (size_t i = 1; i < tree->node_count; i++)
		has_node[tree->nodes[i].entity] = true;
	return has_node;
}

/* Code runs in zones, and its profile is none of theirs: they are in it where they have weight. */
static bool is_zone(const struct profile *p, function_id function)
{
	object_id object = p->functions[function.i].object;

	return object.i != NO_ID && p->objects[object.i].kind == OBJECT_ZONE;
}

/* A function that is a zone may have been called from one that is none, which is nobody here. */
static uint32_t arc_caller(const struct profile *p, const struct entity_map *map,
	const struct arc *a, const bool *has_node)
{
	uint32_t caller = a->caller.i == NO_ID ? NO_ID : map->of_function[a->caller.i];

	return caller != NO_ID && is_zone(p, a->caller) && !has_node[caller] ? NO_ID : caller;
}

/* Filters leave stacks that are not those whose calls were counted. */
static void tree_add_arcs(struct entity_tree *tree, const struct selection *selection,
	const struct entity_map *map, struct arena *arena)
{
	const struct profile *p = selection->profile;

	if (map->of_function == NULL ||
		(selection->step_count > 0 && (p->has_stacks || p->arc_cost)))
		return;
	struct entity_arc *arcs = ARENA_ARRAY(arena, struct entity_arc, p->arc_count);
	bool *has_node = tree_entities(tree);
	size_t count = 0;
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];
		uint32_t callee = map->of_function[a->callee.i];

		if (is_zone(p, a->callee) && !has_node[callee])
			continue;
		arcs[count++] = (struct entity_arc){.caller = arc_caller(p, map, a, has_node),
			.callee = callee,
			.calls = a->calls};
	}
	free(has_node);
	tree->arcs = arcs;
	tree->arc_count = count;
}

/* Of a profile without stacks, in which no arc was left out for being a zone's. */
static void tree_add_costs(
	struct entity_tree *tree, const struct profile *p, const struct entity_spec *spec)
{
	if (p->has_stacks || p->arc_cost == NULL || tree->arc_count != p->arc_count)
		return;
	tree->arc_cost = p->arc_cost[spec->metrics[0].i];
	for (size_t k = 0; k < tree->other_count; k++) {
		/* Made here, a moment ago. */
		struct entity_tree *other = (struct entity_tree *)(uintptr_t)tree->others[k];

		other->arc_cost = p->arc_cost[spec->metrics[k + 1].i];
	}
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
	if (level_is_of_tasks(spec->level))
		growth_run_samples(&g);
	else if (spec->level == LEVEL_ZONE)
		growth_run_zones(&g);
	else
		growth_run(&g);
	struct entity_tree *tree = growth_trees(&g, arena);

	tree->is_difference = spec->is_difference;
	tree_add_arcs(tree, selection, &map, arena);
	tree_add_costs(tree, selection->profile, spec);

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
