#ifndef SONDE_OBJ_SECTION_UNPACK_H
#define SONDE_OBJ_SECTION_UNPACK_H

/* Decompresses sections. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger sections are refused. */
#define SECTION_UNPACK_MAX ((uint64_t)4 << 30)

/*
 * Unpacks a section's bytes, in the gABI's form (with a header) or in GNU's old form (.zdebug_
 * sections).  The caller frees the result; *unpacked_size is set to its size.  NULL if the bytes
 * are invalid, or state an absurd size.
 */
uint8_t *section_unpack(const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size);

/* Only the size that the section states; false if it is absurd or missing. */
bool section_unpacked_size(
	const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size);

#endif
