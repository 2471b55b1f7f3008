/*
 * Decompresses sections here instead of in libelf, to control the bounds and to support zstd with
 * any libelf.
 *
 * Sources: the System V gABI, "Section Compression"; binutils' documentation of .zdebug_ sections.
 */
#include "obj/section_unpack.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/alloc.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* Deflate's maximum ratio.  zstd can exceed it, but only on runs that no debug section has. */
#define RATIO_MAX 1032

static bool inflate_into(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
	z_stream z = {.next_in = (uint8_t *)(uintptr_t)in, .next_out = out};
	int state = Z_OK;

	if (inflateInit(&z) != Z_OK)
		return false;
	/* zlib's counters have 32 bits. */
	while (state == Z_OK && (in_size || out_size)) {
		uInt give = in_size > 1u << 30 ? 1u << 30 : (uInt)in_size;
		uInt room = out_size > 1u << 30 ? 1u << 30 : (uInt)out_size;
		z.avail_in = give;
		z.avail_out = room;
		state = inflate(&z, Z_NO_FLUSH);
		in_size -= give - z.avail_in;
		out_size -= room - z.avail_out;
		if (give == z.avail_in && room == z.avail_out)
			break;
	}
	inflateEnd(&z);
	return out_size == 0 && state == Z_STREAM_END;
}

/* Unpacks bytes of the given ELFCOMPRESS_ type; NULL if they are invalid. */
static uint8_t *unpack(uint32_t type, const uint8_t *in, size_t in_size, uint64_t out_size)
{
	if (out_size == 0 || out_size > SECTION_UNPACK_MAX || out_size / RATIO_MAX > in_size)
		return NULL;
	uint8_t *out = xalloc(out_size);
	bool good = false;
	if (type == ELFCOMPRESS_ZLIB)
		good = inflate_into(in, in_size, out, out_size);
	else if (type == ELFCOMPRESS_ZSTD)
		good = ZSTD_decompress(out, out_size, in, in_size) == out_size;
	if (good)
		return out;
	free(out);
	return NULL;
}

static void big_endian_size(const uint8_t *p, uint64_t *size)
{
	*size = 0;
	for (int i = 0; i < 8; i++)
		*size = *size << 8 | p[i];
}

/* How a section is packed. */
struct packing {
	uint32_t type; /* ELFCOMPRESS_… */
	size_t header_size;
	uint64_t unpacked_size;
};

static bool read_packing(const uint8_t *bytes, size_t size, bool gnu_style, struct packing *packing)
{
	Elf64_Chdr header;

	if (gnu_style) {
		if (size < 12 || memcmp(bytes, "ZLIB", 4) != 0)
			return false;
		*packing = (struct packing){.type = ELFCOMPRESS_ZLIB, .header_size = 12};
		big_endian_size(bytes + 4, &packing->unpacked_size);
		return true;
	}
	if (size < sizeof(header))
		return false;
	memcpy(&header, bytes, sizeof(header));
	*packing = (struct packing){header.ch_type, sizeof(header), header.ch_size};
	return true;
}

uint8_t *section_unpack(const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size)
{
	struct packing packing;

	if (!read_packing(bytes, size, gnu_style, &packing))
		return NULL;
	*unpacked_size = packing.unpacked_size;
	return unpack(packing.type, bytes + packing.header_size, size - packing.header_size,
		packing.unpacked_size);
}

bool section_unpacked_size(
	const uint8_t *bytes, size_t size, bool gnu_style, uint64_t *unpacked_size)
{
	struct packing packing;

	if (!read_packing(bytes, size, gnu_style, &packing) ||
		packing.unpacked_size > SECTION_UNPACK_MAX)
		return false;
	*unpacked_size = packing.unpacked_size;
	return true;
}
