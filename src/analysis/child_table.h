#ifndef SONDE_ANALYSIS_CHILD_TABLE_H
#define SONDE_ANALYSIS_CHILD_TABLE_H

/*
 * Numbers the nodes of a growing tree: the child of a node that stands for an entity gets the next
 * free number at first sight.  Node 0, the root, is there from the start; parent < own number.
 */

#include <assert.h>

#include "base/hash.h"
#include "base/row_table.h"
#include "model/ids.h"

struct child_key {
	uint32_t parent, entity; /* both NO_ID for the root */
};

static inline uint64_t child_key_hash(const void *row)
{
	const struct child_key *k = row;

	return hash_u64((uint64_t)k->parent << 32 | k->entity);
}

static inline bool child_key_same(const void *a, const void *b)
{
	const struct child_key *x = a, *y = b;

	return x->parent == y->parent && x->entity == y->entity;
}

static const struct row_kind child_kind = {
	.size = sizeof(struct child_key), .hash = child_key_hash, .same = child_key_same};

struct child_table {
	struct row_table keys; /* struct child_key */
};

static inline void child_table_init(struct child_table *t)
{
	*t = (struct child_table){0};
	(void)row_table_push(&t->keys, &child_kind, &(struct child_key){NO_ID, NO_ID});
}

static inline void child_table_deinit(struct child_table *t)
{
	row_table_deinit(&t->keys);
}

/* The child of `parent` for `entity`; *added says whether it is new. */
static inline uint32_t child_table_at(
	struct child_table *t, uint32_t parent, uint32_t entity, bool *added)
{
	size_t before = t->keys.count;

	assert(parent < before);
	uint32_t node =
		row_table_intern(&t->keys, &child_kind, &(struct child_key){parent, entity});
	*added = t->keys.count > before;
	return node;
}

static inline struct child_key child_table_key(const struct child_table *t, uint32_t node)
{
	return *(const struct child_key *)row_table_row(&t->keys, &child_kind, node);
}

#endif
