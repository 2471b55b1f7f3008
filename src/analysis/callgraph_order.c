/*
 * The order of the call graph's entries: by weight; among equals callers first, then by name; a
 * cycle before its members.
 *
 * Equals are common: in a program whose main function does little, a dozen entries at the top have
 * all of the time.  "Callers first, then by name" cannot be decided by comparing pairs, so after
 * sorting by weight and name each run of equals is ordered again: of those whose callers among the
 * equals have all been taken, the first by name is taken next (Kahn, "Topological sorting of large
 * networks", CACM 1962).  Arcs between units make no cycles, so that never stalls.
 */
#include "analysis/callgraph_layout_state.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

uint32_t layout_cycle_of(const struct layout *l, uint32_t slot)
{
	return slot < l->arcs->entity_count ? l->cycle_of_unit[l->units->of[slot]] : NO_ID;
}

int64_t layout_order_weight(const struct layout *l, const struct call_times *times)
{
	int64_t weight = times->self + times->children;

	return l->arcs->is_difference && weight < 0 ? -weight : weight;
}

/* Orders two lists of [metric_count] times, by those that decide. */
static int times_compare(
	const struct layout *l, const struct call_times *a, const struct call_times *b)
{
	for (size_t k = 0; k < l->arcs->order_count; k++) {
		int64_t x = layout_order_weight(l, &a[k]), y = layout_order_weight(l, &b[k]);

		if (x != y)
			return x < y ? 1 : -1;
	}
	return 0;
}

static const struct call_times *slot_times(const struct layout *l, uint32_t slot)
{
	return &l->times[slot * l->metric_count];
}

/* The times that sort a slot: with negative weights a member may have more than its cycle. */
static const struct call_times *sort_times(const struct layout *l, uint32_t slot)
{
	uint32_t cycle = layout_cycle_of(l, slot);
	const struct call_times *own = slot_times(l, slot);

	if (cycle == NO_ID || times_compare(l, own, slot_times(l, cycle)) > 0)
		return own;
	return slot_times(l, cycle);
}

static int slots_compare(const void *a, const void *b, void *layout)
{
	const struct layout *l = layout;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = times_compare(l, sort_times(l, x), sort_times(l, y));

	if (order == 0)
		order = entity_compare(
			&l->arcs->entities[l->entity[x]], &l->arcs->entities[l->entity[y]]);
	return order != 0 ? order : (x < y) - (x > y); /* a cycle, then its member of that name */
}

struct edge {
	uint32_t to;   /* place */
	uint32_t next; /* next edge from the same place; NO_ID: none */
};

/* The sorted slots, as a graph: an edge goes from one that must come first to its equal. */
struct ties {
	struct layout *l;
	uint32_t *run;	 /* [place]: its run of equals */
	uint32_t *first; /* [place]: its first edge, an index into edges; NO_ID: none */
	uint32_t *waits; /* [place]: edges that come in from places not taken */
	VEC(struct edge) edges;
	uint32_t *heap; /* places that do not wait, the least first */
	size_t heap_count;
};

static void ties_init(struct ties *t, struct layout *l)
{
	*t = (struct ties){.l = l};
	t->run = xcalloc(l->entry_count, sizeof(*t->run));
	t->first = xcalloc(l->entry_count, sizeof(*t->first));
	t->waits = xcalloc(l->entry_count, sizeof(*t->waits));
	t->heap = xcalloc(l->entry_count, sizeof(*t->heap));
	for (uint32_t i = 0; i < l->entry_count; i++) {
		t->first[i] = NO_ID;
		if (i > 0)
			t->run[i] =
				t->run[i - 1] + (times_compare(l, sort_times(l, l->order[i - 1]),
							 sort_times(l, l->order[i])) != 0);
	}
}

static void ties_deinit(struct ties *t)
{
	free(t->run);
	free(t->first);
	free(t->waits);
	free(t->heap);
	vec_deinit(&t->edges);
}

