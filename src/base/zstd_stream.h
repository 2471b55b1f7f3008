#ifndef SONDE_BASE_ZSTD_STREAM_H
#define SONDE_BASE_ZSTD_STREAM_H

/*
 * zstd data (RFC 8878) in pieces of one stream, as in formats that compress one record at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct zstd_stream;

must_use returns_owned struct zstd_stream *zstd_stream_create(void);
/* NULL is allowed. */
void zstd_stream_destroy(struct zstd_stream *s);
/*
 * Unpacks the next size bytes of the stream as far as possible, and appends the result to out,
 * which grows to at most limit bytes.  Returns NULL, or the problem as a literal; the stream then
 * restarts with the next bytes.
 */
const char *zstd_stream_add(
	struct zstd_stream *s, const void *bytes, size_t size, uint64_t limit, struct strbuf *out);

#endif
