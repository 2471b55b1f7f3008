/*
 * A walk over the stack tree in pre-order, without recursion: the tree knows parents only, so first
 * children and siblings are linked up, in order of the stacks' ids.
 */
#include "analysis/stack_walk.h"

#include <stdlib.h>

#include "base/alloc.h"

static const int64_t *shown_weights(
	const struct selection *s, metric_id metric, struct arena *arena)
{
	int64_t *weight = ARENA_ARRAY(arena, int64_t, s->profile->stack_count);

	for (uint32_t i = 0; i < s->profile->stack_count; i++)
		if (SHOWN_IS_STACK(selection_shown(s, i)))
			weight[selection_shown(s, i)] += selection_weight(s, metric.i, i);
	return weight;
}

struct stack_weights stack_weights_of(const struct selection *selection, const metric_id *metrics,
	size_t count, struct arena *arena)
{
	const int64_t **weight = ARENA_ARRAY(arena, const int64_t *, count);
	int64_t *total = ARENA_ARRAY(arena, int64_t, count);

	for (size_t m = 0; m < count; m++) {
		weight[m] = shown_weights(selection, metrics[m], arena);
		total[m] = selection->total[metrics[m].i];
	}
	return (struct stack_weights){.parent = selection->parent,
		.metric_count = count,
		.weight = weight,
		.total = total};
}

void stack_walk_init(
	struct stack_walk *w, const struct profile *profile, const struct stack_weights *stacks)
{
	*w = (struct stack_walk){.profile = profile, .stacks = stacks};
	w->first_child = xcalloc(profile->stack_count, sizeof(*w->first_child));
	w->sibling = xcalloc(profile->stack_count, sizeof(*w->sibling));
	for (uint32_t i = (uint32_t)profile->stack_count - 1; i > 0; i--) {
		uint32_t parent = stack_weights_parent(stacks, profile, i);

		w->sibling[i] = w->first_child[parent];
		w->first_child[parent] = i;
	}
	w->next = w->first_child[0];
}

void stack_walk_deinit(struct stack_walk *w)
{
	free(w->first_child);
	free(w->sibling);
	vec_deinit(&w->path);
}

uint32_t stack_walk_next(
	struct stack_walk *w, void (*leave)(void *context, uint32_t stack), void *context)
{
	uint32_t stack = w->next;
	uint32_t parent = stack ? stack_weights_parent(w->stacks, w->profile, stack) : 0;

	while (w->path.count && w->path.data[w->path.count - 1] != parent)
		leave(context, w->path.data[--w->path.count]);
	if (stack == 0)
		return NO_ID;
	vec_push(&w->path, stack);
	w->next = w->first_child[stack];
	for (uint32_t up = stack; w->next == 0 && up != 0;
		up = stack_weights_parent(w->stacks, w->profile, up))
		w->next = w->sibling[up];
	return stack;
}

int64_t *stack_weights_below(
	const struct profile *profile, const struct stack_weights *stacks, size_t metric)
{
	int64_t *below = xcalloc(profile->stack_count, sizeof(*below));

	for (uint32_t i = (uint32_t)profile->stack_count; i-- > 0;) {
		below[i] += stacks->weight[metric][i];
		if (i > 0)
			below[stack_weights_parent(stacks, profile, i)] += below[i];
	}
	return below;
}

bool *stack_weights_passed(const struct profile *profile, const struct stack_weights *stacks)
{
	bool *passed = xcalloc(profile->stack_count, sizeof(*passed));

	for (uint32_t i = (uint32_t)profile->stack_count; i-- > 0;) {
		for (size_t m = 0; m < stacks->metric_count && !passed[i]; m++)
			passed[i] = stacks->weight[m][i] != 0;
		if (i > 0 && passed[i])
			passed[stack_weights_parent(stacks, profile, i)] = true;
	}
	return passed;
}
