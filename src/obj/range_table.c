/*
 * Makes disjoint ranges from overlapping ones with a sweep: ranges are processed by start; a heap
 * holds those that have begun, the highest rank on top.  Whenever one begins or the top ends, the
 * part since the last such event belongs to the range that was on top.  O(n log n) with any
 * overlaps.
 */
#include "obj/range_table.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"

void range_table_deinit(struct range_table *t)
{
	vec_deinit(t);
}

void range_table_add(struct range_table *t, struct range range)
{
	if (range.low < range.high)
		vec_push(t, range);
}

static int range_compare(const void *pa, const void *pb)
{
	const struct range *a = pa, *b = pb;

	if (a->low != b->low)
		return a->low < b->low ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

static bool range_table_is_flat(const struct range_table *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->data[i].low < t->data[i - 1].high)
			return false;
	return true;
}

static void range_table_sort(struct range_table *t)
{
	for (size_t i = 1; i < t->count; i++) {
		if (range_compare(&t->data[i - 1], &t->data[i]) > 0) {
			qsort(t->data, t->count, sizeof(*t->data), range_compare);
			return;
		}
	}
}

/* The open ranges: a binary heap of pointers, highest rank first. */
struct heap {
	const struct range **data;
	size_t count, capacity;
};

static void heap_push(struct heap *h, const struct range *r)
{
	vec_push(h, r);
	size_t i = h->count - 1;
	while (i > 0 && h->data[(i - 1) / 2]->rank < r->rank) {
		h->data[i] = h->data[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->data[i] = r;
}

static void heap_pop(struct heap *h)
{
	const struct range *last = h->data[--h->count];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= h->count)
			break;
		if (child + 1 < h->count && h->data[child + 1]->rank > h->data[child]->rank)
			child++;
		if (h->data[child]->rank <= last->rank)
			break;
		h->data[i] = h->data[child];
		i = child;
	}
	if (h->count)
		h->data[i] = last;
}

/* Appends [low, high) of r, or extends the last range if it is adjacent and of the same value. */
static void flat_append(
	struct range_table *flat, uint64_t low, uint64_t high, const struct range *r)
{
	struct range *last = flat->count ? &flat->data[flat->count - 1] : NULL;

	if (last && last->high == low && last->value == r->value)
		last->high = high;
	else
		vec_push(flat, (struct range){low, high, r->value, r->rank});
}

void range_table_flatten(struct range_table *t)
{
	struct range_table flat = {0};
	struct heap heap = {0};
	uint64_t at = 0;
	size_t next = 0;

	range_table_sort(t);
	if (range_table_is_flat(t))
		return;
	while (next < t->count || heap.count) {
		if (heap.count == 0)
			at = t->data[next].low;
		while (next < t->count && t->data[next].low <= at)
			heap_push(&heap, &t->data[next++]);
		while (heap.count && heap.data[0]->high <= at)
			heap_pop(&heap);
		if (heap.count == 0)
			continue;
		const struct range *top = heap.data[0];
		uint64_t until = top->high;
		if (next < t->count && t->data[next].low < until)
			until = t->data[next].low;
		flat_append(&flat, at, until, top);
		at = until;
	}
	vec_deinit(&heap);
	vec_deinit(t);
	*t = flat;
}

const struct range *range_table_find(const struct range_table *t, uint64_t addr)
{
	size_t next = partition_point(i, 0, t->count, t->data[i].low <= addr);

	if (next == 0 || t->data[next - 1].high <= addr)
		return NULL;
	return &t->data[next - 1];
}
