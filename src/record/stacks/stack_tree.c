/*
 * Interning of stack tree nodes: a hash table of node numbers over a plain array of nodes.
 */
#include "record/stacks/stack_tree.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/sort.h"
#include "record/file/capture_compact.h"

#define FIRST_SLOTS ((size_t)1 << 12)

void stack_tree_init(struct stack_tree *t, struct capture_writer *writer)
{
	*t = (struct stack_tree){.writer = writer, .slot_count = FIRST_SLOTS};
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	vec_push(&t->nodes, (struct stack_node){.object = UINT32_MAX});
}

void stack_tree_deinit(struct stack_tree *t)
{
	vec_deinit(&t->nodes);
	free(t->slots);
	t->slots = NULL;
}

static uint64_t node_hash(const struct stack_node *n)
{
	return hash_pair(n->obj_addr, (uint64_t)n->parent << 32 | n->object);
}

static bool node_equals(const struct stack_node *a, const struct stack_node *b)
{
	return a->obj_addr == b->obj_addr && a->parent == b->parent && a->object == b->object;
}

/* The slot of an equal node, or the unused one where it would go. */
static uint32_t *tree_slot(const struct stack_tree *t, const struct stack_node *wanted)
{
	size_t mask = t->slot_count - 1;

	for (size_t i = node_hash(wanted) & mask;; i = (i + 1) & mask) {
		if (t->slots[i] == 0 || node_equals(&t->nodes.data[t->slots[i]], wanted))
			return &t->slots[i];
	}
}

static void tree_grow(struct stack_tree *t)
{
	free(t->slots);
	t->slot_count *= 2;
	t->slots = xcalloc(t->slot_count, sizeof(*t->slots));
	for (size_t i = 1; i < t->nodes.count; i++)
		*tree_slot(t, &t->nodes.data[i]) = (uint32_t)i;
}

uint32_t stack_tree_intern(
	struct stack_tree *t, uint32_t parent, uint32_t object, uint64_t obj_addr)
{
	struct stack_node wanted = {.obj_addr = obj_addr, .parent = parent, .object = object};
	size_t first_child = (size_t)parent + 1;

	/* A stack's nodes are made one after another, so a node's first child often follows it. */
	if (first_child < t->nodes.count && node_equals(&t->nodes.data[first_child], &wanted))
		return (uint32_t)first_child;
	uint32_t *slot = tree_slot(t, &wanted);

	if (*slot != 0)
		return *slot;
	uint32_t number = (uint32_t)t->nodes.count;

	*slot = number;
	vec_push(&t->nodes, wanted);
	capture_writer_node(t->writer, number, parent, object, obj_addr);
	if (t->nodes.count * 2 > t->slot_count)
		tree_grow(t);
	return number;
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sorts and removes duplicates; returns the new count. */
static size_t make_distinct(uint64_t *addresses, size_t count)
{
	size_t kept = 0;

	if (count == 0)
		return 0;
	qsort(addresses, count, sizeof(*addresses), compare_addresses);
	for (size_t i = 1; i < count; i++)
		if (addresses[i] != addresses[kept])
			addresses[++kept] = addresses[i];
	return kept + 1;
}

uint8_t *stack_tree_fates(const struct stack_tree *t, const bool *wanted, size_t count)
{
	uint8_t *fates = xcalloc(t->nodes.count, sizeof(*fates));

	for (size_t i = t->nodes.count; i-- > 1;) {
		uint8_t *parent = &fates[t->nodes.data[i].parent];

		if (i >= count || wanted[i])
			fates[i] = CAPTURE_KEEPS;
		if (fates[i] != CAPTURE_DROPS && *parent == CAPTURE_DROPS)
			*parent = CAPTURE_PASSES;
	}
	return fates;
}

static bool is_dropped(const uint8_t *fates, size_t node)
{
	return fates && fates[node] == CAPTURE_DROPS;
}

void stack_tree_addresses(const struct stack_tree *t, const uint8_t *fates, size_t object_count,
	struct stack_addresses *out)
{
	size_t *fill = xcalloc(object_count + 1, sizeof(*fill));
	size_t kept = 0;

