#ifndef SONDE_OBJ_CODE_GAPS_H
#define SONDE_OBJ_CODE_GAPS_H

/*
 * The code of an object that has no unwind rules in its sections, and rules for it.  Private to the
 * compiler of CFI tables.
 *
 * Only the code around an address is read and decoded.  How much of it is decided by what is known
 * of where functions begin, since that cannot be told from one function alone:
 *
 * - A gap of up to 16 KiB is looked through as a whole.
 * - In a longer one, from the last begin of a function before the address to the next behind it, as
 *   far as fill made of int3 tells, which nothing but the end of a function goes before.
 * - Where there is no such fill near, a gap of up to 2 MiB is looked through as a whole, which
 * takes some 10 ms a MiB, once.
 * - In a longer one, what is between symbols; and where none is near, 64 KiB.
 */

#include "obj/cfi.h"
#include "obj/code_frames.h"

/* A region of code, and where functions begin in it. */
struct code_region {
	uint64_t low, high; /* obj_addrs; a function begins at low, or is taken to */
	bool wanted;	    /* it is more than fill */
	struct code_starts starts;
};

enum { CODE_REGIONS = 16 };

struct code_gaps {
	const struct cfi_code *code;		  /* NULL: none is known */
	bool has_symbols;			  /* read */
	struct code_starts symbols;		  /* and what is distrusted; sorted */
	struct code_region regions[CODE_REGIONS]; /* the latest */
	size_t next_region;
};

void code_gaps_init(struct code_gaps *gaps, const struct cfi_object *object);
void code_gaps_deinit(struct code_gaps *gaps);
/*
 * The function at obj_addr, as far as it is in the gap [*low, *high), within which sections have no
 * rules; and its rows.  Where there is no code, the stretch without.
 */
void code_gaps_add_rows(struct code_gaps *gaps, uint64_t obj_addr, uint64_t *low, uint64_t *high,
	struct cfi_rows *rows);
/* Where the first function behind obj_addr begins, that is in the gap; UINT64_MAX if none does. */
uint64_t code_gaps_next_start(
	struct code_gaps *gaps, uint64_t obj_addr, uint64_t low, uint64_t high);
/* Where the function in the gap begins that holds obj_addr. */
uint64_t code_gaps_function(struct code_gaps *gaps, uint64_t obj_addr, uint64_t low, uint64_t high);
size_t code_gaps_size_bytes(const struct code_gaps *gaps);

#endif
