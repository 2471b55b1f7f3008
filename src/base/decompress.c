/*
 * Decompresses gzip and zstd as streams into one growing buffer.  The claimed unpacked size is
 * never trusted: memory grows with the actual output, and the ratio of output to input is checked
 * all along, so that a decompression bomb is refused early.
 */
#define ZLIB_CONST
#include "base/decompress.h"

#include <stdlib.h>

#ifdef HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#define FREE_BYTES  ((uint64_t)64 << 20) /* any file may unpack to this size */
#define RATIO_MAX   256
#define LIMIT_BYTES ((uint64_t)16 << 30)
#define STEP_BYTES  ((size_t)1 << 20) /* of output between two checks of the ratio */

struct unpacked {
	const char *name;
	uint64_t limit;
	uint8_t *data;
	size_t size, capacity;
	bool takes_cut; /* accept truncated data */
	bool is_cut;
	bool is_too_large; /* the reason of an error */
};

/* Room for at least one more step of output. */
static void unpacked_reserve(struct unpacked *u)
{
	if (u->capacity - u->size >= STEP_BYTES)
		return;
	u->capacity += u->capacity / 2 + STEP_BYTES;
	u->data = xrealloc_array(u->data, u->capacity, 1);
}

static struct error *unpacked_check(struct unpacked *u, uint64_t consumed_bytes)
{
	u->is_too_large = u->size > u->limit || u->size > FREE_BYTES + RATIO_MAX * consumed_bytes;
	if (!u->is_too_large)
		return NULL;
	if (u->size > u->limit)
		return error_new(ERROR_INPUT, "%s: unpacks to more than %llu bytes", u->name,
			(unsigned long long)u->limit);
	return error_new(ERROR_INPUT,
		"%s: unpacks to over %d times its size; unpack it first if you trust it", u->name,
		RATIO_MAX);
}

/* The data are truncated; an error unless the caller accepts that. */
static struct error *cut_off(struct unpacked *u, const char *kind)
{
	u->is_cut = true;
	if (u->takes_cut && u->size)
		return NULL;
	return error_new(ERROR_INPUT, "%s: the %s data are cut off", u->name, kind);
}

/* One more step of inflate into u; *result is zlib's. */
static void gzip_step(z_stream *z, struct file_bytes *in, struct unpacked *u, int *result)
{
	unpacked_reserve(u);
	uInt offered = in->size > UINT32_MAX / 2 ? UINT32_MAX / 2 : (uInt)in->size;
	uInt space = (uInt)STEP_BYTES;
	z->next_in = in->data;
	z->avail_in = offered;
	z->next_out = u->data + u->size;
	z->avail_out = space;
	*result = inflate(z, Z_NO_FLUSH);
	in->data += offered - z->avail_in;
	in->size -= offered - z->avail_in;
	u->size += space - z->avail_out;
}

static bool is_gzip(const struct file_bytes *in)
{
	return in->size >= 3 && in->data[0] == 0x1f && in->data[1] == 0x8b && in->data[2] == 8;
}

/*
 * Unpacks one whole member at once, at twice zlib's speed; false if it is not a single member or is
 * damaged, which zlib then reports.  The claimed size is used if the data could unpack to it, as
 * unwritten memory costs nothing.
 */
static bool gzip_unpack_at_once(const struct file_bytes *packed, struct unpacked *u)
{
#ifdef HAVE_LIBDEFLATE
	if (packed->size < 18)
		return false;
	const uint8_t *end = packed->data + packed->size;
	size_t size =
		end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
	if (size > u->limit || size > FREE_BYTES + RATIO_MAX * (uint64_t)packed->size)
		return false;
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	size_t consumed = 0;
	u->data = xrealloc_array(NULL, size, 1);
	bool is_whole = d && libdeflate_gzip_decompress_ex(d, packed->data, packed->size, u->data,
				     size, &consumed, NULL) == LIBDEFLATE_SUCCESS;
	libdeflate_free_decompressor(d);
	if (is_whole && consumed == packed->size) {
		u->size = u->capacity = size;
		return true;
	}
	free(u->data);
	u->data = NULL;
#else
	(void)packed;
	(void)u;
#endif
	return false;
}

