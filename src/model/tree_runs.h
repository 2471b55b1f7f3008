#ifndef SONDE_MODEL_TREE_RUNS_H
#define SONDE_MODEL_TREE_RUNS_H

/*
 * The parents of a tree whose nodes are numbered so that most are the child of the node before
 * them, kept by run: nodes with consecutive numbers, each the child of the one before it.  A
 * profile's stacks are numbered as they are first seen, and an entity tree's nodes in pre-order; in
 * both, a new stack is one run of new callees below a node that was there, and a tree has about a
 * tenth as many runs as nodes.  Finding a parent takes two bits and a comparison, and a value that
 * changes along a run in steps of one, such as the depth, is kept by run.
 *
 * The set of nodes that begin a run gives the run of any node (base/rank_set.h): 1.5 bits a node,
 * and 8 bytes a run.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/rank_set.h"
#include "base/vec.h"

struct tree_runs {
	size_t count;	       /* at least 1: run 0 begins with the root, node 0 */
	const uint32_t *first; /* [count + 1] ascending; the last is the number of nodes */
	const uint32_t
		*parent; /* [count] of its first node, never the node before it; of run 0: 0 */
	struct rank_set begins; /* the nodes that begin a run */
};

/*
 * parent(context, i) returns the parent of node i, less than i.  It is called for i from 1 to count
 * - 1, in this order, twice.  Lives in the arena.
 */
void tree_runs_make(struct tree_runs *runs, size_t count,
	uint32_t (*parent)(const void *context, uint32_t i), const void *context,
	struct arena *arena);

/* The same while nodes are added.  A zeroed one is empty. */
struct run_list {
	VEC(uint32_t) first, parent; /* [run] */
};
/* Begins a run; of the first one, node and parent are 0. */
static inline void run_list_begin(struct run_list *l, uint32_t node, uint32_t parent)
{
	vec_push(&l->first, node);
	vec_push(&l->parent, parent);
}
void run_list_deinit(struct run_list *l);
/* Makes the runs of a tree of count nodes, in the arena; empties the list. */
void tree_runs_take(
	struct tree_runs *runs, struct run_list *list, size_t count, struct arena *arena);

/* The run that a node is in. */
static inline uint32_t tree_runs_find(const struct tree_runs *r, uint32_t node)
{
	return rank_set_below(&r->begins, node) + rank_set_has(&r->begins, node) - 1;
}

/* The parent of a node; of the root: 0. */
static inline uint32_t tree_runs_parent(const struct tree_runs *r, uint32_t node)
{
	return rank_set_has(&r->begins, node) ? r->parent[rank_set_below(&r->begins, node)]
					      : node - 1;
}

/* [run] the depth of its first node, the root's being 0; to be freed with free(). */
must_use returns_owned uint32_t *tree_runs_depths(const struct tree_runs *r);

#endif
