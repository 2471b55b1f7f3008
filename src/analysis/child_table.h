#ifndef SONDE_ANALYSIS_CHILD_TABLE_H
#define SONDE_ANALYSIS_CHILD_TABLE_H

/*
 * Numbers the nodes of a growing tree: the child of a node that stands for an entity gets the next
 * free index at first sight.  Node 0, the root, is there from the start; parent < own index.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct child_table {
	uint64_t *keys;	 /* [count], see child_table_parent and child_table_entity */
	uint32_t *slots; /* node index, 0 is free */
	size_t count, capacity, slot_count;
};

void child_table_init(struct child_table *t);
void child_table_deinit(struct child_table *t);
/* The child of `parent` for `entity`; *added says whether it was new. At most 2^32 - 2 nodes. */
uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t entity, bool *added);

static inline uint32_t child_table_parent(const struct child_table *t, uint32_t node)
{
	return (uint32_t)(t->keys[node] >> 32);
}

/* NO_ID for the root. */
static inline uint32_t child_table_entity(const struct child_table *t, uint32_t node)
{
	return (uint32_t)t->keys[node];
}

#endif
