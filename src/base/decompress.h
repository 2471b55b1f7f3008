#ifndef SONDE_BASE_DECOMPRESS_H
#define SONDE_BASE_DECOMPRESS_H

/*
 * Whole-file compression, undone below the formats: gzip (RFC 1952) and zstd (RFC 8878).
 */

#include "base/file.h"

/* Whether bytes begin with gzip's or zstd's magic number. */
bool is_compressed(const struct file_bytes *bytes);

/*
 * Where bytes begin with gzip's or zstd's magic number, puts what they unpack to in their place and
 * frees the packed ones; all other bytes stay as they are.  On failure bytes are untouched.
 * ERROR_INPUT if the data are damaged or cut off, or unpack to more than
 * 64 MiB + 256 × packed bytes read so far, or to more than limit bytes (0: 16 GiB).
 * With is_cut, data that are cut off are no error if there is a byte in what is left of them: then
 * that is what bytes become, and *is_cut is true; else it is false.
 */
must_use struct error *decompress(
	const char *name, uint64_t limit, struct file_bytes *bytes, bool *is_cut);

#endif
