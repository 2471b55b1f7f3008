#ifndef SONDE_ANALYSIS_MEASURED_H
#define SONDE_ANALYSIS_MEASURED_H

/*
 * Inclusive weight in profiles without stacks that know what each call cost, from call to return
 * (callgrind; semantics.md, "Calls without stacks").
 *
 * An entity's inclusive weight is its own plus the cost of its calls to others.  That is exact,
 * without calls to itself, for an entity outside cycles; and for a cycle as a whole, by the calls
 * that leave it.  Within a cycle a call's cost includes that of calls further in, so it counts some
 * work several times: there a member's inclusive weight is a bound.  It is the least of these upper
 * bounds:
 *
 * the cycle's inclusive weight, its own and all its calls of others, all calls of it, and the part
 * of the cycle's without a caller,
 *
 * and at least its own plus its calls out of the cycle.  If calls into the cycle at this member
 * cost as much, as they do at a cycle's only entry, the bound is the weight itself.
 */

#include "analysis/callgraph_layout.h"
#include "base/vec.h"

struct measured {
	const struct entity_tree *tree;
	size_t metric_count;		   /* including the others' */
	VEC(struct entity_pair) arcs;	   /* each pair once, by callee and caller */
	VEC(struct callgraph_calls) calls; /* [arc] */
	struct call_arcs view;		   /* of arcs, for users of the shared layout */
	struct call_units units;
	int64_t **cost;		     /* [metric][arc] */
	int64_t **self, **inclusive; /* [metric][entity] */
	bool *is_bound;		     /* [entity]: inclusive is a bound, in some metric */
	bool has_calls;
};

/*
 * tree->arc_cost must be set.  same[entity]: the entity that it counts as, which then gets its
 * weight and its calls; NULL: each is itself.  In a difference the first metric is the third minus
 * the second.  Linear in entities and arcs, except for sorting.
 */
void measured_init(struct measured *m, const struct entity_tree *tree, const uint32_t *same);
void measured_deinit(struct measured *m);

static inline const struct entity_tree *measured_tree(const struct measured *m, size_t metric)
{
	return metric == 0 ? m->tree : m->tree->others[metric - 1];
}
/* Whether the first metric of the tree is the third minus the second. */
static inline bool measured_is_difference(const struct measured *m)
{
	return m->tree->is_difference && m->metric_count == 3;
}
/* The share of weight for the part of a whole between done and done + part. */
static inline int64_t measured_share(int64_t weight, __int128 done, int64_t part, __int128 whole)
{
	return whole == 0 ? 0 : (int64_t)(weight * (done + part) / whole - weight * done / whole);
}

/* The call graph by measured costs; as callgraph_analyse, with is_measured set. */
must_use struct callgraph *callgraph_measured(const struct entity_tree *tree, struct arena *arena);

#endif
