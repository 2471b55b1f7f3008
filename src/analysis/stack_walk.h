#ifndef SONDE_ANALYSIS_STACK_WALK_H
#define SONDE_ANALYSIS_STACK_WALK_H

/*
 * A walk over the profile's own stack tree, frame by frame, for what entity trees leave out: lines,
 * addresses, inlined calls.
 *
 *	stack_walk_init(&walk, profile, &stacks);
 *	while ((stack = stack_walk_next(&walk, leave, context)) != NO_ID)
 *		… every stack after its parent, in pre-order …
 *	stack_walk_deinit(&walk);
 */

#include <stddef.h>
#include <stdint.h>

#include "analysis/selection.h"
#include "base/arena.h"
#include "base/vec.h"
#include "model/profile.h"

/* The stacks to look at: the profile's, or what filters make of them. */
struct stack_weights {
	/*
	 * [stack] The nearest caller that counts, below its own index; NULL: the profile's parent.
	 */
	const uint32_t *parent;
	size_t metric_count;
	const int64_t *const *weight; /* [metric][stack] of the stacks that end there */
	const int64_t *total;	      /* [metric] the base of percentages */
};

/* What a selection shows, with the weights of metrics[count].  Lives in the arena. */
must_use struct stack_weights stack_weights_of(const struct selection *selection,
	const metric_id *metrics, size_t count, struct arena *arena);

/* The nearest caller that counts. */
static inline uint32_t stack_weights_parent(
	const struct stack_weights *s, const struct profile *profile, uint32_t stack)
{
	return s->parent ? s->parent[stack] : profile_stack_parent(profile, stack);
}

struct stack_walk {
	uint32_t *first_child, *sibling; /* [stack]; 0: none */
	const struct profile *profile;
	const struct stack_weights *stacks;
	VEC(uint32_t) path; /* from the root to the walk's current stack */
	uint32_t next;	    /* 0: the walk is over */
};

void stack_walk_init(
	struct stack_walk *w, const struct profile *profile, const struct stack_weights *stacks);
void stack_walk_deinit(struct stack_walk *w);
/*
 * Advances to the next stack, never the empty one, and returns it, or NO_ID at the end.  First
 * calls leave for each stack that the walk is done with, innermost first.
 */
uint32_t stack_walk_next(
	struct stack_walk *w, void (*leave)(void *context, uint32_t stack), void *context);

/* [stack] The weights in that metric of all stacks that end there or further in; to be freed. */
int64_t *stack_weights_below(
	const struct profile *profile, const struct stack_weights *stacks, size_t metric);
/*
 * [stack] Whether stacks with weight in any metric end there or further in; sums do not show it, as
 * weights may cancel.  To be freed.
 */
bool *stack_weights_passed(const struct profile *profile, const struct stack_weights *stacks);

#endif
