#ifndef SONDE_OBJ_SECTION_UNPACK_H
#define SONDE_OBJ_SECTION_UNPACK_H

/* Decompresses sections. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger ones are refused. */
#define SECTION_UNPACK_MAX ((uint64_t)4 << 30)

/*
 * Unpacks a section's bytes, in the gABI's form (behind a header of its own) or in GNU's old one
 * (of .zdebug_ sections).  The result is to be freed, its size goes to *unpacked_size; NULL if they
 * are not sound, or state an absurd size.
 */
uint8_t *section_unpack(const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size);

/* Only its size, as the section states it; false if that is absurd or not there. */
bool section_unpacked_size(
	const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size);

#endif
