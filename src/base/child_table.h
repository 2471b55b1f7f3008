#ifndef SONDE_BASE_CHILD_TABLE_H
#define SONDE_BASE_CHILD_TABLE_H

/*
 * Numbers the nodes of a growing tree: the child of a node for a key gets the next free number at
 * first sight.  Node 0, the root, is there from the start; parent < own number.
 *
 * A node holds its first child; only further children are in a hash table.  Most nodes of a tree of
 * calls have one child, so most paths are walked, and made, from a node to its neighbour in memory,
 * where a hash table of all pairs would cost a cache miss or two a step.  A node takes 12 bytes,
 * and 16 to 32 more if it is no first child.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct child {
	uint32_t parent; /* of the root: 0 */
	uint32_t key;	 /* of the root: UINT32_MAX */
	uint32_t first;	 /* its own first child; 0: none yet */
};

/* The hash is kept so that other keys are recognized, and the table grows, without the nodes. */
struct child_slot {
	uint32_t node; /* 0: free */
	uint32_t hash;
};

struct child_table {
	VEC(struct child) nodes;
	struct child_slot *slots; /* the nodes that are no first child */
	size_t slot_count;	  /* 0 or a power of two, at least twice slots_used */
	size_t slots_used;
};

/* nodes_expected: room is made for as many, the root included; memory is used as they come. */
void child_table_init(struct child_table *t, size_t nodes_expected);
void child_table_deinit(struct child_table *t);
/*
 * The child of `parent`, a node of the table, for `key`; *added says whether it is new.  At most
 * 2^32 - 1 nodes.
 */
uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t key, bool *added);
/*
 * The path of keys[count] down from `parent`: the node of each into nodes[count].  Of the nodes
 * that are not there yet at most added_max are made; returns for how many keys there is a node
 * then.  What a path adds is a chain without any other children, so it is made without a lookup.
 */
size_t child_table_path(struct child_table *t, uint32_t parent, const uint32_t *keys, size_t count,
	size_t added_max, uint32_t *nodes);
/* A child of whom the caller knows that it is new, and for which child_table_at will not look. */
uint32_t child_table_push(struct child_table *t, uint32_t parent, uint32_t key);
/* The same, if it is there; else 0. */
uint32_t child_table_find(const struct child_table *t, uint32_t parent, uint32_t key);

#endif
