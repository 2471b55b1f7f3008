/*
 * Calls with their costs: those of the arcs, or found in one walk over the stack tree, which keeps
 * for each pair of functions how often it is on the path.
 */
#include "formats/callgrind/writer_calls.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/common/stack_order.h"

struct walk {
	const struct profile *p;
	struct stack_order order;
	uint32_t *pair;	       /* [row]: of its function and its caller's; NO_ID: there is none */
	struct map pairs;      /* (caller, callee) → pair */
	struct map places;     /* (pair, caller's frame) → call */
	VEC(uint32_t) on_path; /* [pair]: how often */
	VEC(uint32_t) first_call; /* [pair] */
	uint32_t *path;		  /* [level]: row */
	VEC(struct callgrind_call) calls;
	VEC(int64_t) cost;
	int64_t *below;		 /* [stack * metric_count + metric] */
	uint64_t *samples_below; /* [stack]; NULL: not known */
};

static void sum_below(struct walk *w)
{
	const struct profile *p = w->p;
	size_t metrics = p->metric_count;

	w->below = xcalloc(p->stack_count * metrics, sizeof(*w->below));
	w->samples_below =
		p->row_samples ? xcalloc(p->stack_count, sizeof(*w->samples_below)) : NULL;
	for (size_t i = p->stack_count; i-- > 0;) {
		uint32_t parent = p->stacks[i].parent.i;

		for (size_t m = 0; m < metrics; m++) {
			w->below[i * metrics + m] += profile_weight(p, m, i);
			if (i)
				w->below[parent * metrics + m] += w->below[i * metrics + m];
		}
		if (w->samples_below) {
			w->samples_below[i] += profile_samples(p, i);
			if (i)
				w->samples_below[parent] += w->samples_below[i];
		}
	}
}

static uint32_t pair_at(struct walk *w, function_id caller, function_id callee)
{
	bool added;
	uint32_t pair = *map_at(&w->pairs, caller.i, callee.i, (uint32_t)w->on_path.count, &added);

	if (added) {
		vec_push(&w->on_path, 0);
		vec_push(&w->first_call, NO_ID);
	}
	return pair;
}

static uint32_t call_at(
	struct walk *w, uint32_t pair, function_id caller, function_id callee, frame_id place)
{
	bool added;
	uint32_t call = *map_at(&w->places, pair, place.i, (uint32_t)w->calls.count, &added);

	if (!added)
		return call;
	if (w->first_call.data[pair] == NO_ID)
		w->first_call.data[pair] = call;
	vec_push(&w->calls, (struct callgrind_call){caller, callee, place, 0});
	for (size_t m = 0; m < w->p->metric_count; m++)
		vec_push(&w->cost, 0);
	return call;
}

/* The walk comes to a stack from the one that it is called from. */
static void enter(struct walk *w, uint32_t row)
{
	const struct profile *p = w->p;
	uint32_t stack = w->order.stack[row], parent = p->stacks[stack].parent.i;
	frame_id place = p->stacks[parent].frame;
	function_id callee = p->frames[p->stacks[stack].frame.i].function;

	w->pair[row] = NO_ID;
	if (parent == 0)
		return;
	function_id caller = p->frames[place.i].function;
	uint32_t pair = w->pair[row] = pair_at(w, caller, callee);
	if (w->on_path.data[pair]++ > 0)
		return;
	uint32_t call = call_at(w, pair, caller, callee, place);
	if (w->samples_below)
		w->calls.data[call].count += w->samples_below[stack];
	for (size_t m = 0; m < p->metric_count && caller.i != callee.i; m++)
		w->cost.data[call * p->metric_count + m] += w->below[stack * p->metric_count + m];
}

static void walk_stacks(struct walk *w)
{
	uint32_t depth = 0;

	for (uint32_t row = 1; row < w->order.count; row++) {
		uint32_t level = w->order.level[row];

		for (; depth >= level; depth--)
			if (w->pair[w->path[depth]] != NO_ID)
				w->on_path.data[w->pair[w->path[depth]]]--;
		depth = level;
		w->path[level] = row;
		enter(w, row);
	}
}

