#ifndef SONDE_BASE_ZSTD_STREAM_H
#define SONDE_BASE_ZSTD_STREAM_H

/*
 * zstd data (RFC 8878) that come in pieces which only together are a stream, as in formats that
 * pack one record at a time.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/str.h"

struct zstd_stream;

must_use returns_owned struct zstd_stream *zstd_stream_create(void);
/* NULL is fine. */
void zstd_stream_destroy(struct zstd_stream *s);
/*
 * Appends to out what the next size bytes of the stream unpack to, so far as that can be told by
 * now; out grows to at most limit bytes.  NULL, or what is wrong, a literal: then the stream begins
 * anew with the next bytes.
 */
const char *zstd_stream_add(
	struct zstd_stream *s, const void *bytes, size_t size, uint64_t limit, struct strbuf *out);

#endif
