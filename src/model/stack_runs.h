#ifndef SONDE_MODEL_STACK_RUNS_H
#define SONDE_MODEL_STACK_RUNS_H

/*
 * The stack tree as runs: stacks with consecutive numbers, each called from the one before it.  A
 * source makes stacks as it first sees them, so that a new one is a run of new callees below one
 * that was there: a tree has a tenth as many runs as stacks.  What is to be known of each stack
 * and changes along a run in steps of one, as its depth, is kept by run.
 *
 * Which run a stack is in follows from a bit for each stack, whether it begins one, and from the
 * number of such bits before each word (G. Jacobson, "Space-efficient Static Trees and Graphs",
 * 1989): 3 bits a stack, and 8 bytes a run.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/ids.h"

struct stack;

struct stack_runs {
	size_t count;		/* at least 1: run 0 is the empty stack alone, or goes on from it */
	const uint32_t *first;	/* [count + 1] ascending; the last is the number of stacks */
	const uint32_t *parent; /* [count] what its first stack is called from; of run 0: 0 */
	const uint64_t *begins; /* bit i % 64 of word i / 64: whether stack i begins a run */
	const uint32_t *before; /* [word] the bits that are set in the words before it */
};

/* Of stacks[count], parents before their children; lives in the arena. */
void stack_runs_make(
	struct stack_runs *runs, const struct stack *stacks, size_t count, struct arena *arena);

/* The run that a stack is in. */
static inline uint32_t stack_runs_find(const struct stack_runs *r, uint32_t stack)
{
	uint64_t up_to = UINT64_MAX >> (63 - stack % 64);

	return r->before[stack / 64] - 1 +
	       (uint32_t)__builtin_popcountll(r->begins[stack / 64] & up_to);
}

/* [run] how deep its first stack is, the empty one 0; to be freed with free(). */
must_use returns_owned uint32_t *stack_runs_depths(const struct stack_runs *r);

#endif
