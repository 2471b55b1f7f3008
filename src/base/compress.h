#ifndef SONDE_BASE_COMPRESS_H
#define SONDE_BASE_COMPRESS_H

/*
 * Output packed by gzip (RFC 1952) or zstd (RFC 8878) on its way out, as a stream.  What goes in
 * decides what comes out: gzip's header has no time and no name, so the same text gives the same
 * bytes.  decompress.h is the way back.
 */

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum packing {
	PACKING_NONE,
	PACKING_GZIP,
	PACKING_ZSTD,
};

/* By the end of a file's name, ".gz" or ".zst"; the name without it is put into *stem. */
enum packing packing_of_name(struct str name, struct str *stem);

struct compressor;

/* packing is not PACKING_NONE. */
must_use returns_owned struct compressor *compressor_create(enum packing packing);
void compressor_destroy(struct compressor *c);
/*
 * Appends to out what so much more text packs to, which may be nothing yet; is_last ends the
 * stream.  Does not fail: a lack of memory is treated as alloc.h says.
 */
void compressor_add(struct compressor *c, struct str text, bool is_last, struct strbuf *out);

#endif
