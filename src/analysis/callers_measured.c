/*
 * Callers and callees of profiles without stacks, from measured costs of calls.
 *
 * For a centre outside all cycles, each line is the measured cost.  In a cycle, costs of calls
 * between members overlap; what remains of the centre's inclusive weight (measured.h) without the
 * other lines is shared among them in proportion to their costs.  <Total> has what unknown callers
 * cost.  So both equations hold, in integers.
 */
#include "analysis/callers_walk.h"

#include <stdlib.h>

#include "analysis/measured.h"
#include "base/alloc.h"

/* The weight for lines between members of a cycle, for one centre and side. */
struct pool {
	int64_t weight; /* left for these lines */
	__int128 cost, done;
};

struct fill {
	struct callers_walk *walk;
	const struct measured *m;
	uint32_t centre;    /* the only one, NO_ID: each is one */
	struct pool *pools; /* [entity * SIDE_COUNT + side] */
};

static bool is_inner(const struct fill *f, const struct entity_pair *a)
{
	return !call_units_crosses(&f->m->units, a);
}

/* For one metric: the part of each entity's inclusive weight that is left for its cycle. */
static void pools_init(struct fill *f, size_t metric)
{
	const struct measured *m = f->m;

	memset(f->pools, 0, m->tree->entity_count * SIDE_COUNT * sizeof(*f->pools));
	for (size_t i = 0; i < m->tree->entity_count; i++) {
		f->pools[i * SIDE_COUNT + SIDE_CALLERS].weight = m->inclusive[metric][i];
		f->pools[i * SIDE_COUNT + SIDE_CALLEES].weight =
			m->inclusive[metric][i] - m->self[metric][i];
	}
	for (size_t i = 0; i < m->arcs.count; i++) {
		const struct entity_pair *a = &m->arcs.data[i];
		struct pool *callers = &f->pools[a->callee * SIDE_COUNT + SIDE_CALLERS];
		struct pool *callees = &f->pools[a->caller * SIDE_COUNT + SIDE_CALLEES];
		int64_t cost = m->cost[metric][i];

		if (a->caller == a->callee)
			continue;
		if (is_inner(f, a)) {
			callers->cost += cost;
			callees->cost += cost;
		} else {
			callers->weight -= cost;
			callees->weight -= cost;
		}
	}
}

/* What a line between members shows. */
static int64_t pool_take(struct pool *p, int64_t cost, bool may_leave)
{
	/* Callers may cost less than the remaining weight: <Total> has the rest. */
	int64_t weight = may_leave && p->cost < p->weight ? (int64_t)p->cost : p->weight;
	int64_t share = measured_share(weight, p->done, cost, p->cost);

	p->done += cost;
	return share;
}

static uint64_t *line_at(struct fill *f, uint32_t from, uint32_t to, enum callers_side side)
{
	uint32_t edge = callers_walk_edge_at(f->walk, from, to);

	return &f->walk->attributed.data[((size_t)edge * SIDE_COUNT + side) * f->walk->width];
}

static uint32_t as_centre(const struct fill *f, uint32_t entity)
{
	return entity == f->centre ? EDGE_CENTRE : entity;
}

/* A line, not recursive: as if one stack passed along it. */
static void put(struct fill *f, uint32_t from, uint32_t to, enum callers_side side, size_t metric,
	int64_t weight)
{
	uint64_t *line = line_at(f, from, to, side);

	line[metric] = (uint64_t)weight;
	line[f->walk->metric_count] = 1;
}

static void put_arc(struct fill *f, const struct entity_pair *a, size_t metric, int64_t cost)
{
	uint32_t from = as_centre(f, a->caller), to = as_centre(f, a->callee);
	int64_t of_callee = cost, of_caller = cost;

	if (a->caller == a->callee) {
		/* A call to itself, in both lists: without weight, and marked. */
		(void)line_at(f, a->caller, to, SIDE_CALLERS);
		(void)line_at(f, from, a->callee, SIDE_CALLEES);
		return;
	}
	if (is_inner(f, a)) {
		of_callee = pool_take(&f->pools[a->callee * SIDE_COUNT + SIDE_CALLERS], cost, true);
		of_caller =
			pool_take(&f->pools[a->caller * SIDE_COUNT + SIDE_CALLEES], cost, false);
	}
	put(f, a->caller, to, SIDE_CALLERS, metric, of_callee);
	put(f, from, a->callee, SIDE_CALLEES, metric, of_caller);
}

/* Each entity's line from <Total>: what no caller has. */
static void put_total(struct fill *f, size_t metric)
{
	for (uint32_t i = 0; i < f->m->tree->entity_count; i++) {
		const struct pool *p = &f->pools[i * SIDE_COUNT + SIDE_CALLERS];
		int64_t rest = p->cost < p->weight ? p->weight - (int64_t)p->cost
			       : p->cost == 0	   ? p->weight
						   : 0;

		if (rest != 0)
			put(f, NO_ID, as_centre(f, i), SIDE_CALLERS, metric, rest);
	}
}

static void fill_metric(struct fill *f, size_t metric)
{
	const struct measured *m = f->m;
	size_t count = f->walk->metric_count;

	pools_init(f, metric);
	for (size_t i = 0; i < m->arcs.count; i++)
		put_arc(f, &m->arcs.data[i], metric, m->cost[metric][i]);
	put_total(f, metric);
	for (uint32_t i = 0; i < m->tree->entity_count; i++) {
		size_t centre = f->centre == NO_ID ? i : 0;

		if (f->centre != NO_ID && f->centre != i)
			continue;
		f->walk->exclusive[centre * count + metric] = (uint64_t)m->self[metric][i];
		f->walk->inclusive[centre * count + metric] = (uint64_t)m->inclusive[metric][i];
	}
}

/* The first metric of a difference is the third minus the second, line by line. */
static void subtract(struct callers_walk *w)
{
	for (size_t i = 0; i < w->attributed.count; i += w->width)
		w->attributed.data[i] = w->attributed.data[i + 2] - w->attributed.data[i + 1];
	for (size_t i = 0; i < w->centre_count * w->metric_count; i += w->metric_count) {
		w->exclusive[i] = w->exclusive[i + 2] - w->exclusive[i + 1];
		w->inclusive[i] = w->inclusive[i + 2] - w->inclusive[i + 1];
	}
}

/* All entities of a centre count as the first of them, *first. */
static uint32_t *taken_for_first(const struct callers_walk *w, uint32_t *first)
{
	size_t count = w->tree->entity_count;
	uint32_t *same = xcalloc(count, sizeof(*same));

	*first = NO_ID;
	for (uint32_t i = 0; i < count; i++) {
		same[i] = i;
		if (w->centre == NULL || w->centre->places[i] == 0)
			continue;
		if (*first == NO_ID)
			*first = i;
		same[i] = *first;
	}
	return same;
}

void callers_walk_measured(struct callers_walk *w)
{
	struct fill f = {.walk = w};
	uint32_t *same = taken_for_first(w, &f.centre);
	struct measured m;

	measured_init(&m, w->tree, same);
	f.m = &m;
	f.pools = xcalloc(w->tree->entity_count * SIDE_COUNT, sizeof(*f.pools));
	for (size_t k = 0; k < w->metric_count; k++)
		fill_metric(&f, k);
	if (measured_is_difference(&m))
		subtract(w);
	free(f.pools);
	free(same);
	measured_deinit(&m);
}
