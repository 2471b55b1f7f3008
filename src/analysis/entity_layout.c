/*
 * The groups of an entity tree in pre-order.
 *
 * A subtree takes as many places as it has nodes.  So one backward loop over the groups, which
 * stand behind their parents, tells the sizes; and as one forward loop passes them in the order of
 * first sight, each gets the next place that its parent has left.  Groups are numbered in that
 * order mostly, as stacks are when samples make them; where they are not, they are sorted.  What a
 * node's parent is, and its depth, follows from the ends of the nodes before it.
 *
 * Each step is a loop over arrays that goes on, mostly, where it was; no tree is walked.  That is
 * what makes millions of stacks cheap.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/entity_growth.h"
#include "base/alloc.h"

struct layout {
	const struct growth *g;
	/* [group]: the first stack or sample with weight in it or below; NULL: nobody asks */
	uint32_t *first;
	uint32_t *next;	 /* [group]: its nodes, itself included; then the next child's place */
	uint32_t *order; /* groups by first; NULL: as they are numbered */
	uint32_t *place; /* [group]: its node, where that is asked for */
	size_t node_count;
	/* What is made: see struct entity_tree. */
	uint32_t *parent, *entity, *end, *first_seen;
	int64_t **before;
	bool **passed;
};

/* The first stack or sample in the group itself, or NO_ID. */
static inline uint32_t group_first(const struct growth *g, uint32_t group)
{
	if (g->first)
		return g->first[group];
	size_t row = growth_row(g, group);
	if (g->weight[0][row] != 0)
		return group;
	for (size_t k = 1; k < g->spec->metric_count; k++)
		if (g->weight[k][row] != 0)
			return group;
	return NO_ID;
}

static inline void first_lower(uint32_t *first, uint32_t to)
{
	*first = to < *first ? to : *first;
}

/* Those with nothing in or below them take no place. */
static void layout_measure(struct layout *l)
{
	const struct growth *g = l->g;
	uint32_t *first = l->first, *next = l->next;

	for (uint32_t i = (uint32_t)g->count; i-- > 1;) {
		uint32_t parent = growth_parent(g, i), size = next[i], own = group_first(g, i);

		if (first) {
			first_lower(&first[i], own);
			first_lower(&first[parent], first[i]);
		}
		size += size > 0 || own != NO_ID;
		next[i] = size;
		next[parent] += size;
	}
	if (first)
		first_lower(&first[0], group_first(g, 0));
	l->node_count = (size_t)next[0] + 1;
}

static bool layout_is_in_order(const struct layout *l)
{
	uint32_t last = 0;

	for (size_t i = 0; i < l->g->count; i++) {
		if (l->first[i] == NO_ID)
			continue;
		if (l->first[i] < last)
			return false;
		last = l->first[i];
	}
	return true;
}

/* Where groups of each first begin, when they stand in order. */
static uint32_t *firsts_begin(const uint32_t *firsts, size_t count)
{
	uint32_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (firsts[i] != NO_ID && firsts[i] > most)
			most = firsts[i];
	uint32_t *at = xcalloc((size_t)most + 2, sizeof(*at));
	for (size_t i = 0; i < count; i++)
		if (firsts[i] != NO_ID)
			at[firsts[i] + 1]++;
	for (size_t i = 1; i <= most; i++)
		at[i] += at[i - 1];
	return at;
}

void entity_nodes_rank(uint32_t *firsts, size_t count)
{
	uint32_t *at = firsts_begin(firsts, count);

	for (size_t i = 0; i < count; i++)
		firsts[i] = firsts[i] == NO_ID ? 0 : at[firsts[i]]++; /* a tree of nothing */
	free(at);
}

/* Groups that are first seen with one stack lie on one path, and stay in the order of numbers. */
static void layout_sort(struct layout *l)
{
	uint32_t *at = firsts_begin(l->first, l->g->count);

	l->order = xcalloc(l->node_count, sizeof(*l->order));
	for (uint32_t i = 0; i < l->g->count; i++)
		if (l->first[i] != NO_ID)
			l->order[at[l->first[i]]++] = i;
	free(at);
}

static void layout_init(struct layout *l, const struct growth *g)
{
	*l = (struct layout){.g = g};
	l->next = xcalloc(g->count, sizeof(*l->next));
	if (!g->spec->sums_only) {
		l->first = xcalloc(g->count, sizeof(*l->first));
		memset(l->first, 0xff, g->count * sizeof(*l->first)); /* NO_ID */
	}
	layout_measure(l);
	if (l->first && l->node_count > 1 && !layout_is_in_order(l))
		layout_sort(l);
	if (g->zone_group)
		l->place = xcalloc(g->count, sizeof(*l->place));
}

static void layout_deinit(struct layout *l)
{
	free(l->first);
	free(l->next);
	free(l->order);
	free(l->place);
	free(l->before);
	free(l->passed);
}

