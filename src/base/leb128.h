#ifndef SONDE_BASE_LEB128_H
#define SONDE_BASE_LEB128_H

/*
 * LEB128 (DWARF 5 section 7.6), which protocol buffers call varints: seven bits per byte, the
 * lowest first; the eighth means that more follow.  This writes them; base/cursor.h reads them.
 */

#include <stddef.h>
#include <stdint.h>

#define LEB128_BYTES_MAX 10 /* for 64 bits */

/* Writes the value at out, which must have room; returns the number of bytes. */
static inline size_t uleb_encode(char *out, uint64_t value)
{
	size_t size = 0;

	for (; value >= 0x80; value >>= 7)
		out[size++] = (char)(value | 0x80);
	out[size++] = (char)value;
	return size;
}

#endif
