#ifndef SONDE_TESTS_CFI_BYTES_H
#define SONDE_TESTS_CFI_BYTES_H

/*
 * Call frame information, put together by hand.
 */

#include <stdint.h>

#include "base/vec.h"
#include "obj/cfi.h"

struct cfi_bytes {
	VEC(uint8_t) out;
	size_t entry; /* where the entry being written begins */
	size_t cie;   /* where the latest CIE begins */
	bool eh;      /* .eh_frame, else .debug_frame */
};

void cfi_bytes_put(struct cfi_bytes *b, uint64_t value, unsigned int size);
void cfi_bytes_uleb(struct cfi_bytes *b, uint64_t value);
void cfi_bytes_program(struct cfi_bytes *b, const uint8_t *program, size_t size);

/* An entry is begun, its program written, and ended, which pads it and sets its size. */
void cfi_bytes_end(struct cfi_bytes *b);
/*
 * A CIE with code factor 1, data factor -8 and the rules that a call leaves: CFA = sp + 8, return
 * address at CFA - 8.  Its addresses are 8 bytes, absolute; signal: of signal frames.
 */
void cfi_bytes_cie(struct cfi_bytes *b, bool signal);
/* Begins an FDE of the latest CIE. */
void cfi_bytes_begin_fde(struct cfi_bytes *b, uint64_t low, uint64_t size);
/* A whole one. */
void cfi_bytes_fde(
	struct cfi_bytes *b, uint64_t low, uint64_t size, const uint8_t *program, size_t count);
/* The section at obj_addr 0x100000. */
struct cfi_section cfi_bytes_section(const struct cfi_bytes *b);
/* Makes a table of it, compiles all of it, and frees it; *bad: how many entries are bad. */
struct cfi_table *cfi_bytes_compile(struct cfi_bytes *b, size_t *bad);
/* The same for another processor. */
struct cfi_table *cfi_bytes_compile_for(struct cfi_bytes *b, const struct arch *arch, size_t *bad);
/* Looks up all entries of the source; how many of them are bad. */
size_t cfi_bytes_bad(struct cfi_table *table, const struct cfi_source *source);

#define FDE(b, low, size, ...)                                                                     \
	cfi_bytes_fde((b), (low), (size), (const uint8_t[]){__VA_ARGS__},                          \
		sizeof((const uint8_t[]){__VA_ARGS__}))

#endif