	out->start = xcalloc(object_count + 1, sizeof(*out->start));
	out->addresses = xcalloc(t->nodes.count, sizeof(*out->addresses));
	for (size_t i = 1; i < t->nodes.count; i++)
		fill[t->nodes.data[i].object + 1] += !is_dropped(fates, i);
	for (size_t i = 0; i < object_count; i++)
		fill[i + 1] += fill[i];
	memcpy(out->start, fill, (object_count + 1) * sizeof(*fill));
	for (size_t i = 1; i < t->nodes.count; i++)
		if (!is_dropped(fates, i))
			out->addresses[fill[t->nodes.data[i].object]++] = t->nodes.data[i].obj_addr;
	/* Now fill[i] is the end of object i's addresses. */
	for (size_t i = 0; i < object_count; i++) {
		size_t begin = out->start[i];
		size_t distinct = make_distinct(out->addresses + begin, fill[i] - begin);

		memmove(out->addresses + kept, out->addresses + begin,
			distinct * sizeof(*out->addresses));
		out->start[i] = kept;
		kept += distinct;
	}
	out->start[object_count] = kept;
	free(fill);
}

void stack_addresses_deinit(struct stack_addresses *a)
{
	free(a->addresses);
	free(a->start);
	*a = (struct stack_addresses){0};
}

static int compare_pairs(const void *a, const void *b)
{
	const struct tail_pair *x = a, *y = b;

	return COMPARE(x->caller, y->caller) ?: COMPARE(x->callee, y->callee);
}

/* Sorts and removes duplicates; returns the new count. */
static size_t make_pairs_distinct(struct tail_pair *pairs, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (size_t i = 0; i < count; i++)
		if (kept == 0 || compare_pairs(&pairs[i], &pairs[kept - 1]) != 0)
			pairs[kept++] = pairs[i];
	return kept;
}

/* Whether a node and its parent are a pair. */
static bool is_pair(const struct stack_tree *t, const uint8_t *fates, size_t node)
{
	const struct stack_node *n = &t->nodes.data[node];

	return n->parent != 0 && t->nodes.data[n->parent].object == n->object &&
	       !is_dropped(fates, node);
}

void stack_tree_pairs(const struct stack_tree *t, const uint8_t *fates, size_t object_count,
	struct stack_pairs *out)
{
	size_t *fill = xcalloc(object_count + 1, sizeof(*fill));
	size_t kept = 0;

	out->start = xcalloc(object_count + 1, sizeof(*out->start));
	for (size_t i = 1; i < t->nodes.count; i++)
		fill[t->nodes.data[i].object + 1] += is_pair(t, fates, i);
	for (size_t i = 0; i < object_count; i++)
		fill[i + 1] += fill[i];
	memcpy(out->start, fill, (object_count + 1) * sizeof(*fill));
	out->pairs = xcalloc(fill[object_count], sizeof(*out->pairs));
	for (size_t i = 1; i < t->nodes.count; i++) {
		const struct stack_node *n = &t->nodes.data[i];

		if (is_pair(t, fates, i))
			out->pairs[fill[n->object]++] =
				(struct tail_pair){t->nodes.data[n->parent].obj_addr, n->obj_addr};
	}
	/* Now fill[i] is the end of object i's pairs. */
	for (size_t i = 0; i < object_count; i++) {
		size_t begin = out->start[i];
		size_t distinct = make_pairs_distinct(out->pairs + begin, fill[i] - begin);

		memmove(out->pairs + kept, out->pairs + begin, distinct * sizeof(*out->pairs));
		out->start[i] = kept;
		kept += distinct;
	}
	out->start[object_count] = kept;
	free(fill);
}

void stack_pairs_deinit(struct stack_pairs *p)
{
	free(p->pairs);
	free(p->start);
	*p = (struct stack_pairs){0};
}
