/*
 * The stack tree at one level of aggregation.
 *
 * Made in three steps: entity_map.c decides which frames are the same, entity_growth.c which stacks
 * share a node, and entity_layout.c puts these in pre-order.
 *
 * Siblings are in the order in which they are first seen: by the lowest stack with weight that is
 * shown in their subtree; under filters that keep some samples, by the first of these.
 */
#include "analysis/entity_tree.h"

#include <assert.h>
#include <stdlib.h>

#include "analysis/entity_growth.h"
#include "base/alloc.h"

const char *const level_names[LEVEL_COUNT + 1] = {
	[LEVEL_FUNCTION] = "function",
	[LEVEL_MODULE] = "module",
	[LEVEL_FILE] = "file",
	[LEVEL_LINE] = "line",
	[LEVEL_INSTRUCTION] = "instruction",
	[LEVEL_THREAD] = "thread",
	[LEVEL_PROCESS] = "process",
	[LEVEL_CPU] = "cpu",
	[LEVEL_ZONE] = "zone",
};

bool level_is_of_tasks(enum level level)
{
	return level == LEVEL_THREAD || level == LEVEL_PROCESS || level == LEVEL_CPU;
}

struct error *level_check(enum level level, const struct profile *profile)
{
	if (level == LEVEL_ZONE)
		return profile_needs_zones(profile);
	if (level == LEVEL_CPU)
		return profile_needs_label(profile, STR("cpu"));
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

struct str entity_label_apart(const struct entity *e, struct strbuf *scratch)
{
	struct str label = entity_label(e, scratch);

	if (e->apart.size == 0)
		return label;
	if (label.data == e->name.data) {
		strbuf_clear(scratch);
		strbuf_add(scratch, label);
	}
	strbuf_printf(scratch, " (%.*s)", STR_ARG(e->apart));
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

uint32_t entity_tree_measure_depth(const struct entity_tree *tree)
{
	const struct tree_runs *r = &tree->runs;
	uint32_t *depth = tree_runs_depths(r), most = 0;

	for (size_t i = 0; i < r->count; i++)
		if (depth[i] + (r->first[i + 1] - r->first[i] - 1) > most)
			most = depth[i] + (r->first[i + 1] - r->first[i] - 1);
	free(depth);
	return most;
}

bool entity_nodes_sum(int64_t *before, size_t count)
{
	bool has_negative = false;

	for (size_t i = 1; i <= count; i++) {
		has_negative |= before[i] < 0;
		before[i] += before[i - 1];
	}
	return has_negative;
}

/*
 * [node] the lowest `seen` in it or below; *most, the highest, if there is none, as in an empty
 * tree.
 */
static uint32_t *seen_below(const struct entity_tree *tree, uint32_t *most)
{
	uint32_t *seen = xcalloc(tree->node_count, sizeof(*seen)), end = tree->ends.count;

	*most = 0;
	for (uint32_t i = 0; i < end; i++)
		*most = tree->seen[i] > *most ? tree->seen[i] : *most;
	for (uint32_t i = 0; i < tree->node_count; i++)
		seen[i] = *most;
	for (uint32_t i = (uint32_t)tree->node_count; i-- > 0;) {
		uint32_t parent = entity_tree_parent(tree, i);

		if (rank_set_has(&tree->ends, i) && tree->seen[--end] < seen[i])
			seen[i] = tree->seen[end];
		if (seen[i] < seen[parent])
			seen[parent] = seen[i];
	}
	return seen;
}

/* Nodes first seen together lie on one path, so they stay in the order of numbers. */
uint32_t *entity_tree_first_seen(const struct entity_tree *tree)
{
	uint32_t most, *seen = seen_below(tree, &most);
	uint32_t *at = xcalloc((size_t)most + 2, sizeof(*at));

	for (size_t i = 0; i < tree->node_count; i++)
		at[seen[i] + 1]++;
	for (size_t i = 1; i <= most; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < tree->node_count; i++)
		seen[i] = at[seen[i]]++;
	free(at);
	return seen;
}

/*
 * How many nodes have no weight in them or below.  Of a run, the first ones have, up to its last
 * end with weight or the last that another run with weight begins from.
 */
static size_t count_empty(const struct entity_tree *tree)
{
	const struct tree_runs *r = &tree->runs;
	uint32_t *reached =
		xcalloc(r->count, sizeof(*reached)); /* [run]: one past these; 0: none */
	size_t full = 0;

	reached[0] = 1;
	for (uint32_t i = rank_set_next(&tree->ends, 0), end = 0, run = 0; end < tree->ends.count;
		i = rank_set_next(&tree->ends, i + 1), end++) {
		while (r->first[run + 1] <= i)
			run++;
		if (tree->before[end + 1] != tree->before[end])
			reached[run] = i + 1;
	}
	for (size_t i = r->count; i-- > 0;) {
		if (reached[i] == 0)
			continue;
		uint32_t *above = &reached[tree_runs_find(r, r->parent[i])];

		full += reached[i] - r->first[i];
		if (*above < r->parent[i] + 1)
			*above = r->parent[i] + 1;
	}
	free(reached);
	return tree->node_count - full;
}

static int64_t spontaneous_weight(const struct selection *s, metric_id metric)
{
	int64_t weight = 0;

	for (uint32_t i = 0; s->shown && i < s->profile->stack_count; i++)
		if (s->shown[i] == SHOWN_SPONTANEOUS)
			weight += s->row_weight[metric.i][profile_row(s->profile, i)];
	return weight;
}

/* A tree for each metric, without arcs. */
static struct entity_tree *growth_trees(const struct growth *g, struct arena *arena)
{
	size_t count = g->spec->metric_count;
	struct entity_tree **trees = ARENA_ARRAY(arena, struct entity_tree *, count);

