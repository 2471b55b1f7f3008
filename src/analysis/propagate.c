/*
 * Weight along counted arcs, from callees to callers.
 *
 * Source: Graham, Kessler, McKusick, "gprof: a Call Graph Execution Profiler" (SIGPLAN 1982),
 * sections 3 and 4; the gprof manual, "How to Interpret Call Graph".
 */
#include "analysis/propagate.h"

#include <stdlib.h>

#include "analysis/callgraph_layout.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"

/* An arc and its calls, until arcs are in order. */
struct counted_arc {
	struct entity_pair pair;
	uint64_t calls;
};

struct propagation {
	const struct entity_tree *tree;
	VEC(struct entity_pair) arcs;
	VEC(struct callgraph_calls) calls; /* [arc] */
	struct call_arcs view;		   /* of both, for the shared layout */
	struct call_units units;
	uint32_t *begin;       /* [unit]: where its arcs begin in incoming, and one more */
	uint32_t *incoming;    /* arcs from outside, by the callee's unit */
	uint64_t *unit_calls;  /* [unit]: calls along these */
	uint64_t *inner_calls; /* [entity]: from its own unit, except from itself */
	uint32_t *unit_entry;  /* [unit]: the member by which it is entered if it has no callers */
};

static int compare_entities(const struct entity *entities, uint32_t x, uint32_t y)
{
	if (x == NO_ID || y == NO_ID)
		return (x != NO_ID) - (y != NO_ID);
	return entity_compare(&entities[x], &entities[y]);
}

static int compare_arcs(const void *a, const void *b, void *entities)
{
	const struct counted_arc *x = a, *y = b;
	int order = compare_entities(entities, x->pair.callee, y->pair.callee);

	return order ? order : compare_entities(entities, x->pair.caller, y->pair.caller);
}

/*
 * The counted arcs, each pair once, in order: shares are rounded from arc to arc, so the order must
 * be the same for equal profiles.
 */
static void add_counted(struct propagation *p, const struct entity_arc *counted, size_t count)
{
	VEC(struct counted_arc) sums = {0};
	struct map arcs = {0};
	bool added;

	for (size_t i = 0; i < count; i++) {
		/*
		 * Zero calls from an unknown caller mean nothing, and would merge with the arcs of
		 * add_spontaneous.
		 */
		if (counted[i].caller == NO_ID && counted[i].calls == 0)
			continue;
		uint32_t at = *map_at(
			&arcs, counted[i].caller, counted[i].callee, (uint32_t)sums.count, &added);
		if (added)
			vec_push(&sums, (struct counted_arc){
						.pair = {counted[i].caller, counted[i].callee}});
		sums.data[at].calls += counted[i].calls;
	}
	map_deinit(&arcs);
	if (sums.count)
		qsort_r(sums.data, sums.count, sizeof(*sums.data), compare_arcs,
			(void *)(uintptr_t)p->tree->entities);
	for (size_t i = 0; i < sums.count; i++) {
		vec_push(&p->arcs, sums.data[i].pair);
		vec_push(&p->calls, (struct callgraph_calls){true, sums.data[i].calls});
	}
	vec_deinit(&sums);
}

static void refresh_view(struct propagation *p)
{
	p->view = (struct call_arcs){.entities = p->tree->entities,
		.entity_count = p->tree->entity_count,
		.arcs = p->arcs.data,
		.calls = p->calls.data,
		.count = p->arcs.count,
		.order_count = p->tree->order_count,
		.is_difference = p->tree->is_difference};
}

static void count_calls(struct propagation *p)
{
	p->unit_calls = xcalloc(p->units.count, sizeof(*p->unit_calls));
	p->inner_calls = xcalloc(p->tree->entity_count, sizeof(*p->inner_calls));
	for (size_t i = 0; i < p->arcs.count; i++) {
		const struct entity_pair *a = &p->arcs.data[i];

		if (call_units_crosses(&p->units, a))
			p->unit_calls[p->units.of[a->callee]] += p->calls.data[i].count;
		else if (a->caller != a->callee)
			p->inner_calls[a->callee] += p->calls.data[i].count;
	}
}

/* In a cycle without callers, the member that the others called least: perhaps main. */
static void find_entries(struct propagation *p)
{
	p->unit_entry = xcalloc(p->units.count, sizeof(*p->unit_entry));
	for (size_t i = 0; i < p->units.count; i++)
		p->unit_entry[i] = NO_ID;
	for (uint32_t e = 0; e < p->tree->entity_count; e++) {
		uint32_t *entry = &p->unit_entry[p->units.of[e]];

		if (*entry == NO_ID || p->inner_calls[e] < p->inner_calls[*entry] ||
			(p->inner_calls[e] == p->inner_calls[*entry] &&
				entity_compare(&p->tree->entities[e], &p->tree->entities[*entry]) <
					0))
			*entry = e;
	}
}

