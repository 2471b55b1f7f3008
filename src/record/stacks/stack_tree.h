#ifndef SONDE_RECORD_STACKS_STACK_TREE_H
#define SONDE_RECORD_STACKS_STACK_TREE_H

/*
 * The prefix tree of all stacks so far: a stack is a node, and its parent is the caller's stack.
 * Each new node is written to the capture file, so a sample needs only a node's number.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/vec.h"
#include "obj/tail_calls.h"
#include "record/file/capture_writer.h"

struct stack_node {
	uint64_t obj_addr;
	uint32_t parent, object;
};

struct stack_tree {
	VEC(struct stack_node) nodes; /* node 0 is the empty stack */
	uint32_t *slots;	      /* open addressing; 0: free */
	size_t slot_count;	      /* a power of two */
	struct capture_writer *writer;
};

void stack_tree_init(struct stack_tree *t, struct capture_writer *writer);
void stack_tree_deinit(struct stack_tree *t);
/* The node of the frame (object, obj_addr) called from parent. */
uint32_t stack_tree_intern(
	struct stack_tree *t, uint32_t parent, uint32_t object, uint64_t obj_addr);

/*
 * The addresses of the tree's nodes in each object, ascending and distinct, without nodes that
 * fates drops (by node, enum capture_fate; NULL: none).  Those of object i are addresses[start[i]
 * ..  start[i + 1]).
 */
struct stack_addresses {
	uint64_t *addresses;
	size_t *start; /* [object_count + 1] */
};
void stack_tree_addresses(const struct stack_tree *t, const uint8_t *fates, size_t object_count,
	struct stack_addresses *out);
/*
 * The pairs of frames in the same object, of nodes and their parents, likewise; ascending by
 * caller, then callee.
 */
struct stack_pairs {
	struct tail_pair *pairs;
	size_t *start; /* [object_count + 1] */
};
void stack_tree_pairs(const struct stack_tree *t, const uint8_t *fates, size_t object_count,
	struct stack_pairs *out);
void stack_pairs_deinit(struct stack_pairs *p);
/*
 * The fates of all nodes.  wanted[count]: whether a node is wanted; later nodes are.  Wanted ones
 * are kept, and those on the way to them pass.  The caller frees the result.
 */
must_use returns_owned uint8_t *stack_tree_fates(
	const struct stack_tree *t, const bool *wanted, size_t count);
void stack_addresses_deinit(struct stack_addresses *a);

#endif
