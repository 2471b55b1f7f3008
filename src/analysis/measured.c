/*
 * Measured costs of calls, and the inclusive figures that follow from them.
 */
#include "analysis/measured.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"

static uint32_t taken_for(const uint32_t *same, uint32_t entity)
{
	return same && entity != NO_ID ? same[entity] : entity;
}

static int compare_ranked(const void *a, const void *b, void *entities)
{
	const struct entity *e = entities;

	return entity_compare(&e[*(const uint32_t *)a], &e[*(const uint32_t *)b]);
}

/* [entity]: its rank by entity_compare, from 1; an unknown caller comes before all. */
static uint32_t *ranks(const struct entity_tree *tree)
{
	uint32_t *order = xcalloc(tree->entity_count, sizeof(*order));
	uint32_t *rank = xcalloc(tree->entity_count, sizeof(*rank));

	for (uint32_t i = 0; i < tree->entity_count; i++)
		order[i] = i;
	if (tree->entity_count)
		qsort_r(order, tree->entity_count, sizeof(*order), compare_ranked,
			(void *)(uintptr_t)tree->entities);
	for (uint32_t i = 0; i < tree->entity_count; i++)
		rank[order[i]] = i + 1;
	free(order);
	return rank;
}

static uint64_t rank_of(const uint32_t *rank, uint32_t entity)
{
	return entity == NO_ID ? 0 : rank[entity];
}

/* Shares are rounded from arc to arc, so the order must be the same for equal profiles. */
static struct sort_item *sorted_places(const struct entity_tree *tree)
{
	struct sort_item *places = xcalloc(tree->arc_count, sizeof(*places));
	uint32_t *rank = ranks(tree);

	for (uint32_t i = 0; i < tree->arc_count; i++) {
		const struct entity_arc *a = &tree->arcs[i];

		places[i] = (struct sort_item){
			rank_of(rank, a->callee) << 32 | rank_of(rank, a->caller), i};
	}
	sort_items(places, tree->arc_count);
	free(rank);
	return places;
}

/*
 * The arcs of the tree, each pair once; weight without a caller needs none (callgraph_measured.c).
 */
static void add_arcs(struct measured *m, const uint32_t *same)
{
	const struct entity_arc *arcs = m->tree->arcs;
	struct sort_item *places = sorted_places(m->tree);
	struct map pairs = {0};
	bool added;

	for (size_t k = 0; k < m->metric_count; k++)
		m->cost[k] = xcalloc(m->tree->arc_count, sizeof(**m->cost));
	for (size_t i = 0; i < m->tree->arc_count; i++) {
		const struct entity_arc *a = &arcs[places[i].index];
		if (a->caller == NO_ID)
			continue;
		uint32_t caller = taken_for(same, a->caller), callee = taken_for(same, a->callee);
		uint32_t at = *map_at(&pairs, caller, callee, (uint32_t)m->arcs.count, &added);

		if (added) {
			vec_push(&m->arcs, (struct entity_pair){caller, callee});
			vec_push(&m->calls, (struct callgraph_calls){0});
		}
		m->calls.data[at].count += a->calls;
		m->has_calls |= a->calls > 0;
		for (size_t k = 0; k < m->metric_count; k++)
			m->cost[k][at] += measured_tree(m, k)->arc_cost[places[i].index];
	}
	for (size_t i = 0; i < m->arcs.count; i++)
		m->calls.data[i].is_known = m->has_calls;
	map_deinit(&pairs);
	free(places);
}

static void add_self(struct measured *m, size_t metric, const uint32_t *same)
{
	const struct entity_tree *tree = measured_tree(m, metric);

	m->self[metric] = xcalloc(tree->entity_count, sizeof(**m->self));
	for (uint32_t i = 1; i < tree->node_count; i++)
		m->self[metric][taken_for(same, tree->entity[i])] += entity_tree_weight(tree, i);
}

/* Sums over an entity's arcs, without those to itself. */
struct around {
	int64_t out, out_of_unit, in, into_unit;
};

