/*
 * The capture reader, behind its checksums.  An input is a capture file whose chunks are stored,
 * not compressed; sizes, sequence numbers and checksums are made right here before it is read, so
 * that a mutant gets as far as its contents.  It is also read as it is.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../random_capture.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/wire.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "formats/readers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity);

static const uint8_t magic[4] = {0x8a, 'S', 'C', '\n'};

static void read_one(const uint8_t *data, size_t size)
{
	struct reader_input input = {.name = "fuzz", .data = data, .size = size};
	struct builder *b = builder_create();
	struct profile *p = NULL;
	struct error *err = reader_capture.read(&input, b);

	if (err)
		builder_destroy(b);
	else
		err = builder_finish(b, &p);
	profile_destroy(p);
	error_destroy(err);
}

static void set_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
}

/* A chunk from its magic to the next one's, or to the end. */
static void repair_chunk(uint8_t *chunk, size_t size, uint32_t sequence)
{
	uint32_t stored = (uint32_t)size - CAPTURE_CHUNK_HEADER_SIZE;
	bool is_packed = chunk[5] == 1;

	set_u32(chunk + 8, sequence);
	set_u32(chunk + 12, stored);
	if (!is_packed)
		set_u32(chunk + 16, stored);
	set_u32(chunk + 20, crc32c(0, chunk + CAPTURE_CHUNK_HEADER_SIZE, stored));
	set_u32(chunk + 24, crc32c(0, chunk, CAPTURE_CHUNK_HEADER_SIZE - 4));
}

