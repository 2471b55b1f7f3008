#ifndef SONDE_BASE_CHILD_TABLE_H
#define SONDE_BASE_CHILD_TABLE_H

/*
 * Numbers the nodes of a growing tree: a node's child for a key gets the next free number when it
 * is first seen.  Node 0, the root, exists from the start; a parent's number is less than its
 * child's.
 *
 * A node holds its first child; only further children are in a hash table.  Most nodes of a call
 * tree have one child, so most paths lead from a node to its neighbour in memory, while a hash
 * table of all pairs would cost one or two cache misses per step.  A node takes 12 bytes, and 16 to
 * 32 more if it is not a first child.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct child {
	uint32_t parent; /* 0 for the root */
	uint32_t key;	 /* UINT32_MAX for the root */
	uint32_t first;	 /* its first child; 0: none yet */
};

/* The hash is stored so that comparing keys and growing the table need not read the nodes. */
struct child_slot {
	uint32_t node; /* 0: free */
	uint32_t hash;
};

struct child_table {
	VEC(struct child) nodes;
	struct child_slot *slots; /* the nodes that are not first children */
	size_t slot_count;	  /* 0 or a power of two, at least twice slots_used */
	size_t slots_used;
};

/*
 * nodes_expected, including the root: reserves address space for them; memory is used as nodes are
 * added.
 */
void child_table_init(struct child_table *t, size_t nodes_expected);
void child_table_deinit(struct child_table *t);
/*
 * The child of `parent`, a node of the table, for `key`; *added is true if it is new.  At most 2^32
 * - 1 nodes.
 */
uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t key, bool *added);
/*
 * Follows the path of keys[count] down from `parent`, and stores the nodes in nodes[count].  Adds
 * at most added_max missing nodes; returns the number of keys that have a node then.  New nodes
 * form a chain without other children, so they are added without a lookup.
 */
size_t child_table_path(struct child_table *t, uint32_t parent, const uint32_t *keys, size_t count,
	size_t added_max, uint32_t *nodes);
/* Adds a child that the caller knows to be new; child_table_at must not look for it later. */
uint32_t child_table_push(struct child_table *t, uint32_t parent, uint32_t key);
/* Like child_table_at, but returns 0 if the child does not exist. */
uint32_t child_table_find(const struct child_table *t, uint32_t parent, uint32_t key);

#endif