static struct around *sum_around(const struct measured *m, size_t metric)
{
	struct around *around = xcalloc(m->tree->entity_count, sizeof(*around));

	for (size_t i = 0; i < m->arcs.count; i++) {
		const struct entity_pair *a = &m->arcs.data[i];
		int64_t cost = m->cost[metric][i];
		bool crosses = call_units_crosses(&m->units, a);

		if (a->caller == a->callee)
			continue;
		around[a->callee].in += cost;
		around[a->callee].into_unit += crosses ? cost : 0;
		around[a->caller].out += cost;
		around[a->caller].out_of_unit += crosses ? cost : 0;
	}
	return around;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* A member of a cycle: whole is the cycle's inclusive weight, rest the part without a caller. */
static int64_t bound(
	const struct around *a, int64_t self, int64_t whole, int64_t rest, bool *is_bound)
{
	int64_t at_least = self + a->out_of_unit;
	int64_t at_most = least(whole, least(self + a->out, a->in + rest));

	at_most = most(at_most, at_least);
	*is_bound |= at_most > most(at_least, a->into_unit);
	return at_most;
}

static void add_inclusive(struct measured *m, size_t metric)
{
	struct around *around = sum_around(m, metric);
	int64_t *whole = xcalloc(m->units.count, sizeof(*whole));
	int64_t *called_for = xcalloc(m->units.count, sizeof(*called_for));
	int64_t *inclusive = xcalloc(m->tree->entity_count, sizeof(*inclusive));

	for (size_t i = 0; i < m->tree->entity_count; i++) {
		whole[m->units.of[i]] += m->self[metric][i] + around[i].out_of_unit;
		called_for[m->units.of[i]] += around[i].into_unit;
	}
	for (size_t i = 0; i < m->tree->entity_count; i++) {
		uint32_t unit = m->units.of[i];

		inclusive[i] = whole[unit];
		if (m->units.size[unit] > 1)
			inclusive[i] = bound(&around[i], m->self[metric][i], whole[unit],
				most(whole[unit] - called_for[unit], 0), &m->is_bound[i]);
	}
	m->inclusive[metric] = inclusive;
	free(around);
	free(whole);
	free(called_for);
}

/* Each side has its bound, and the change is their difference. */
static void subtract(struct measured *m)
{
	for (size_t i = 0; i < m->tree->entity_count; i++)
		m->inclusive[0][i] = m->inclusive[2][i] - m->inclusive[1][i];
}

void measured_init(struct measured *m, const struct entity_tree *tree, const uint32_t *same)
{
	*m = (struct measured){.tree = tree, .metric_count = tree->other_count + 1};
	m->cost = xcalloc(m->metric_count, sizeof(*m->cost));
	m->self = xcalloc(m->metric_count, sizeof(*m->self));
	m->inclusive = xcalloc(m->metric_count, sizeof(*m->inclusive));
	m->is_bound = xcalloc(tree->entity_count, sizeof(*m->is_bound));
	add_arcs(m, same);
	m->view = (struct call_arcs){.entities = tree->entities,
		.entity_count = tree->entity_count,
		.arcs = m->arcs.data,
		.calls = m->calls.data,
		.count = m->arcs.count,
		.order_count = tree->order_count,
		.is_difference = tree->is_difference};
	call_units_init(&m->units, &m->view);
	for (size_t k = 0; k < m->metric_count; k++) {
		add_self(m, k, same);
		add_inclusive(m, k);
	}
	if (measured_is_difference(m))
		subtract(m);
}

void measured_deinit(struct measured *m)
{
	for (size_t k = 0; k < m->metric_count; k++) {
		free(m->cost[k]);
		free(m->self[k]);
		free(m->inclusive[k]);
	}
	free(m->cost);
	free(m->self);
	free(m->inclusive);
	free(m->is_bound);
	vec_deinit(&m->arcs);
	vec_deinit(&m->calls);
	call_units_deinit(&m->units);
}
