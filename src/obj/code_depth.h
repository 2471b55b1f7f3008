#ifndef SONDE_OBJ_CODE_DEPTH_H
#define SONDE_OBJ_CODE_DEPTH_H

/*
 * The distance of a function's stack pointer below its frame pointer, derived from the function's
 * own instructions.
 */

#include "obj/code_frames.h"

struct code_depth {
	bool is_known; /* bp is a frame pointer there, and at least `bytes` above sp */
	bool is_exact; /* and no other distance is possible */
	uint64_t bytes;
};

/*
 * The distance before the instruction that contains the byte at code->bytes[at].  The function
 * starts where the code starts; a missing end can only make the answer less definite.
 */
struct code_depth code_depth_at(const struct code_piece *code, size_t at);

#endif