/* A unit that was not called from outside is called by <spontaneous>. */
static void add_spontaneous(struct propagation *p)
{
	for (size_t unit = 0; unit < p->units.count; unit++)
		if (p->unit_calls[unit] == 0) {
			vec_push(&p->arcs, (struct entity_pair){
						   .caller = NO_ID, .callee = p->unit_entry[unit]});
			vec_push(&p->calls, (struct callgraph_calls){0});
		}
	refresh_view(p);
}

/* A counting sort of the arcs from outside by their callee's unit. */
static void sort_incoming(struct propagation *p)
{
	p->begin = xcalloc(p->units.count + 2, sizeof(*p->begin));
	p->incoming = xcalloc(p->arcs.count + 1, sizeof(*p->incoming));
	for (size_t i = 0; i < p->arcs.count; i++)
		if (call_units_crosses(&p->units, &p->arcs.data[i]))
			p->begin[p->units.of[p->arcs.data[i].callee] + 2]++;
	for (size_t i = 2; i < p->units.count + 2; i++)
		p->begin[i] += p->begin[i - 1];
	/* Filling moves begin[unit + 1] from where its arcs begin to where they end. */
	for (uint32_t i = 0; i < p->arcs.count; i++)
		if (call_units_crosses(&p->units, &p->arcs.data[i]))
			p->incoming[p->begin[p->units.of[p->arcs.data[i].callee] + 1]++] = i;
}

static int64_t portion(int64_t weight, uint64_t part, uint64_t parts)
{
	return (int64_t)((__int128)weight * part / parts);
}

/* Distributes a unit's figures among the arcs to it; adds them up at their callers' units. */
static void share_out(const struct propagation *p, uint32_t unit, struct call_times *sums,
	struct call_times *times)
{
	const struct call_times whole = sums[unit];
	bool was_called = p->unit_calls[unit] > 0;
	uint64_t calls = was_called ? p->unit_calls[unit] : 1, done = 0;

	for (uint32_t i = p->begin[unit]; i < p->begin[unit + 1]; i++) {
		const struct entity_pair *a = &p->arcs.data[p->incoming[i]];
		struct callgraph_calls counted = p->calls.data[p->incoming[i]];
		/* An arc from <spontaneous> gets everything, arcs without calls get nothing. */
		uint64_t until = done + (was_called ? counted.count : !counted.is_known);
		struct call_times *t = &times[p->incoming[i]];

		t->self = portion(whole.self, until, calls) - portion(whole.self, done, calls);
		t->children = portion(whole.children, until, calls) -
			      portion(whole.children, done, calls);
		if (a->caller != NO_ID)
			sums[p->units.of[a->caller]].children += t->self + t->children;
		done = until;
	}
}

/* One metric's figures; the caller frees their two arrays. */
static struct call_figures propagate(const struct propagation *p, const struct entity_tree *tree)
{
	int64_t *self = xcalloc(tree->entity_count, sizeof(*self));
	struct call_times *times = xcalloc(p->arcs.count, sizeof(*times));
	struct call_times *sums = xcalloc(p->units.count, sizeof(*sums)); /* [unit] */

	for (uint32_t i = 1; i < tree->node_count; i++)
		self[tree->entity[i]] += entity_tree_weight(tree, i);
	for (size_t i = 0; i < tree->entity_count; i++)
		sums[p->units.of[i]].self += self[i];
	/* Arcs go from higher units to lower ones. */
	for (uint32_t unit = 0; unit < p->units.count; unit++)
		share_out(p, unit, sums, times);
	free(sums);
	return (struct call_figures){.total = tree->total, .self = self, .times = times};
}

static struct callgraph *lay_out(const struct propagation *p, struct arena *arena)
{
	size_t metric_count = p->tree->other_count + 1;
	struct call_figures *figures = xcalloc(metric_count, sizeof(*figures));

	for (size_t k = 0; k < metric_count; k++)
		figures[k] = propagate(p, k ? p->tree->others[k - 1] : p->tree);
	struct callgraph *graph =
		callgraph_layout(&p->view, &p->units, figures, metric_count, 0, arena);
	for (size_t k = 0; k < metric_count; k++) {
		free((void *)figures[k].self);
		free((void *)figures[k].times);
	}
	free(figures);
	graph->is_estimated = true;
	return graph;
}

struct callgraph *callgraph_propagate(const struct entity_tree *tree,
	const struct entity_arc *counted, size_t count, struct arena *arena)
{
	struct propagation p = {.tree = tree};

	add_counted(&p, counted, count);
	refresh_view(&p);
	call_units_init(&p.units, &p.view);
	count_calls(&p);
	find_entries(&p);
	add_spontaneous(&p);
	sort_incoming(&p);
	struct callgraph *graph = lay_out(&p, arena);
	call_units_deinit(&p.units);
	vec_deinit(&p.arcs);
	vec_deinit(&p.calls);
	free(p.begin);
	free(p.incoming);
	free(p.unit_calls);
	free(p.inner_calls);
	free(p.unit_entry);
	return graph;
}
