#ifndef SONDE_SYMBOLIZE_CACHE_FILE_H
#define SONDE_SYMBOLIZE_CACHE_FILE_H

/*
 * The contents of the symbol cache for one object: answers for the addresses requested so far.
 *
 * The file, "BUILD-ID.sym", all numbers little-endian:
 *
 *	header	 8 bytes "SONDESYM" · u32 version · u32 flags (1: names known, 2: lines known) ·
 *		 u64 size of the body · u32 CRC-32C of the body · u32 zero
 *	body	 u32 number of strings · for each u32 its size · the strings' bytes on end
 *		 u32 number of frames · for each u32 × 7: function, its aliases (each ended by NUL),
 *		 file, line, function's file, function's line, flags (1: inlined, 2: nameless);
 *		 strings by their number
 *		 u32 number of places · for each u64 obj_addr (ascending) · u32 first frame · u32
 *		 number of frames, innermost first, 0: nothing is known there
 *
 * A file that differs from this in any way is ignored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "symbolize/symbolize.h"

/* Increase it when the layout, or the answers of resolvers, change. */
#define CACHE_FILE_VERSION 6

struct cache_contents {
	const uint64_t *obj_addrs; /* [count], ascending */
	const struct symbol_place *places;
	size_t count;
	bool has_names, has_lines;
};

/* Reads a whole file into the arena (strings stay in bytes); false if it is invalid. */
bool cache_file_decode(struct str bytes, struct arena *arena, struct cache_contents *contents);
/* Appends the whole file to out. */
void cache_file_encode(const struct cache_contents *contents, struct strbuf *out);

#endif
