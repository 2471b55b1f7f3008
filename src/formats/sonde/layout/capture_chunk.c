/*
 * Chunks of a capture file: their headers, checksums and compression, and the search for them in
 * damaged files.  man/sonde-capture.5 documents the bytes.
 *
 * A scan takes time linear in the file's size for any contents: the header has its own checksum, so
 * its length is reliable, and a payload is summed once and then skipped, valid or not.  A bad
 * header costs its 28 bytes.
 */
#include "formats/sonde/layout/capture_chunk.h"

#include <assert.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/wire.h"

static const uint8_t file_magic[8] = {0x89, 'S', 'O', 'N', 'D', 'E', '\r', '\n'};
static const uint8_t chunk_magic[4] = {0x8a, 'S', 'C', '\n'};

enum { CODING_STORED = 0, CODING_ZSTD = 1 };

static bool checksum_fits(uint32_t stored, const void *data, size_t size)
{
	return stored == crc32c(0, data, size);
}

struct capture_packer {
	ZSTD_CCtx *zstd;
	int level;
	struct capture_place at;
	struct strbuf packed;
};

struct capture_packer *capture_packer_create(int zstd_level)
{
	struct capture_packer *p = xalloc(sizeof(*p));

	p->zstd = ZSTD_createCCtx();
	if (p->zstd == NULL)
		abort();
	p->level = zstd_level;
	return p;
}

void capture_packer_destroy(struct capture_packer *p)
{
	if (p == NULL)
		return;
	ZSTD_freeCCtx(p->zstd);
	strbuf_deinit(&p->packed);
	free(p);
}

struct capture_place capture_packer_place(const struct capture_packer *p)
{
	return p->at;
}

void capture_packer_go_to(struct capture_packer *p, struct capture_place place)
{
	p->at = place;
}

void capture_pack_file_header(struct capture_packer *p, struct strbuf *out)
{
	size_t start = out->size;

	strbuf_add(out, (struct str){(const char *)file_magic, sizeof(file_magic)});
	wire_put_u16(out, CAPTURE_FORMAT_VERSION);
	wire_put_u16(out, 0);
	wire_put_u32(out, crc32c(0, out->data + start, out->size - start));
	assert(out->size - start == CAPTURE_FILE_HEADER_SIZE);
	p->at.offset += CAPTURE_FILE_HEADER_SIZE;
}

/* The payload compressed; unchanged if compression gains nothing or would exceed the raw limit. */
static struct str pack_payload(struct capture_packer *p, struct str raw, uint8_t *coding)
{
	size_t bound = ZSTD_compressBound(raw.size);

	strbuf_clear(&p->packed);
	strbuf_reserve(&p->packed, bound);
	size_t size =
		ZSTD_compressCCtx(p->zstd, p->packed.data, bound, raw.data, raw.size, p->level);
	uint64_t end = p->at.offset + CAPTURE_CHUNK_HEADER_SIZE + size;
	*coding = CODING_STORED;
	if (ZSTD_isError(size) || size >= raw.size ||
		p->at.raw_total + raw.size > capture_raw_limit(end))
		return raw;
	*coding = CODING_ZSTD;
	return (struct str){p->packed.data, size};
}

void capture_pack_chunk(
	struct capture_packer *p, enum capture_chunk_type type, struct str raw, struct strbuf *out)
{
	uint8_t coding;
	size_t start = out->size;

	assert(raw.size <= CAPTURE_RAW_MAX);
	struct str stored = pack_payload(p, raw, &coding);
	strbuf_add(out, (struct str){(const char *)chunk_magic, sizeof(chunk_magic)});
	strbuf_add_char(out, (char)type);
	strbuf_add_char(out, (char)coding);
	wire_put_u16(out, 0);
	wire_put_u32(out, p->at.sequence++);
	wire_put_u32(out, (uint32_t)stored.size);
	wire_put_u32(out, (uint32_t)raw.size);
	wire_put_u32(out, crc32c(0, stored.data, stored.size));
	wire_put_u32(out, crc32c(0, out->data + start, out->size - start));
	strbuf_add(out, stored);
	p->at.raw_total += raw.size;
	p->at.offset += CAPTURE_CHUNK_HEADER_SIZE + stored.size;
}

