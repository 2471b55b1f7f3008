/*
 * The plain slow call graph.  See slow_callgraph.h.
 */
#include "slow_callgraph.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

uint32_t slow_callgraph_find(const struct slow_callgraph *g, const struct entity *e)
{
	for (uint32_t i = 0; i < g->names.count; i++)
		if (entity_compare(&g->names.data[i], e) == 0)
			return i;
	return NO_ID;
}

static uint32_t name_index(struct slow_callgraph *g, const struct entity *e)
{
	uint32_t found = slow_callgraph_find(g, e);

	if (found != NO_ID)
		return found;
	vec_push(&g->names, *e);
	return (uint32_t)g->names.count - 1;
}

static void share_names(struct slow_callgraph *g, struct slow_stacks *s)
{
	for (size_t i = 0; i < s->stacks.count; i++) {
		struct slow_stack *stack = &s->stacks.data[i];

		for (uint32_t d = 0; d < stack->depth; d++)
			stack->names[d] = name_index(g, &s->names.data[stack->names[d]]);
	}
}

static void add_count(struct slow_callgraph *g, struct entity_arc c)
{
	for (size_t i = 0; i < g->counted.count; i++) {
		struct entity_arc *old = &g->counted.data[i];

		if (old->caller == c.caller && old->callee == c.callee) {
			old->calls += c.calls;
			return;
		}
	}
	vec_push(&g->counted, c);
}

static void find_arcs(struct slow_callgraph *g)
{
	size_t n = g->names.count;

	for (size_t k = 0; k < g->metric_count; k++)
		for (size_t i = 0; i < g->stacks[k]->stacks.count; i++) {
			const struct slow_stack *s = &g->stacks[k]->stacks.data[i];

			for (uint32_t d = 1; d < s->depth; d++)
				g->arc[s->names[d - 1] * n + s->names[d]] = true;
		}
	for (size_t i = 0; i < g->counted.count; i++)
		if (g->counted.data[i].caller != NO_ID)
			g->arc[g->counted.data[i].caller * n + g->counted.data[i].callee] = true;
}

/* Warshall's. */
static void find_reached(struct slow_callgraph *g)
{
	size_t n = g->names.count;

	for (size_t i = 0; i < n * n; i++)
		g->reaches[i] = g->arc[i];
	for (size_t over = 0; over < n; over++)
		for (size_t a = 0; a < n; a++)
			for (size_t b = 0; b < n; b++)
				g->reaches[a * n + b] |=
					g->reaches[a * n + over] && g->reaches[over * n + b];
}

struct slow_callgraph *slow_callgraph_create(struct slow_stacks **stacks, size_t metric_count,
	const struct entity *entities, const struct entity_arc *counted, size_t count)
{
	struct slow_callgraph *g = xalloc(sizeof(*g));

	g->stacks = stacks;
	g->metric_count = metric_count;
	for (size_t k = 0; k < metric_count; k++)
		share_names(g, stacks[k]);
	for (size_t i = 0; i < count; i++) {
		struct entity_arc c = counted[i];

		c.callee = name_index(g, &entities[c.callee]);
		if (c.caller != NO_ID)
			c.caller = name_index(g, &entities[c.caller]);
		add_count(g, c);
	}
	g->arc = xcalloc(g->names.count * g->names.count + 1, sizeof(*g->arc));
	g->reaches = xcalloc(g->names.count * g->names.count + 1, sizeof(*g->reaches));
	find_arcs(g);
	find_reached(g);
	return g;
}

void slow_callgraph_destroy(struct slow_callgraph *g)
{
	for (size_t k = 0; k < g->metric_count; k++)
		slow_stacks_destroy(g->stacks[k]);
	vec_deinit(&g->names);
	vec_deinit(&g->counted);
	free(g->arc);
	free(g->reaches);
	free(g);
}

bool slow_same_unit(const struct slow_callgraph *g, uint32_t a, uint32_t b)
{
	size_t n = g->names.count;

	return a == b || (g->reaches[a * n + b] && g->reaches[b * n + a]);
}

bool slow_in_cycle(const struct slow_callgraph *g, uint32_t name)
{
	for (uint32_t i = 0; i < g->names.count; i++)
		if (i != name && slow_same_unit(g, i, name))
			return true;
	return false;
}

/* A stack's one run through the unit of a name: [first, end); false if there is none. */
static bool find_run(const struct slow_callgraph *g, const struct slow_stack *s, uint32_t name,
	uint32_t *first, uint32_t *end)
{
	uint32_t count = 0;

	for (uint32_t d = 0; d < s->depth; d++) {
		if (!slow_same_unit(g, s->names[d], name))
			continue;
		if (count++ == 0)
			*first = d;
		*end = d + 1;
	}
	assert(count == 0 || count == *end - *first);
	return count > 0;
}

struct call_times slow_entry_times(
	const struct slow_callgraph *g, size_t metric, uint32_t name, bool is_cycle)
{
	struct call_times sum = {0};
	uint32_t first, end;

	for (size_t i = 0; i < g->stacks[metric]->stacks.count; i++) {
		const struct slow_stack *s = &g->stacks[metric]->stacks.data[i];

		if (!find_run(g, s, name, &first, &end))
			continue;
		if (!is_cycle && s->names[end - 1] != name)
			continue;
		if (end == s->depth)
			sum.self += s->weight;
		else
			sum.children += s->weight;
	}
	return sum;
}

/* The weight goes to self if the leaf is in the unit of `of`. */
static void add_weight(const struct slow_callgraph *g, const struct slow_stack *s, uint32_t of,
	struct call_times *sum)
{
	if (slow_same_unit(g, s->names[s->depth - 1], of))
		sum->self += s->weight;
	else
		sum->children += s->weight;
}

struct call_times slow_line_times(const struct slow_callgraph *g, size_t metric, uint32_t name,
	bool is_cycle, enum callgraph_part part, uint32_t other)
{
	struct call_times sum = {0};
	uint32_t first, end;

	for (size_t i = 0; i < g->stacks[metric]->stacks.count; i++) {
		const struct slow_stack *s = &g->stacks[metric]->stacks.data[i];

		if (!find_run(g, s, name, &first, &end))
			continue;
		if (part == CALLGRAPH_CALLERS) {
			uint32_t caller = first ? s->names[first - 1] : NO_ID;

			if (caller == other && (is_cycle || s->names[first] == name))
				add_weight(g, s, name, &sum);
		} else if (end < s->depth && s->names[end] == other &&
			   (is_cycle || s->names[end - 1] == name)) {
			add_weight(g, s, other, &sum);
		}
	}
	return sum;
}

struct callgraph_calls slow_calls(const struct slow_callgraph *g, uint32_t caller, uint32_t callee)
{
	for (size_t i = 0; i < g->counted.count; i++)
		if (g->counted.data[i].caller == caller && g->counted.data[i].callee == callee)
			return (struct callgraph_calls){true, g->counted.data[i].calls};
	return (struct callgraph_calls){0};
}
