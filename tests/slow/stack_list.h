#ifndef SONDE_TESTS_SLOW_STACK_LIST_H
#define SONDE_TESTS_SLOW_STACK_LIST_H

/* A profile as a plain list of stacks, each written out: what sums of profiles must agree with. */

#include "base/arena.h"
#include "base/vec.h"
#include "model/profile.h"

struct stack_line {
	struct str path;
	int64_t weight;
};

struct stack_list {
	struct arena *arena;
	VEC(struct stack_line) lines;
};

/* Adds sign times what the stacks weigh in the metric of that name, if there is one. */
void stack_list_add(
	struct stack_list *list, const struct profile *p, struct str metric, int64_t sign);
/* Then: one line a stack, in the order of the texts, none of weight 0.  Free with vec_deinit. */
void stack_list_sum(struct stack_list *list);

#endif