bool capture_recognise(const uint8_t *data, size_t size)
{
	return size >= sizeof(file_magic) && memcmp(data, file_magic, sizeof(file_magic)) == 0;
}

struct error *capture_check_file_header(const uint8_t *data, size_t size, const char *name)
{
	struct cursor c;

	if (!capture_recognise(data, size))
		return error_input(name, 0, "this is not a sonde recording");
	cursor_init(&c, data, size, name, 0);
	cursor_skip(&c, sizeof(file_magic));
	uint16_t version = cursor_u16(&c);
	cursor_skip(&c, 2);
	uint32_t checksum = cursor_u32(&c);
	struct error *err = cursor_error(&c);
	if (err)
		return err;
	if (!checksum_fits(checksum, data, CAPTURE_FILE_HEADER_SIZE - 4))
		return error_input(name, 12, "the file header is damaged");
	if (version != CAPTURE_FORMAT_VERSION)
		return error_new(ERROR_UNSUPPORTED,
			"%s: written by another version of sonde, as format %u; this one reads %u",
			name, version, CAPTURE_FORMAT_VERSION);
	return NULL;
}

void capture_scan_init(struct capture_scan *scan, const uint8_t *data, size_t size)
{
	*scan = (struct capture_scan){.data = data, .size = size};
	scan->at = size < CAPTURE_FILE_HEADER_SIZE ? size : CAPTURE_FILE_HEADER_SIZE;
}

static void scan_damage(struct capture_scan *scan, size_t size)
{
	if (!scan->in_damage && scan->damaged_places++ == 0)
		scan->damaged_first = scan->base + scan->at;
	scan->in_damage = true;
	scan->damaged_bytes += size;
	scan->at += size;
}

/* Skips to the next possible chunk header. */
static void scan_resync(struct capture_scan *scan)
{
	const uint8_t *from = scan->data + scan->at + 1;
	size_t left = scan->size - scan->at - 1;
	const uint8_t *hit = memmem(from, left, chunk_magic, sizeof(chunk_magic));

	scan_damage(scan, hit ? (size_t)(hit - from) + 1 : left + 1);
}

/* Whether the remaining bytes can begin a valid chunk: then the writer was interrupted. */
static bool scan_is_cut_short(const struct capture_scan *scan, size_t left)
{
	size_t size = left < sizeof(chunk_magic) ? left : sizeof(chunk_magic);

	return memcmp(scan->data + scan->at, chunk_magic, size) == 0;
}

enum header_state { HEADER_GOOD, HEADER_BAD, HEADER_CUT };

static enum header_state scan_header(
	struct capture_scan *scan, struct capture_chunk *chunk, uint32_t *payload_checksum)
{
	const uint8_t *start = scan->data + scan->at;
	size_t left = scan->size - scan->at;
	struct cursor c;

	if (left < CAPTURE_CHUNK_HEADER_SIZE)
		return scan_is_cut_short(scan, left) ? HEADER_CUT : HEADER_BAD;
	if (memcmp(start, chunk_magic, sizeof(chunk_magic)) != 0)
		return HEADER_BAD;
	cursor_init(&c, start, CAPTURE_CHUNK_HEADER_SIZE, "", scan->at);
	cursor_skip(&c, sizeof(chunk_magic));
	chunk->offset = scan->base + scan->at;
	chunk->type = cursor_u8(&c);
	chunk->coding = cursor_u8(&c);
	cursor_skip(&c, 2);
	chunk->sequence = cursor_u32(&c);
	chunk->stored.size = cursor_u32(&c);
	chunk->raw_size = cursor_u32(&c);
	*payload_checksum = cursor_u32(&c);
	if (!checksum_fits(cursor_u32(&c), start, CAPTURE_CHUNK_HEADER_SIZE - 4))
		return HEADER_BAD;
	chunk->stored.data = (const char *)start + CAPTURE_CHUNK_HEADER_SIZE;
	return chunk->stored.size > left - CAPTURE_CHUNK_HEADER_SIZE ? HEADER_CUT : HEADER_GOOD;
}

