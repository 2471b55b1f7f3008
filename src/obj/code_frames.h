#ifndef SONDE_OBJ_CODE_FRAMES_H
#define SONDE_OBJ_CODE_FRAMES_H

/*
 * Unwind rules for machine code without any: hand-written assembly, all of musl, Go programs and
 * others whose rules were stripped.  They are derived from the instructions: what the function has
 * pushed, reserved and saved at each of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct arch;
struct cfi_rows;

/* Executable code of an object. */
struct code_piece {
	uint64_t obj_addr;
	const uint8_t *bytes;
	size_t size;
	const struct arch *arch; /* it has decode */
};

struct code_starts {
	VEC(uint64_t) addrs; /* of functions; after code_starts_sort ascending, distinct */
};
void code_starts_deinit(struct code_starts *starts);
void code_starts_sort(struct code_starts *starts);
/* The first start of a function at or after obj_addr; UINT64_MAX if there is none. */
uint64_t code_starts_from(const struct code_starts *starts, uint64_t obj_addr);
/* The last start of a function before obj_addr; UINT64_MAX if there is none. */
uint64_t code_starts_before(const struct code_starts *starts, uint64_t obj_addr);

/* Whether a piece of code is more than padding between functions. */
bool code_frames_wanted(const struct code_piece *code);
/* Adds the functions that the code calls and points to, and those that look like functions. */
void code_frames_find_starts(const struct code_piece *code, struct code_starts *starts);
/*
 * Adds rows for the code, which is one function or, if starts are unknown, several; the first
 * begins at the start of the code.
 */
void code_frames_add_rows(const struct code_piece *code, struct cfi_rows *rows);

#endif
