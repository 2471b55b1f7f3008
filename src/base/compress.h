#ifndef SONDE_BASE_COMPRESS_H
#define SONDE_BASE_COMPRESS_H

/*
 * Compresses output with gzip (RFC 1952) or zstd (RFC 8878), as a stream.  The same text always
 * gives the same bytes: gzip's header has no time and no name. decompress.h is the inverse.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum packing {
	PACKING_NONE,
	PACKING_GZIP,
	PACKING_ZSTD,
};

/* Determined by the suffix of a file name, ".gz" or ".zst"; *stem is the name without it. */
enum packing packing_of_name(struct str name, struct str *stem);

struct compressor;

/* packing must not be PACKING_NONE. */
must_use returns_owned struct compressor *compressor_create(enum packing packing);
void compressor_destroy(struct compressor *c);
/*
 * Compresses more text and appends the output to out, which may be nothing yet; is_last ends the
 * stream.  Does not fail; for lack of memory, see alloc.h.
 */
void compressor_add(struct compressor *c, struct str text, bool is_last, struct strbuf *out);

#endif