/* Room for the columns. */
static void layout_ready(struct layout *l, struct arena *arena)
{
	size_t metrics = l->g->spec->metric_count, count = l->node_count;

	l->entity = ARENA_ARRAY(arena, uint32_t, count);
	l->end = ARENA_ARRAY(arena, uint32_t, count);
	if (l->first) {
		l->parent = ARENA_ARRAY(arena, uint32_t, count);
		l->first_seen = ARENA_ARRAY(arena, uint32_t, count);
	}
	l->before = xcalloc(metrics, sizeof(*l->before));
	l->passed = metrics > 1 && l->first ? xcalloc(metrics, sizeof(*l->passed)) : NULL;
	for (size_t k = 0; k < metrics; k++) {
		l->before[k] = ARENA_ARRAY(arena, int64_t, count + 1);
		if (l->passed)
			l->passed[k] = ARENA_ARRAY(arena, bool, count);
	}
}

/* What the node at that place has of its group, beside the first metric's weight. */
static void layout_fill_more(struct layout *l, uint32_t place, uint32_t group)
{
	for (size_t k = 1; k < l->g->spec->metric_count; k++)
		l->before[k][place + 1] = growth_weight(l->g, k, group);
	for (size_t k = 0; l->passed && k < l->g->spec->metric_count; k++)
		l->passed[k][place] = growth_has_weight(l->g, k, group);
	if (l->place)
		l->place[group] = place;
}

static void layout_place(struct layout *l)
{
	const struct growth *g = l->g;
	size_t count = l->order ? l->node_count : g->count;
	bool has_more = g->spec->metric_count > 1 || l->place;
	int64_t *before = l->before[0];
	uint32_t *next = l->next, seen = 0;

	l->entity[0] = NO_ID;
	l->end[0] = (uint32_t)l->node_count;
	next[0] = 1;
	before[1] = growth_weight(g, 0, 0);
	layout_fill_more(l, 0, 0);
	for (uint32_t k = 1; k < count; k++) {
		uint32_t i = l->order ? l->order[k] : k, size = next[i];

		if (size == 0)
			continue;
		uint32_t parent = growth_parent(g, i), place = next[parent];

		next[parent] += size;
		next[i] = place + 1;
		l->entity[place] = growth_entity(g, i);
		l->end[place] = place + size;
		before[place + 1] = growth_weight(g, 0, i);
		if (l->first_seen)
			l->first_seen[place] = ++seen;
		if (has_more)
			layout_fill_more(l, place, i);
	}
}

uint32_t entity_nodes_parents(const uint32_t *end, uint32_t *parent, size_t count)
{
	uint32_t depth = 0, most = 0;

	parent[0] = NO_ID;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t up = i - 1;

		for (depth++; end[up] <= i; depth--)
			up = parent[up];
		parent[i] = up;
		most = depth > most ? depth : most;
	}
	return most;
}

bool entity_nodes_sum(int64_t *before, size_t count)
{
	bool has_negative = false;

	for (size_t i = 1; i <= count; i++) {
		has_negative |= before[i] < 0;
		before[i] += before[i - 1];
	}
	return has_negative;
}

/* From where stacks end to all that they pass. */
static const bool *passed_above(bool *passed, const uint32_t *parent, size_t count)
{
	for (size_t i = count; i-- > 1;)
		if (passed[i])
			passed[parent[i]] = true;
	return passed;
}

/* [stack]: the node of each zone stack. */
static uint32_t *layout_zone_nodes(const struct layout *l, struct arena *arena)
{
	size_t count = l->g->selection->profile->stack_count;
	uint32_t *node = ARENA_ARRAY(arena, uint32_t, count);

	for (size_t i = 0; i < count; i++)
		node[i] = l->place[l->g->zone_group[i]];
	return node;
}

void growth_lay_out(const struct growth *g, struct entity_tree *const *trees, struct arena *arena)
{
	struct layout l;
	uint32_t depth_max = 0;

	layout_init(&l, g);
	layout_ready(&l, arena);
	layout_place(&l);
	if (l.parent)
		depth_max = entity_nodes_parents(l.end, l.parent, l.node_count);
	for (size_t k = 0; k < g->spec->metric_count; k++) {
		trees[k]->node_count = l.node_count;
		trees[k]->parent = l.parent;
		trees[k]->entity = l.entity;
		trees[k]->end = l.end;
		trees[k]->first_seen = l.first_seen;
		trees[k]->has_negative = entity_nodes_sum(l.before[k], l.node_count);
		trees[k]->before = l.before[k];
		trees[k]->depth_max = depth_max;
		if (l.passed)
			trees[k]->is_passed = passed_above(l.passed[k], l.parent, l.node_count);
	}
	if (l.place)
		trees[0]->zone_node = layout_zone_nodes(&l, arena);
	layout_deinit(&l);
}
