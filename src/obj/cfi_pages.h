#ifndef SONDE_OBJ_CFI_PAGES_H
#define SONDE_OBJ_CFI_PAGES_H

/*
 * The rows that a table has compiled so far.  Private to the compiler of CFI tables.
 *
 * A row is 32 bits: the low half of its address, above the rule's number.  Rows are in pages of 64
 * KiB of addresses; each page begins with a row for its first address, so that a look-up never
 * leaves its page.  Code that is not compiled yet has rows of CFI_RULE_UNKNOWN.
 *
 * The pages take at most CFI_CACHE_MAX bytes of memory: before exceeding it, all pages are dropped.
 * All of libLLVM's rows, more than most programs ever use, take 5 MB.
 */

#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi_rows.h"

#define CFI_CACHE_MAX ((size_t)16 << 20)
/* Rows of a function are kept up to this distance from the requested address. */
#define CFI_REACH ((uint64_t)1 << 20)

struct cfi_page {
	VEC(uint32_t) rows;
};

struct cfi_pages {
	struct map at; /* address / 64 KiB → index */
	VEC(struct cfi_page) pages;
	size_t size_bytes;
};

void cfi_pages_deinit(struct cfi_pages *pages);
/* The number of the rule at obj_addr. */
uint16_t cfi_pages_find(const struct cfi_pages *pages, uint64_t obj_addr);
/*
 * Keeps the rows for [low, high), which contains obj_addr, but no farther than CFI_REACH from
 * obj_addr.  The first row is at low or before.
 */
void cfi_pages_put(struct cfi_pages *pages, uint64_t obj_addr, uint64_t low, uint64_t high,
	const struct cfi_rows *rows);

#endif