	for (size_t k = 0; k < count; k++) {
		trees[k] = ARENA_NEW(arena, struct entity_tree);
		*trees[k] = (struct entity_tree){
			.entities = g->map->entities.data,
			.entity_count = g->map->entities.count,
			.total = g->selection->total[g->spec->metrics[k].i],
			.spontaneous = spontaneous_weight(g->selection, g->spec->metrics[k]),
			.has_stacks = g->selection->profile->has_stacks,
		};
	}
	if (!growth_sum(g, trees, arena))
		growth_lay_out(g, trees, arena);
	trees[0]->others = (const struct entity_tree *const *)trees + 1;
	trees[0]->other_count = count - 1;
	trees[0]->order_count = g->spec->order_count ? g->spec->order_count : count;
	return trees[0];
}

/* [entity]: whether it has a node. */
static bool *tree_entities(const struct entity_tree *tree)
{
	bool *has_node = xcalloc(tree->entity_count, sizeof(*has_node));

	for (size_t i = 1; i < tree->node_count; i++)
		has_node[tree->entity[i]] = true;
	return has_node;
}

/* Code runs in zones, and its profile is not about them: they are in it if they have weight. */
static bool is_zone(const struct profile *p, function_id function)
{
	object_id object = p->functions[function.i].object;

	return object.i != NO_ID && p->objects[object.i].kind == OBJECT_ZONE;
}

/* A function that is a zone may have been called from one that is not, which is unknown here. */
static uint32_t arc_caller(const struct profile *p, const struct entity_map *map,
	const struct arc *a, const bool *has_node)
{
	uint32_t caller = a->caller.i == NO_ID ? NO_ID : map->of_function[a->caller.i];

	return caller != NO_ID && is_zone(p, a->caller) && !has_node[caller] ? NO_ID : caller;
}

/* After filtering, the remaining stacks no longer match the call counts. */
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

/* For a profile without stacks, in which no arc was left out for belonging to a zone. */
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
	struct entity_tree *tree = growth_trees(&g, arena);

	tree->is_difference = spec->is_difference;
	tree_add_arcs(tree, selection, &map, arena);
	tree_add_costs(tree, selection->profile, spec);

	growth_deinit(&g);
	arena_destroy(scratch);
	return tree;
}

struct entity_tree *entity_tree_weigh(const struct entity_tree *tree,
	const struct selection *selection, metric_id metric, struct arena *arena)
{
	struct entity_tree *out = ARENA_NEW(arena, struct entity_tree);
	int64_t *before = ARENA_ARRAY(arena, int64_t, (size_t)tree->ends.count + 1);
	const int64_t *weight = selection->row_weight[metric.i];

	assert(tree->row_end && tree->other_count == 0 && !tree->has_negative);
	for (size_t row = 0; row < selection->profile->row_count; row++)
		if (tree->row_end[row] != NO_ID)
			before[tree->row_end[row] + 1] += weight[row];
	*out = *tree;
	out->has_negative = entity_nodes_sum(before, tree->ends.count);
	assert(!out->has_negative);
	out->before = before;
	out->total = selection->total[metric.i];
	out->spontaneous = spontaneous_weight(selection, metric);
	out->arcs = NULL;
	out->arc_cost = NULL;
	out->arc_count = 0;
	out->empty_count = count_empty(out);
	return out;
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
