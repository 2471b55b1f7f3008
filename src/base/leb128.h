#ifndef SONDE_BASE_LEB128_H
#define SONDE_BASE_LEB128_H

/*
 * LEB128 (DWARF 5 section 7.6), which protocol buffers call varints: seven bits a byte, the lowest
 * first, and the eighth says that more follow.  The writing end; base/cursor.h reads it.
 */

#include <stddef.h>
#include <stdint.h>

#define LEB128_BYTES_MAX 10 /* of 64 bits */

/* Writes the value at out, where there is room; gives how many bytes that took. */
static inline size_t uleb_encode(char *out, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out[size++] = (char)(value | 0x80);
	out[size++] = (char)value;
	return size;
}

#endif