static void scan_count_missing(struct capture_scan *scan, uint32_t sequence)
{
	if (sequence > scan->next_sequence)
		scan->missing_chunks += sequence - scan->next_sequence;
	if (sequence >= scan->next_sequence)
		scan->next_sequence = sequence + 1;
}

/* Whether the chunk may expand to the size in its header. */
static bool scan_raw_fits(struct capture_scan *scan, const struct capture_chunk *chunk)
{
	uint64_t end = chunk->offset + CAPTURE_CHUNK_HEADER_SIZE + chunk->stored.size;

	if (chunk->raw_size > CAPTURE_RAW_MAX ||
		scan->raw_total + chunk->raw_size > capture_raw_limit(end))
		return false;
	scan->raw_total += chunk->raw_size;
	return true;
}

bool capture_scan_next(struct capture_scan *scan, struct capture_chunk *chunk)
{
	while (scan->at < scan->size) {
		uint32_t checksum;
		enum header_state state = scan_header(scan, chunk, &checksum);
		if (state == HEADER_BAD) {
			scan_resync(scan);
			continue;
		}
		if (state == HEADER_CUT) {
			scan->cut_short = true;
			scan->at = scan->size;
			break;
		}
		size_t size = CAPTURE_CHUNK_HEADER_SIZE + chunk->stored.size;
		if (!checksum_fits(checksum, chunk->stored.data, chunk->stored.size) ||
			!scan_raw_fits(scan, chunk)) {
			scan_damage(scan, size);
			continue;
		}
		scan->at += size;
		scan->in_damage = false;
		scan_count_missing(scan, chunk->sequence);
		return true;
	}
	return false;
}

struct capture_unpacker {
	ZSTD_DCtx *zstd;
	struct strbuf raw;
};

struct capture_unpacker *capture_unpacker_create(void)
{
	struct capture_unpacker *u = xalloc(sizeof(*u));

	u->zstd = ZSTD_createDCtx();
	if (u->zstd == NULL)
		abort();
	return u;
}

void capture_unpacker_destroy(struct capture_unpacker *u)
{
	if (u == NULL)
		return;
	ZSTD_freeDCtx(u->zstd);
	strbuf_deinit(&u->raw);
	free(u);
}

static const char *unpack_problem(struct capture_unpacker *u, const struct capture_chunk *chunk)
{
	if (chunk->coding == CODING_STORED)
		return chunk->raw_size == chunk->stored.size ? NULL
							     : "a chunk's sizes do not agree";
	if (chunk->coding != CODING_ZSTD)
		return "a chunk is compressed in a way that is not known";
	strbuf_clear(&u->raw);
	strbuf_reserve(&u->raw, chunk->raw_size);
	size_t size = ZSTD_decompressDCtx(
		u->zstd, u->raw.data, chunk->raw_size, chunk->stored.data, chunk->stored.size);
	if (ZSTD_isError(size) || size != chunk->raw_size)
		return "a chunk cannot be decompressed";
	return NULL;
}

struct error *capture_unpack(struct capture_unpacker *u, const struct capture_chunk *chunk,
	const char *name, struct cursor *payload)
{
	const char *problem = unpack_problem(u, chunk);

	if (problem)
		return error_input(name, chunk->offset, "%s", problem);
	const void *raw = chunk->coding == CODING_STORED ? chunk->stored.data : u->raw.data;
	cursor_init(payload, raw, chunk->raw_size, name, 0);
	return NULL;
}
