#ifndef SONDE_OBJ_CODE_GAPS_H
#define SONDE_OBJ_CODE_GAPS_H

/*
 * The code of an object that has no unwind rules in its sections, and rules for it.  Private to the
 * compiler of CFI tables.
 */

#include "obj/cfi.h"
#include "obj/code_frames.h"

struct code_gaps {
	const struct cfi_code *code;   /* NULL: none is known */
	VEC(struct code_piece) pieces; /* ascending, disjoint; their bytes are ours */
	struct code_starts starts;     /* of functions in them */
	uint64_t size;		       /* of all pieces */
};

void code_gaps_init(struct code_gaps *gaps, const struct cfi_object *object);
void code_gaps_deinit(struct code_gaps *gaps);
/* [low, high) has no rules; to be called in the order of addresses. */
void code_gaps_add(struct code_gaps *gaps, uint64_t low, uint64_t high);
/* After the last one: finds the functions. */
void code_gaps_finish(struct code_gaps *gaps);
/* Adds rows for [low, high), all of which has no rules; low is where a function begins. */
void code_gaps_add_rows(
	const struct code_gaps *gaps, uint64_t low, uint64_t high, struct cfi_rows *rows);

#endif
