/*
 * Writes gzip and zstd as streams, each into a growing buffer that the caller empties.  See
 * compress.h.
 *
 * The levels are the defaults of the tools gzip (6) and zstd (3).
 */
#define ZLIB_CONST
#include "base/compress.h"

#include <assert.h>
#include <stdlib.h>

#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define GZIP_LEVEL 6
#define ZSTD_LEVEL 3
#define STEP_BYTES ((size_t)1 << 16)

struct compressor {
	enum packing packing;
	z_stream gzip;
	ZSTD_CCtx *zstd;
};

enum packing packing_of_name(struct str name, struct str *stem)
{
	static const struct {
		const char *extension;
		enum packing packing;
	} known[] = {{".gz", PACKING_GZIP}, {".zst", PACKING_ZSTD}};

	*stem = name;
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct str extension = str_from(known[i].extension);

		if (!str_ends_with(name, extension))
			continue;
		stem->size -= extension.size;
		return known[i].packing;
	}
	return PACKING_NONE;
}

/* With valid levels, starting either library fails only for lack of memory. */
static void *started(void *memory)
{
	return memory ? memory : xalloc(SIZE_MAX / 2);
}

struct compressor *compressor_create(enum packing packing)
{
	struct compressor *c = xalloc(sizeof(*c));

	c->packing = packing;
	assert(packing != PACKING_NONE);
	if (packing == PACKING_ZSTD) {
		c->zstd = started(ZSTD_createCCtx());
		ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
		ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_checksumFlag, 1);
	} else if (deflateInit2(&c->gzip, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) !=
		   Z_OK) {
		(void)started(NULL);
	}
	return c;
}

void compressor_destroy(struct compressor *c)
{
	if (c == NULL)
		return;
	if (c->packing == PACKING_ZSTD)
		ZSTD_freeCCtx(c->zstd);
	else
		deflateEnd(&c->gzip);
	free(c);
}

/* One step, into the available room; true: there is more to do. */
static bool gzip_step(z_stream *z, struct str *text, bool is_last, struct strbuf *out)
{
	uInt offered = text->size > STEP_BYTES ? (uInt)STEP_BYTES : (uInt)text->size;
	bool is_end = is_last && offered == text->size;

	z->next_in = (const Bytef *)text->data;
	z->avail_in = offered;
	z->next_out = (Bytef *)out->data + out->size;
	z->avail_out = (uInt)STEP_BYTES;
	int result = deflate(z, is_end ? Z_FINISH : Z_NO_FLUSH);
	assert(result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR);
	out->size += STEP_BYTES - z->avail_out;
	text->data += offered - z->avail_in;
	text->size -= offered - z->avail_in;
	return is_end ? result != Z_STREAM_END : text->size || z->avail_out == 0;
}

static bool zstd_step(ZSTD_CCtx *z, struct str *text, bool is_last, struct strbuf *out)
{
	ZSTD_inBuffer in = {.src = text->data, .size = text->size};
	ZSTD_outBuffer space = {.dst = out->data + out->size, .size = STEP_BYTES};
	size_t left = ZSTD_compressStream2(z, &space, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);

	assert(!ZSTD_isError(left));
	out->size += space.pos;
	text->data += in.pos;
	text->size -= in.pos;
	return is_last ? left != 0 : text->size != 0;
}

void compressor_add(struct compressor *c, struct str text, bool is_last, struct strbuf *out)
{
	bool more = text.size || is_last;

	while (more) {
		strbuf_reserve(out, STEP_BYTES);
		more = c->packing == PACKING_ZSTD ? zstd_step(c->zstd, &text, is_last, out)
						  : gzip_step(&c->gzip, &text, is_last, out);
		out->data[out->size] = '\0';
	}
}
