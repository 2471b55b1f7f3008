/*
 * One decompression context that is fed piece by piece.  There can be several frames in a row; a
 * damaged piece loses everything that depends on it, up to the next frame.
 */
#include "base/zstd_stream.h"

#include <stdlib.h>

#include <zstd.h>

#include "base/alloc.h"

#define STEP_BYTES ((size_t)128 << 10)

struct zstd_stream {
	ZSTD_DCtx *context;
};

struct zstd_stream *zstd_stream_create(void)
{
	struct zstd_stream *s = xalloc(sizeof(*s));

	s->context = ZSTD_createDCtx();
	/* A larger window must be requested explicitly (as with zstd --long=31). */
	ZSTD_DCtx_setParameter(s->context, ZSTD_d_windowLogMax, 27);
	return s;
}

void zstd_stream_destroy(struct zstd_stream *s)
{
	if (s == NULL)
		return;
	ZSTD_freeDCtx(s->context);
	free(s);
}

const char *zstd_stream_add(
	struct zstd_stream *s, const void *bytes, size_t size, uint64_t limit, struct strbuf *out)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size};
	bool is_full = true;

	/* After all input, a full output buffer means that there may be more output. */
	while (in.pos < in.size || is_full) {
		if (out->size >= limit)
			return "it unpacks to more than it may";
		strbuf_reserve(out, STEP_BYTES);
		ZSTD_outBuffer to = {.dst = out->data + out->size, .size = STEP_BYTES};
		size_t result = ZSTD_decompressStream(s->context, &to, &in);
		if (ZSTD_isError(result)) {
			ZSTD_DCtx_reset(s->context, ZSTD_reset_session_only);
			return "its zstd data are damaged";
		}
		out->size += to.pos;
		is_full = to.pos == to.size;
	}
	return NULL;
}