/* gzip members until the data end, or until something else follows the last, which is ignored. */
static struct error *gzip_unpack(const struct file_bytes *packed, struct unpacked *u)
{
	struct file_bytes in = *packed;
	struct error *err = NULL;
	z_stream z = {0};

	if (gzip_unpack_at_once(packed, u))
		return NULL;
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return error_new(ERROR_SYSTEM, "%s: cannot start zlib", u->name);
	while (err == NULL) {
		int result;
		gzip_step(&z, &in, u, &result);
		err = unpacked_check(u, packed->size - in.size);
		if (err)
			break;
		if (result == Z_STREAM_END) {
			if (!is_gzip(&in))
				break;
			inflateReset(&z);
		} else if (result != Z_OK && result != Z_BUF_ERROR) {
			err = error_input(u->name, packed->size - in.size, "damaged gzip data");
		} else if (in.size == 0 && z.avail_out) {
			err = cut_off(u, "gzip");
			break;
		}
	}
	inflateEnd(&z);
	return err;
}

static bool is_zstd(const struct file_bytes *in)
{
	if (in->size < 4)
		return false;
	uint32_t magic = in->data[0] | (uint32_t)in->data[1] << 8 | (uint32_t)in->data[2] << 16 |
			 (uint32_t)in->data[3] << 24;
	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

/* zstd frames until the data end, or until something else follows the last, which is ignored. */
static struct error *zstd_unpack(const struct file_bytes *packed, struct unpacked *u)
{
	ZSTD_inBuffer in = {.src = packed->data, .size = packed->size};
	ZSTD_DCtx *context = ZSTD_createDCtx();
	struct error *err = NULL;

	/* A larger window is for those who ask for it (zstd --long=31). */
	ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 27);
	while (err == NULL) {
		unpacked_reserve(u);
		ZSTD_outBuffer out = {.dst = u->data + u->size, .size = STEP_BYTES};
		size_t left = ZSTD_decompressStream(context, &out, &in);
		u->size += out.pos;
		if (ZSTD_isError(left)) {
			err = error_input(
				u->name, in.pos, "damaged zstd data: %s", ZSTD_getErrorName(left));
			break;
		}
		err = unpacked_check(u, in.pos);
		struct file_bytes rest = {packed->data + in.pos, packed->size - in.pos};
		if (err == NULL && left == 0 && !is_zstd(&rest))
			break;
		if (err == NULL && left && in.pos == in.size && out.pos < out.size) {
			err = cut_off(u, "zstd");
			break;
		}
	}
	ZSTD_freeDCtx(context);
	return err;
}

bool is_compressed(const struct file_bytes *bytes)
{
	return is_gzip(bytes) || is_zstd(bytes);
}

/* Packed bytes into *unpacked, which is untouched on failure. */
static struct error *unpack(
	const struct file_bytes *packed, struct unpacked *u, struct file_bytes *unpacked)
{
	struct error *err = is_gzip(packed) ? gzip_unpack(packed, u) : zstd_unpack(packed, u);

	if (err)
		free(u->data);
	else
		*unpacked = (struct file_bytes){.data = u->data, .size = u->size};
	return err;
}

struct error *decompress(const char *name, uint64_t limit, struct file_bytes *bytes, bool *is_cut)
{
	struct unpacked u = {
		.name = name, .limit = limit ? limit : LIMIT_BYTES, .takes_cut = is_cut != NULL};
	struct file_bytes unpacked;
	struct error *err;

	if (is_cut)
		*is_cut = false;
	if (!is_compressed(bytes))
		return NULL;
	err = unpack(bytes, &u, &unpacked);
	if (err)
		return err;
	if (is_cut)
		*is_cut = u.is_cut;
	file_bytes_deinit(bytes);
	*bytes = unpacked;
	return NULL;
}

struct error *decompress_borrowed(const char *name, uint64_t limit, const struct file_bytes *packed,
	struct file_bytes *unpacked, bool *is_too_large)
{
	struct unpacked u = {.name = name, .limit = limit ? limit : LIMIT_BYTES};
	struct error *err = unpack(packed, &u, unpacked);

	*is_too_large = u.is_too_large;
	return err;
}
