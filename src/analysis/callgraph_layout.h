#ifndef SONDE_ANALYSIS_CALLGRAPH_LAYOUT_H
#define SONDE_ANALYSIS_CALLGRAPH_LAYOUT_H

/*
 * From arcs with figures to the call graph's entries and lines: numbering, order and sums, which
 * are the same whether the figures are exact (callgraph.c) or estimated.
 *
 * A caller with arcs first finds the units, then computes the times of each arc, then lays out:
 *
 * 	call_units_init(&units, &arcs);
 * 	... the figures of arcs, from the units ...
 * 	graph = callgraph_layout(&arcs, &units, figures, metric_count, arena);
 * 	call_units_deinit(&units);
 *
 * Everything else follows from entities' self and the times of the arcs between units: an entity's
 * children are the sum over the arcs that leave its unit from it, a cycle's figures are the sums
 * over its members.
 */

#include "analysis/callgraph.h"
#include "analysis/entity_pairs.h"

struct call_arcs {
	const struct entity *entities;
	size_t entity_count;
	/* In any order, each pair once.  Caller NO_ID: <spontaneous>; a callee may call itself. */
	const struct entity_pair *arcs;
	const struct callgraph_calls *calls; /* [arc]; NULL: no calls are known */
	size_t count;
	/* As the tree's: how many metrics order the rows, and whether by absolute value. */
	size_t order_count;
	bool is_difference;
};

static inline struct callgraph_calls call_arcs_calls(const struct call_arcs *arcs, size_t arc)
{
	return arcs->calls ? arcs->calls[arc] : (struct callgraph_calls){0};
}

/* Strongly connected components of the arcs.  An entity without arcs is a unit of its own. */
struct call_units {
	uint32_t *of;	/* [entity]: its unit */
	uint32_t *size; /* [unit]: members; a cycle has more than one */
	size_t count;	/* arcs between units go from a higher number to a lower one */
};

/* Tarjan's algorithm, with a stack of its own: chains of calls may be of any length. */
void call_units_init(struct call_units *units, const struct call_arcs *arcs);
void call_units_deinit(struct call_units *units);
/* Whether the arc comes from outside the callee's unit. */
bool call_units_crosses(const struct call_units *units, const struct entity_pair *arc);

/* What the callee's unit spent on behalf of the arc: in itself, and below it. */
struct call_times {
	int64_t self, children;
};

/* One metric's figures. */
struct call_figures {
	int64_t total;
	const int64_t *self;		/* [entity]: exclusive */
	const struct call_times *times; /* [arc]: zero for those within a unit */
};

/*
 * figures[count], count ≥ 1: the graph is of the first; the rest make its others.  limit: how many
 * entries get their lines, 0: all.  The graph lives in the arena and keeps no arguments but
 * arcs->entities.  is_estimated is left false.
 */
must_use struct callgraph *callgraph_layout(const struct call_arcs *arcs,
	const struct call_units *units, const struct call_figures *figures, size_t count,
	size_t limit, struct arena *arena);

#endif
