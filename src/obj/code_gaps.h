#ifndef SONDE_OBJ_CODE_GAPS_H
#define SONDE_OBJ_CODE_GAPS_H

/*
 * The code of an object without unwind rules in its sections, and rules for it.  For the compiler
 * of CFI tables, and for function_starts.c.
 *
 * Only the code around an address is read and decoded.  The amount depends on what is known about
 * the starts of functions, since these cannot be determined from one function alone:
 *
 * - A gap of up to 16 KiB is decoded completely.
 * - In a longer one, from the last function start before the address to the next one after it, as
 *   shown by int3 padding, which only follows the end of a function.
 * - Without such padding nearby, a gap of up to 2 MiB is decoded completely, which takes some 10 ms
 *   per MiB, once.
 * - In a longer one, the code between symbols; or, without any nearby, 64 KiB.
 */

#include "obj/cfi.h"
#include "obj/code_frames.h"

/* A region of code, and where functions begin in it. */
struct code_region {
	uint64_t low, high; /* obj_addrs; a function begins at low, or is assumed to */
	bool wanted;	    /* it is more than padding */
	struct code_starts starts;
};

enum { CODE_REGIONS = 16 };

struct code_gaps {
	const struct cfi_code *code; /* NULL: no known code */
	bool has_symbols;	     /* read */
	struct code_starts symbols;  /* function starts, including distrusted ones; sorted */
	struct code_region regions[CODE_REGIONS]; /* the latest */
	size_t next_region;
};

void code_gaps_init(struct code_gaps *gaps, const struct cfi_object *object);
void code_gaps_deinit(struct code_gaps *gaps);
/*
 * Narrows [*low, *high), a gap without rules in sections, to the function at obj_addr, and adds its
 * rows.  If there is no code, narrows it to the part without code.
 */
void code_gaps_add_rows(struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high,
	struct cfi_rows *rows);
/* The first start of a function after obj_addr within the gap; UINT64_MAX if there is none. */
uint64_t code_gaps_next_start(
	struct code_gaps *gaps, uint64_t obj_addr, uint64_t low, uint64_t high);
/*
 * Narrows [*low, *high), a gap, in the same way.  False: there is no code, or only padding.
 */
bool code_gaps_function(struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high);
size_t code_gaps_size_bytes(const struct code_gaps *gaps);

#endif
