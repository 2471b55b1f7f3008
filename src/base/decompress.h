#ifndef SONDE_BASE_DECOMPRESS_H
#define SONDE_BASE_DECOMPRESS_H

/* Decompression of whole files, below the formats: gzip (RFC 1952) and zstd (RFC 8878). */

#include "base/file.h"

/* Whether bytes begin with gzip's or zstd's magic number. */
bool is_compressed(const struct file_bytes *bytes);

/*
 * If bytes begin with gzip's or zstd's magic number, replaces them with the unpacked data and frees
 * the packed ones; other bytes are unchanged.  On failure, bytes are untouched.  ERROR_INPUT if the
 * data are damaged or cut off, or unpack to more than 64 MiB + 256 × packed bytes read so far, or
 * to more than limit bytes (0: 16 GiB).  If is_cut is not NULL, truncated data that yield at least
 * one byte are not an error: bytes become what could be unpacked, and *is_cut is true; otherwise it
 * is false.
 */
must_use struct error *decompress(
	const char *name, uint64_t limit, struct file_bytes *bytes, bool *is_cut);

/*
 * The same for bytes that belong to somebody else, and must be compressed and whole: *unpacked is
 * the caller's.  *is_too_large, also on failure: the data would unpack to more than they may.
 */
must_use struct error *decompress_borrowed(const char *name, uint64_t limit,
	const struct file_bytes *packed, struct file_bytes *unpacked, bool *is_too_large);

#endif
