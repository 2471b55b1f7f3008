#ifndef SONDE_TESTS_SLOW_SLOW_ANALYSIS_H
#define SONDE_TESTS_SLOW_SLOW_ANALYSIS_H

/*
 * Every analysis once more, word by word from its definition and as plainly as can be: each stack
 * is written out and played alone, names are looked for from the start of a list.  What the fast
 * ones must agree with.
 */

#include "analysis/calltree.h"
#include "base/vec.h"

/* Stacks of names; a name is an index into `names`. */
struct slow_stack {
	uint32_t depth;
	uint32_t *names; /* [depth], root first */
	int64_t weight;	 /* not 0 */
};

struct slow_stacks {
	struct arena *arena;
	VEC(struct entity) names;
	VEC(struct slow_stack) stacks; /* in order of first sight */
};

struct slow_stacks *slow_stacks_create(const struct profile *p, enum level level, metric_id metric);
void slow_stacks_destroy(struct slow_stacks *s);
/* The k-th occurrence in a stack becomes a name of its own. */
void slow_stacks_spread(struct slow_stacks *s);
/* The name that means the entity, or NO_ID. */
uint32_t slow_stacks_find(const struct slow_stacks *s, const struct entity *e);

int64_t slow_total(const struct slow_stacks *s);
int64_t slow_exclusive(const struct slow_stacks *s, uint32_t name);
int64_t slow_inclusive(const struct slow_stacks *s, uint32_t name);
/* Weight of the stacks in which some name stands twice. */
int64_t slow_recursive(const struct slow_stacks *s);

/* Rows as struct calltree has them, but with a name in place of the entity. */
struct slow_calltree {
	VEC(struct calltree_row) rows;
	VEC(struct calltree_stub) stubs;
};

struct slow_calltree *slow_calltree_create(
	const struct slow_stacks *s, enum collapse collapse, enum calltree_order order);
void slow_calltree_destroy(struct slow_calltree *t);

#endif
