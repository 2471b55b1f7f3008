/*
 * The call graph of a profile whose calls have measured costs.
 *
 * An arc's cost is what the callee's unit spent on its behalf, in itself and below it.  The
 * division between the two was not measured, so it is split in the same proportion as the unit's
 * total. Weight of a unit that no call accounts for goes to <spontaneous>, so callers sum to self +
 * children exactly.
 */
#include "analysis/measured.h"

#include <stdlib.h>

#include "base/alloc.h"

struct graph {
	const struct measured *m;
	/* The measured ones, then one from <spontaneous> to each unit; and their calls. */
	VEC(struct entity_pair) arcs;
	VEC(struct callgraph_calls) calls;
};

/*
 * [unit]: the member that spontaneous calls enter: the one with the least cost of calls from
 * others.
 */
static uint32_t *find_entries(const struct measured *m)
{
	uint32_t *entry = xcalloc(m->units.count, sizeof(*entry));
	int64_t *inner = xcalloc(m->tree->entity_count, sizeof(*inner));

	for (size_t i = 0; i < m->arcs.count; i++)
		if (!call_units_crosses(&m->units, &m->arcs.data[i]))
			inner[m->arcs.data[i].callee] += m->cost[0][i];
	for (size_t i = 0; i < m->units.count; i++)
		entry[i] = NO_ID;
	for (uint32_t e = 0; e < m->tree->entity_count; e++) {
		uint32_t *best = &entry[m->units.of[e]];
		const struct entity *entities = m->tree->entities;

		if (*best == NO_ID || inner[e] < inner[*best] ||
			(inner[e] == inner[*best] &&
				entity_compare(&entities[e], &entities[*best]) < 0))
			*best = e;
	}
	free(inner);
	return entry;
}

static void graph_init(struct graph *g, const struct measured *m)
{
	uint32_t *entry = find_entries(m);

	*g = (struct graph){.m = m};
	for (size_t i = 0; i < m->arcs.count; i++) {
		vec_push(&g->arcs, m->arcs.data[i]);
		vec_push(&g->calls, m->calls.data[i]);
	}
	for (size_t u = 0; u < m->units.count; u++) {
		vec_push(&g->arcs, (struct entity_pair){.caller = NO_ID, .callee = entry[u]});
		vec_push(&g->calls, (struct callgraph_calls){0});
	}
	free(entry);
}

/* A unit's figures, while they are distributed. */
struct unit_sum {
	struct call_times whole, left;
	__int128 done;
};

static struct unit_sum *sum_units(const struct measured *m, size_t metric)
{
	struct unit_sum *units = xcalloc(m->units.count, sizeof(*units));

	for (size_t i = 0; i < m->tree->entity_count; i++)
		units[m->units.of[i]].whole.self += m->self[metric][i];
	for (size_t i = 0; i < m->arcs.count; i++) {
		const struct entity_pair *a = &m->arcs.data[i];

		if (call_units_crosses(&m->units, a))
			units[m->units.of[a->caller]].whole.children += m->cost[metric][i];
	}
	for (size_t u = 0; u < m->units.count; u++)
		units[u].left = units[u].whole;
	return units;
}

/* One metric's times of all arcs; the caller frees them. */
static struct call_times *share_out(const struct graph *g, size_t metric)
{
	const struct measured *m = g->m;
	struct unit_sum *units = sum_units(m, metric);
	struct call_times *times = xcalloc(g->arcs.count, sizeof(*times));

	for (size_t i = 0; i < g->arcs.count; i++) {
		const struct entity_pair *a = &g->arcs.data[i];
		struct unit_sum *u = &units[m->units.of[a->callee]];
		bool is_measured = i < m->arcs.count;
		int64_t cost = is_measured ? m->cost[metric][i] : u->left.self + u->left.children;

		if (!call_units_crosses(&m->units, a))
			continue;
		__int128 whole = (__int128)u->whole.self + u->whole.children;
		times[i].self = is_measured ? measured_share(u->whole.self, u->done, cost, whole)
					    : u->left.self;
		times[i].children = cost - times[i].self;
		u->done += cost;
		u->left.self -= times[i].self;
		u->left.children -= times[i].children;
	}
	free(units);
	return times;
}

static void subtract(
	const struct graph *g, const struct call_times *const *times, struct call_times *difference)
{
	for (size_t i = 0; i < g->arcs.count; i++) {
		difference[i].self = times[2][i].self - times[1][i].self;
		difference[i].children = times[2][i].children - times[1][i].children;
	}
}

static struct callgraph *lay_out(const struct graph *g, struct arena *arena)
{
	const struct measured *m = g->m;
	struct call_figures *figures = xcalloc(m->metric_count, sizeof(*figures));
	struct call_times **times = xcalloc(m->metric_count, sizeof(*times));
	struct call_arcs arcs = m->view;

	arcs.arcs = g->arcs.data;
	arcs.calls = g->calls.data;
	arcs.count = g->arcs.count;
	for (size_t k = 0; k < m->metric_count; k++) {
		times[k] = share_out(g, k);
		figures[k] = (struct call_figures){
			.total = measured_tree(m, k)->total, .self = m->self[k], .times = times[k]};
	}
	if (measured_is_difference(m))
		subtract(g, (const struct call_times *const *)times, times[0]);
	struct callgraph *graph =
		callgraph_layout(&arcs, &m->units, figures, m->metric_count, 0, arena);
	for (size_t k = 0; k < m->metric_count; k++)
		free(times[k]);
	free(times);
	free(figures);
	return graph;
}

struct callgraph *callgraph_measured(const struct entity_tree *tree, struct arena *arena)
{
	struct measured m;
	struct graph g;

	measured_init(&m, tree, NULL);
	graph_init(&g, &m);
	struct callgraph *graph = lay_out(&g, arena);
	graph->is_measured = true;
	vec_deinit(&g.arcs);
	vec_deinit(&g.calls);
	measured_deinit(&m);
	return graph;
}
