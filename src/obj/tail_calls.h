#ifndef SONDE_OBJ_TAIL_CALLS_H
#define SONDE_OBJ_TAIL_CALLS_H

/*
 * Callers that left no frame: their last act was a tail call, a jump to the function that they
 * call.
 *
 * A stack then shows a call of A and, inside it, code of another function B.  A was called for
 * certain, and jumped.  DWARF lists the jumps of A and of those it leads to; the jumps that all
 * ways from A to B begin or end with were taken, and their functions are the missing callers.
 * Where there are several ways, what differs is left out.  Where a jump may lead anywhere,
 * everything is.
 */

#include <stddef.h>
#include <stdint.h>

struct arena;
struct debug_info;
struct objfile;
struct symtab;

/* Addresses of two frames, one in the other: the caller's is in its call instruction. */
struct tail_pair {
	uint64_t caller, callee;
};

/* The jumps between the frames of a pair, outermost first; each address is in the instruction. */
struct tail_chain {
	const uint64_t *jumps;
	uint32_t count; /* 0: nothing is missing, or it is not certain */
};

/* The most jumps of a chain. */
enum { TAIL_CHAIN_MAX = 16 };

/*
 * Sets chains[count] for pairs[count] of frames in the object, whose code, debug information and
 * symbols these are.
 */
void tail_chains_find(struct objfile *object, struct debug_info *info, const struct symtab *symtab,
	const struct tail_pair *pairs, size_t count, struct arena *arena,
	struct tail_chain *chains);

#endif