static void repair(uint8_t *data, size_t size)
{
	struct strbuf header = {0};
	struct capture_packer *packer = capture_packer_create(1);
	uint32_t sequence = 0;

	capture_pack_file_header(packer, &header);
	memcpy(data, header.data, header.size);
	strbuf_deinit(&header);
	capture_packer_destroy(packer);
	for (size_t at = CAPTURE_FILE_HEADER_SIZE; size - at >= CAPTURE_CHUNK_HEADER_SIZE;) {
		uint8_t *chunk = memmem(data + at, size - at, magic, sizeof(magic));
		if (chunk == NULL || data + size - chunk < CAPTURE_CHUNK_HEADER_SIZE)
			break;
		uint8_t *from = chunk + CAPTURE_CHUNK_HEADER_SIZE;
		uint8_t *next = memmem(from, (size_t)(data + size - from), magic, sizeof(magic));
		uint8_t *end = next ? next : data + size;
		repair_chunk(chunk, (size_t)(end - chunk), sequence++);
		at = (size_t)(end - data);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_one(data, size);
	if (size <= CAPTURE_FILE_HEADER_SIZE)
		return 0;
	uint8_t *copy = xrealloc_array(NULL, size, 1);
	memcpy(copy, data, size);
	repair(copy, size);
	read_one(copy, size);
	free(copy);
	return 0;
}

/* The chunks of a file, stored. */
static void unpack_file(const struct file_bytes *bytes, struct strbuf *out)
{
	struct capture_scan scan;
	struct capture_chunk chunk;
	struct cursor payload;
	struct capture_unpacker *unpacker = capture_unpacker_create();

	strbuf_add(out, (struct str){(const char *)bytes->data, CAPTURE_FILE_HEADER_SIZE});
	capture_scan_init(&scan, bytes->data, bytes->size);
	while (capture_scan_next(&scan, &chunk)) {
		uint8_t header[CAPTURE_CHUNK_HEADER_SIZE] = {0};
		if (capture_unpack(unpacker, &chunk, "seed", &payload) != NULL)
			abort();
		memcpy(header, magic, sizeof(magic));
		header[4] = chunk.type;
		strbuf_add(out, (struct str){(char *)header, sizeof(header)});
		strbuf_add(out, (struct str){(const char *)payload.at, cursor_left(&payload)});
	}
	capture_unpacker_destroy(unpacker);
}

static void add_special_objects(struct capture_writer *w, uint32_t node)
{
	const int64_t weight = 5;
	const struct capture_symbol_frame chain[] = {
		{.function = STR("a"), .file = STR("a.h"), .line = 1, .is_inline = true},
		{.function = STR("b"), .file = STR("b.c"), .line = 2},
	};

	capture_writer_object(w, 10, STR("[kernel]"), STR(""), CAPTURE_OBJECT_KERNEL);
	capture_writer_object(w, 11, STR("[truncated]"), STR(""), CAPTURE_OBJECT_TRUNCATED);
	capture_writer_node(w, node, 0, 11, 0);
	capture_writer_node(w, node + 1, node, 10, 0xffffffff81000000);
	capture_writer_sample(w, 900000000, 0, node + 1, 0, 0, &weight);
	capture_writer_symbol(w, 10, 0xffffffff81000000, chain, 2);
	capture_writer_counter(w, CAPTURE_TRUNCATED_MEMORY, 1);
	capture_writer_number(w, CAPTURE_CPU_NS, 1000000000);
}

/* Callers that left no frame, between the last special frame and another one. */
static void add_tails(struct capture_writer *w, uint32_t node)
{
	const int64_t weight = 6;
	const uint64_t caller = 0xffffffff81000000;

	capture_writer_node(w, node, node - 1, 10, caller + 0x100);
	capture_writer_sample(w, 905000000, 0, node, 0, 0, &weight);
	for (uint64_t i = 2; i < 4; i++) {
		capture_writer_symbol(w, 10, caller + i * 0x100,
			&(struct capture_symbol_frame){.function = STR("jumps")}, 1);
		capture_writer_tail(
			w, &(struct capture_tail){10, caller, caller + 0x100, caller + i * 0x100});
	}
}

/* What a program has measured itself. */
static void add_zones(struct capture_writer *w, uint32_t node)
{
	const int64_t weight = 7;

	capture_writer_object(w, 12, STR("[zones]"), STR(""), CAPTURE_OBJECT_ZONE);
	capture_writer_symbol(
		w, 12, 1, &(struct capture_symbol_frame){.function = STR("frame")}, 1);
	capture_writer_node(w, node, 0, 12, 1);
	capture_writer_node(w, node + 1, node, 12, 0);
	for (uint32_t i = 0; i < 6; i++) {
		capture_writer_sample(w, 910000000 + i, 0, node - 1, node + i % 2, 0, &weight);
		capture_writer_zone_row(
			w, &(struct capture_zone_row){900000000 + i, 0, node + i % 2, 100 * i, i});
		capture_writer_zone_event(w, 900000000 + i, 0, i % 3 ? node + i % 2 : 0);
		capture_writer_tick(w, &(struct capture_tick){0, STR("frame"), i, 900000000 + i, 1,
					       i % 2 ? 0 : CAPTURE_NO_ID});
	}
	capture_writer_note(w, CAPTURE_NOTE_INFO, 1, STR("an end was missing"));
}

static void record_seed(size_t n, const char *path)
{
	struct random_capture_options options = {
		.seed = n,
		.functions = 6 + (uint32_t)n * 10,
		.depth = 4 + (uint32_t)n * 3,
		.turnover = 2,
		.threads = 1 + (uint32_t)n % 3,
		.objects = 2,
		.interval_ns = 20000000,
		.jitter_ns = 5000,
	};
	struct random_capture r;
	struct capture_writer *w;

	random_capture_init(&r, &options);
	if (capture_writer_create(path, &w) != NULL)
		abort();
	random_capture_begin(&r, w);
	random_capture_run(&r, w, 10 + n * 5);
	if (n % 2 == 0)
		random_capture_symbols(&r, w);
	add_special_objects(w, (uint32_t)r.nodes.count);
	if (n % 2)
		add_zones(w, (uint32_t)r.nodes.count + 2);
	else
		add_tails(w, (uint32_t)r.nodes.count + 2);
	if (capture_writer_finish(w, NULL) != NULL)
		abort();
	random_capture_deinit(&r);
}

size_t fuzz_seed(size_t n, uint8_t *data, size_t capacity)
{
	char path[] = "/tmp/sonde-seed-XXXXXX";
	struct file_bytes bytes;
	struct strbuf file = {0};
	size_t size = 0;

	if (n >= 4 || mkdtemp(path) == NULL)
		return 0;
	char *name = xasprintf("%s/seed.prof", path);
	record_seed(n, name);
	if (file_read(name, 0, &bytes) != NULL)
		abort();
	unpack_file(&bytes, &file);
	file_bytes_deinit(&bytes);
	unlink(name);
	rmdir(path);
	free(name);
	if (file.size <= capacity) {
		memcpy(data, file.data, file.size);
		size = file.size;
	}
	strbuf_deinit(&file);
	return size;
}
