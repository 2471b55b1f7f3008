#ifndef SONDE_OBJ_LAZY_BYTES_H
#define SONDE_OBJ_LAZY_BYTES_H

/*
 * Bytes of a file that are read on first use, a page at a time, at their place in one block of
 * memory.  Bytes that were not requested, or could not be read, are zero, so a truncated file or a
 * wrong offset gives wrong data at worst.
 *
 * Creating it costs the same for any size.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

#define LAZY_BYTES_MAX ((size_t)16 << 20)

/* Copies bytes of the file; false if some are missing. */
typedef bool lazy_bytes_read(void *context, uint64_t file_off, uint8_t *bytes, size_t size);

struct lazy_bytes;

/* For size bytes at file_off.  NULL if the address space is too small. */
must_use struct lazy_bytes *lazy_bytes_create(
	lazy_bytes_read *read, void *context, uint64_t file_off, size_t size);
/* A copy of bytes in memory. */
must_use struct lazy_bytes *lazy_bytes_copy(const void *bytes, size_t size);
void lazy_bytes_destroy(struct lazy_bytes *lazy);

/* The bytes: [size]. */
const uint8_t *lazy_bytes_data(const struct lazy_bytes *lazy);
/* Reads up to size bytes at offset, fewer at the end.  False: they cannot be read. */
bool lazy_bytes_need(struct lazy_bytes *lazy, uint64_t offset, uint64_t size);
/* If more than LAZY_BYTES_MAX has been read, drops it all: it will be read again. */
void lazy_bytes_tidy(struct lazy_bytes *lazy);
/* The memory it takes. */
size_t lazy_bytes_size_bytes(const struct lazy_bytes *lazy);

#endif
