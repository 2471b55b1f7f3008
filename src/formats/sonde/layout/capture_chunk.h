#ifndef SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_CHUNK_H
#define SONDE_FORMATS_SONDE_LAYOUT_CAPTURE_CHUNK_H

/*
 * The structure of a capture file: a file header, then chunks.  A chunk's header has its own
 * checksum.  So a reader knows a chunk's length even if its payload is damaged, and if the header
 * is damaged, finds the next chunk by its magic number.
 */

#include "base/cursor.h"
#include "base/error.h"
#include "base/str.h"

#define CAPTURE_FORMAT_VERSION 1

enum {
	CAPTURE_FILE_HEADER_SIZE = 16,
	CAPTURE_CHUNK_HEADER_SIZE = 28,
	/* Maximum size of a decompressed payload. */
	CAPTURE_RAW_MAX = 16 << 20,
};

enum capture_chunk_type {
	CAPTURE_CHUNK_FACTS = 1,
	CAPTURE_CHUNK_METRICS = 2,
	CAPTURE_CHUNK_OBJECTS = 3,
	CAPTURE_CHUNK_PROCESSES = 4,
	CAPTURE_CHUNK_THREADS = 5,
	CAPTURE_CHUNK_MAPPINGS = 6,
	CAPTURE_CHUNK_COUNTERS = 7,
	CAPTURE_CHUNK_STACKS = 8,
	CAPTURE_CHUNK_SAMPLES = 9,
	CAPTURE_CHUNK_SYMBOLS = 10,
	CAPTURE_CHUNK_END = 11,
	CAPTURE_CHUNK_NOTES = 12,
	/* Of written profiles (enum capture_profile_flag). */
	CAPTURE_CHUNK_ADDRESSES = 13,
	CAPTURE_CHUNK_FUNCTIONS = 14,
	CAPTURE_CHUNK_ARCS = 15,
	/* Of recordings of programs with zones (prof.h). */
	CAPTURE_CHUNK_TICKS = 16,
	CAPTURE_CHUNK_ZONE_ROWS = 17,	/* like SAMPLES, with the weights zone-time, zone-entries */
	CAPTURE_CHUNK_ZONE_EVENTS = 18, /* like SAMPLES, without weights */
	/* Of written profiles with labels. */
	CAPTURE_CHUNK_LABELS = 19,
	CAPTURE_CHUNK_LABEL_SETS = 20,
	/* Of recordings with code of the kernel. */
	CAPTURE_CHUNK_MARKS = 21,
	/* Of recordings with callers that left no frame. */
	CAPTURE_CHUNK_TAILS = 22,
	CAPTURE_CHUNK_TYPE_COUNT
};

/* Whether chunks of a type are rows (formats/sonde/layout/capture_rows.h). */
static inline bool capture_chunk_has_rows(uint8_t type)
{
	return (type >= CAPTURE_CHUNK_FACTS && type <= CAPTURE_CHUNK_COUNTERS) ||
	       (type >= CAPTURE_CHUNK_NOTES && type <= CAPTURE_CHUNK_TICKS) ||
	       type == CAPTURE_CHUNK_LABELS || type == CAPTURE_CHUNK_LABEL_SETS ||
	       type == CAPTURE_CHUNK_MARKS || type == CAPTURE_CHUNK_TAILS;
}

struct capture_chunk {
	uint8_t type; /* enum capture_chunk_type, or one from the future */
	uint8_t coding;
	uint32_t sequence;
	uint32_t raw_size;
	struct str stored; /* the payload as stored */
	uint64_t offset;   /* of the header, in the file */
};

/*
 * The limit on expansion: the first `offset` bytes of a file may decompress to at most this many
 * bytes.  The writer keeps it, by storing a chunk uncompressed if necessary, and the reader
 * enforces it.  So the work and memory that a file can cause grow only with its size.
 */
static inline uint64_t capture_raw_limit(uint64_t offset)
{
	return ((uint64_t)4 << 20) + 8 * offset;
}

/* For writing: compression state and the sequence numbers of one file. */
struct capture_packer;
must_use returns_owned struct capture_packer *capture_packer_create(int zstd_level);
void capture_packer_destroy(struct capture_packer *p);
void capture_pack_file_header(struct capture_packer *p, struct strbuf *out);
/* A place in a file between chunks, for going on from there in a copy that ends at it. */
struct capture_place {
	uint32_t sequence;
	uint64_t raw_total, offset;
};
struct capture_place capture_packer_place(const struct capture_packer *p);
void capture_packer_go_to(struct capture_packer *p, struct capture_place place);
/* Appends a complete chunk to out.  raw.size is at most CAPTURE_RAW_MAX. */
void capture_pack_chunk(
	struct capture_packer *p, enum capture_chunk_type type, struct str raw, struct strbuf *out);

/* Whether the bytes begin like a capture file of any version. */
bool capture_recognise(const uint8_t *data, size_t size);
/* NULL if the file header is valid and of a supported version. */
must_use struct error *capture_check_file_header(
	const uint8_t *data, size_t size, const char *name);

/* For reading: goes from chunk to chunk, and skips damage. */
struct capture_scan {
	const uint8_t *data;
	size_t size, at;
	uint64_t base;		 /* file offset of data[0]; 0 unless the file is read in pieces */
	uint64_t raw_total;	 /* decompressed so far */
	uint64_t damaged_places; /* skipped places; one may contain several chunks */
	uint64_t damaged_bytes;
	uint64_t damaged_first;	 /* offset of the first */
	uint64_t missing_chunks; /* according to gaps in the sequence numbers */
	uint32_t next_sequence;
	bool in_damage;
	bool cut_short; /* the last bytes are the beginning of a chunk */
};

/* Starts after the file header; data must outlive it. */
void capture_scan_init(struct capture_scan *scan, const uint8_t *data, size_t size);
/* The next valid chunk; false at the end. */
bool capture_scan_next(struct capture_scan *scan, struct capture_chunk *chunk);

struct capture_unpacker;
must_use returns_owned struct capture_unpacker *capture_unpacker_create(void);
void capture_unpacker_destroy(struct capture_unpacker *u);
/*
 * Sets a cursor on the chunk's payload, decompressed into the unpacker's buffer and valid until its
 * next use.  Offsets in messages are in the decompressed payload.  Fails with ERROR_INPUT.
 */
must_use struct error *capture_unpack(struct capture_unpacker *u, const struct capture_chunk *chunk,
	const char *name, struct cursor *payload);

#endif
