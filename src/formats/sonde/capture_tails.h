#ifndef SONDE_FORMATS_SONDE_CAPTURE_TAILS_H
#define SONDE_FORMATS_SONDE_CAPTURE_TAILS_H

/*
 * The tail calls of a capture file: frames that are missing between two others, because they ended
 * in a jump to what they call.
 */

#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_stacks.h"

/* The number of frames that no row mentions. */
enum { CAPTURE_NO_TAIL = 0 };

struct capture_tails {
	struct map places; /* (object, obj_addr) → number, from 1 */
	uint32_t place_count;
	struct map jump_at; /* the same → jumps */
	VEC(struct capture_frame) jumps;
	struct map pairs;	  /* (caller, callee), numbers → first row */
	VEC(uint32_t) rows;	  /* jumps */
	VEC(uint32_t) count;	  /* [first row] of the same pair */
	struct capture_tail last; /* row */
	uint32_t last_first;	  /* its pair's first row */
};

void capture_tails_deinit(struct capture_tails *t);
must_use struct error *capture_tails_read(struct capture_tails *t, struct cursor *payload);
/* The number of an address, CAPTURE_NO_TAIL if no row mentions it. */
uint32_t capture_tails_number(const struct capture_tails *t, const struct capture_frame *frame);
/*
 * The jumps between the frames with these numbers: returns how many, *first: the first, outermost,
 * in t->rows.
 */
uint32_t capture_tails_find(
	const struct capture_tails *t, uint32_t caller, uint32_t callee, uint32_t *first);

#endif
