#ifndef SONDE_BASE_WORD_H
#define SONDE_BASE_WORD_H

/* Numbers in the byte order of the machine that wrote them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number in size ≤ 8 bytes, least significant byte first unless is_big_endian. */
static inline uint64_t word_read(const uint8_t *bytes, size_t size, bool is_big_endian)
{
	uint64_t word = 0;

	for (size_t i = 0; i < size; i++)
		word = word << 8 | bytes[is_big_endian ? i : size - 1 - i];
	return word;
}

#endif