/* One slot comes before another, if both are kept and equal. */
static void ties_add(struct ties *t, uint32_t before, uint32_t after)
{
	uint32_t from = before == NO_ID ? NO_ID : t->l->entry[before];
	uint32_t to = after == NO_ID ? NO_ID : t->l->entry[after];

	if (from == NO_ID || to == NO_ID || t->run[from] != t->run[to])
		return;
	vec_push(&t->edges, (struct edge){to, t->first[from]});
	t->first[from] = (uint32_t)t->edges.count - 1;
	t->waits[to]++;
}

static void ties_add_arc(struct ties *t, const struct entity_pair *arc)
{
	uint32_t callee_cycle = layout_cycle_of(t->l, arc->callee);
	uint32_t caller_cycle = NO_ID;

	if (arc->caller == NO_ID || !call_units_crosses(t->l->units, arc))
		return;
	caller_cycle = layout_cycle_of(t->l, arc->caller);
	ties_add(t, arc->caller, arc->callee);
	ties_add(t, arc->caller, callee_cycle);
	ties_add(t, caller_cycle, arc->callee);
	ties_add(t, caller_cycle, callee_cycle);
}

static void heap_push(struct ties *t, uint32_t place)
{
	size_t i = t->heap_count++;

	for (; i > 0 && place < t->heap[(i - 1) / 2]; i = (i - 1) / 2)
		t->heap[i] = t->heap[(i - 1) / 2];
	t->heap[i] = place;
}

static uint32_t heap_pop(struct ties *t)
{
	uint32_t least = t->heap[0], last = t->heap[--t->heap_count];
	size_t i = 0;

	for (size_t child = 1; child < t->heap_count; child = 2 * i + 1) {
		if (child + 1 < t->heap_count && t->heap[child + 1] < t->heap[child])
			child++;
		if (last <= t->heap[child])
			break;
		t->heap[i] = t->heap[child];
		i = child;
	}
	t->heap[i] = last;
	return least;
}

/*
 * Takes places as they become free, the least first.  A run is completed before the next one
 * begins, as its places never wait for other runs.
 */
static void ties_resolve(struct ties *t)
{
	size_t count = t->l->entry_count, taken = 0;
	uint32_t *order = xcalloc(count, sizeof(*order));

	for (uint32_t i = 0; i < count; i++)
		if (t->waits[i] == 0)
			heap_push(t, i);
	while (t->heap_count > 0) {
		uint32_t place = heap_pop(t);

		order[taken++] = t->l->order[place];
		for (uint32_t e = t->first[place]; e != NO_ID; e = t->edges.data[e].next)
			if (--t->waits[t->edges.data[e].to] == 0)
				heap_push(t, t->edges.data[e].to);
	}
	assert(taken == count);
	free(t->l->order);
	t->l->order = order;
}

static void layout_number(struct layout *l)
{
	for (uint32_t i = 0; i < l->entry_count; i++)
		l->entry[l->order[i]] = i;
}

void layout_order(struct layout *l)
{
	struct ties ties;

	l->order = xcalloc(l->slot_count, sizeof(*l->order));
	l->entry = xcalloc(l->slot_count, sizeof(*l->entry));
	for (uint32_t i = 0; i < l->slot_count; i++) {
		l->entry[i] = NO_ID;
		if (l->is_kept[i])
			l->order[l->entry_count++] = i;
	}
	qsort_r(l->order, l->entry_count, sizeof(*l->order), slots_compare, l);
	layout_number(l);
	ties_init(&ties, l);
	for (uint32_t i = 0; i < l->arcs->entity_count; i++)
		ties_add(&ties, layout_cycle_of(l, i), i);
	for (size_t i = 0; i < l->arcs->count; i++)
		ties_add_arc(&ties, &l->arcs->arcs[i]);
	ties_resolve(&ties);
	ties_deinit(&ties);
	layout_number(l);
}