/* The first place of a pair has all its calls but one for each other place, which called once at
 * least. */
static void set_count(struct walk *w, uint32_t pair, uint64_t calls, uint64_t places)
{
	w->calls.data[w->first_call.data[pair]].count = calls > places ? calls - (places - 1) : 1;
}

/* Calls that were counted take the place of samples. */
static void set_counts(struct walk *w)
{
	const struct profile *p = w->p;
	uint64_t *places;

	if (p->arc_count == 0)
		return;
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		uint32_t pair = pair_at(w, a->caller, a->callee);
		if (w->first_call.data[pair] == NO_ID)
			(void)call_at(w, pair, a->caller, a->callee, (frame_id){NO_ID});
	}
	places = xcalloc(w->first_call.count, sizeof(*places));
	for (size_t i = 0; i < w->calls.count; i++) {
		w->calls.data[i].count = 1;
		places[pair_at(w, w->calls.data[i].caller, w->calls.data[i].callee)]++;
	}
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		uint32_t pair = pair_at(w, a->caller, a->callee);
		set_count(w, pair, a->calls, places[pair]);
	}
	free(places);
}

static void add_stacks(struct walk *w)
{
	uint32_t *rank = xcalloc(w->p->frame_count, sizeof(*rank));

	for (uint32_t i = 0; i < w->p->frame_count; i++)
		rank[i] = i;
	stack_order_init(&w->order, w->p, rank);
	free(rank);
	w->pair = xcalloc(w->order.count, sizeof(*w->pair));
	w->pair[0] = NO_ID;
	w->path = xcalloc((size_t)w->p->depth_max + 1, sizeof(*w->path));
	sum_below(w);
	walk_stacks(w);
	set_counts(w);
	stack_order_deinit(&w->order);
	map_deinit(&w->pairs);
	map_deinit(&w->places);
	vec_deinit(&w->on_path);
	vec_deinit(&w->first_call);
	free(w->pair);
	free(w->path);
	free(w->below);
	free(w->samples_below);
}

/* Of a profile without stacks; nobody calls from nowhere here. */
static void add_arcs(struct walk *w)
{
	const struct profile *p = w->p;

	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *a = &p->arcs[i];

		if (a->caller.i == NO_ID)
			continue;
		vec_push(&w->calls,
			(struct callgrind_call){a->caller, a->callee, {NO_ID}, a->calls});
		for (size_t m = 0; m < p->metric_count; m++)
			vec_push(&w->cost, p->arc_cost ? p->arc_cost[m][i] : 0);
	}
}

/* Into the order of callers: a counting sort, in which each caller's stay as they were found. */
static void sort_calls(struct callgrind_calls *c, struct walk *w)
{
	size_t count = w->calls.count, metrics = w->p->metric_count;
	size_t *at = xcalloc(w->p->function_count + 1, sizeof(*at));

	c->count = count;
	c->calls = xcalloc(count, sizeof(*c->calls));
	c->cost = xcalloc(count * metrics, sizeof(*c->cost));
	for (size_t i = 0; i < count; i++)
		at[w->calls.data[i].caller.i + 1]++;
	for (size_t i = 0; i < w->p->function_count; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < count; i++) {
		size_t to = at[w->calls.data[i].caller.i]++;

		c->calls[to] = w->calls.data[i];
		memcpy(&c->cost[to * metrics], &w->cost.data[i * metrics],
			metrics * sizeof(*c->cost));
	}
	free(at);
}

void callgrind_calls_init(struct callgrind_calls *c, const struct profile *p)
{
	struct walk w = {.p = p};

	if (p->has_stacks)
		add_stacks(&w);
	else
		add_arcs(&w);
	sort_calls(c, &w);
	vec_deinit(&w.calls);
	vec_deinit(&w.cost);
}

void callgrind_calls_deinit(struct callgrind_calls *c)
{
	free(c->calls);
	free(c->cost);
}
