/*
 * Capture files that are cut, damaged or hostile: what is good in them is read, what is not is
 * told, and nothing crashes.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../capture_files.h"
#include "../unit.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "base/wire.h"
#include "formats/sonde/layout/capture_chunk.h"

/* Five chunks of stacks and samples, in two kilobytes. */
static const struct random_capture_options tiny = {
	.seed = 7,
	.functions = 12,
	.depth = 5,
	.turnover = 2,
	.threads = 2,
	.objects = 2,
	.interval_ns = 20000000,
	.jitter_ns = 20000,
};

struct recording {
	struct random_capture r;
	struct file_bytes bytes;
};

static int make_recording(void **state)
{
	struct recording *rec = xalloc(sizeof(*rec));

	random_capture_init(&rec->r, &tiny);
	char *path = capture_make_file(&rec->r, "tiny.prof", 60, true);
	rec->bytes = capture_file_bytes(path);
	free(path);
	*state = rec;
	return 0;
}

static int free_recording(void **state)
{
	struct recording *rec = *state;

	random_capture_deinit(&rec->r);
	file_bytes_deinit(&rec->bytes);
	free(rec);
	return 0;
}

/* A copy that ends where the file does, so that a sanitizer sees any read behind it. */
static struct profile *read_copy(const uint8_t *data, size_t size, char **message)
{
	uint8_t *copy = xrealloc_array(NULL, size + 1, 1);

	memcpy(copy, data, size);
	copy = xrealloc_array(copy, size ? size : 1, 1);
	struct profile *p = capture_read_bytes(copy, size, message);
	free(copy);
	return p;
}

static void test_truncated_anywhere(void **state)
{
	struct recording *rec = *state;
	size_t samples = 0, refused = 0;

	for (size_t size = 0; size < rec->bytes.size; size++) {
		char *message;
		struct profile *p = read_copy(rec->bytes.data, size, &message);
		if (p == NULL) {
			/* Not even one chunk. */
			assert_int_equal(samples, 0);
			assert_non_null(strstr(message, "test.prof"));
			free(message);
			refused++;
			continue;
		}
		assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 1);
		assert_true(p->samples.count >= samples);
		samples = p->samples.count;
		profile_destroy(p);
	}
	assert_in_range(refused, CAPTURE_FILE_HEADER_SIZE, 100);
	assert_int_equal(samples, 60);
}

static bool has_loss_note(const struct profile *p)
{
	return capture_note_count(p, NOTE_BAD_RECORD) || capture_note_count(p, NOTE_INCOMPLETE);
}

static void test_every_bit_of_every_byte(void **state)
{
	struct recording *rec = *state;
	uint8_t *data = xrealloc_array(NULL, rec->bytes.size, 1);

	/* Sanitizers take their time: with them, one bit of each byte, and another in the next. */
	bool is_slow = getenv("SANITIZED");

	memcpy(data, rec->bytes.data, rec->bytes.size);
	for (size_t i = 0; i < rec->bytes.size; i++)
		for (int bit = is_slow ? (int)(i % 8) : 0; bit < 8; bit += is_slow ? 8 : 1) {
			char *message;
			data[i] ^= (uint8_t)(1 << bit);
			struct profile *p = capture_read_bytes(data, rec->bytes.size, &message);
			if (p)
				assert_true(has_loss_note(p));
			else
				assert_true(i < CAPTURE_FILE_HEADER_SIZE);
			profile_destroy(p);
			free(message);
			data[i] ^= (uint8_t)(1 << bit);
		}
	free(data);
}

/* The chunks of a good file. */
static size_t find_chunks(const struct file_bytes *bytes, struct capture_chunk *chunks, size_t most)
{
	struct capture_scan scan;
	size_t count = 0;

	capture_scan_init(&scan, bytes->data, bytes->size);
	while (count < most && capture_scan_next(&scan, &chunks[count]))
		count++;
	return count;
}

static size_t chunk_size(const struct capture_chunk *chunk)
{
	return CAPTURE_CHUNK_HEADER_SIZE + chunk->stored.size;
}

/* Any one chunk taken out, as if a block of the disk had been lost. */
static void test_missing_chunk(void **state)
{
	struct recording *rec = *state;
	struct capture_chunk chunks[100];
	size_t count = find_chunks(&rec->bytes, chunks, 100);

	for (size_t i = 0; i < count; i++) {
		char *message;
		uint8_t *data = xrealloc_array(NULL, rec->bytes.size, 1);
		size_t end = chunks[i].offset + chunk_size(&chunks[i]);
		memcpy(data, rec->bytes.data, chunks[i].offset);
		memcpy(data + chunks[i].offset, rec->bytes.data + end, rec->bytes.size - end);
		struct profile *p =
			read_copy(data, rec->bytes.size - chunk_size(&chunks[i]), &message);
		assert_non_null(p);
		assert_true(has_loss_note(p));
		if (chunks[i].type == CAPTURE_CHUNK_SAMPLES)
			assert_int_equal(p->samples.count + capture_note_count(p, NOTE_LOST), 60);
		else
			assert_int_equal(p->samples.count, 60);
		profile_destroy(p);
		free(data);
	}
}

/* Rubbish between two chunks, with a chunk's magic in it. */
static void test_resync(void **state)
{
	struct recording *rec = *state;
	struct capture_chunk chunks[100];
	size_t count = find_chunks(&rec->bytes, chunks, 100);
	static const char rubbish[] = "rubbish\x8aSC\n and \x8aSC\n\x08\x00 more";
	uint8_t *data = xrealloc_array(NULL, rec->bytes.size + sizeof(rubbish), 1);
	char *message;

	for (size_t i = 0; i < count; i++) {
		size_t at = chunks[i].offset;
		memcpy(data, rec->bytes.data, at);
		memcpy(data + at, rubbish, sizeof(rubbish));
		memcpy(data + at + sizeof(rubbish), rec->bytes.data + at, rec->bytes.size - at);
		struct profile *p =
			capture_read_bytes(data, rec->bytes.size + sizeof(rubbish), &message);
		assert_non_null(p);
		assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 1);
		capture_expect_equal(&rec->r, p, 60, true);
		profile_destroy(p);
	}
	free(data);
}

static void add_file_header(struct strbuf *file, struct capture_packer **packer)
{
	*packer = capture_packer_create(3);
	capture_pack_file_header(*packer, file);
}

/* A chunk type, a fact, a field of a row and a counter that this version does not know. */
TEST(test_from_the_future)
{
	struct capture_packer *packer;
	struct strbuf file = {0}, raw = {0}, row = {0};
	char *message;

	add_file_header(&file, &packer);
	capture_pack_chunk(packer, (enum capture_chunk_type)200, STR("whatever"), &file);
	wire_put_str(&raw, STR("\x3f\x05later"));
	wire_put_str(&raw, STR("\xe8\x07\x05"));
	capture_pack_chunk(packer, CAPTURE_CHUNK_FACTS, strbuf_str(&raw), &file);
	strbuf_clear(&raw);
	wire_put_str(&raw, STR("\x63\x05"));
	capture_pack_chunk(packer, CAPTURE_CHUNK_COUNTERS, strbuf_str(&raw), &file);
	strbuf_clear(&raw);
	wire_put_uleb(&row, 0);
	wire_put_uleb(&row, 9);
	wire_put_str(&row, STR("/lib/x.so"));
	wire_put_str(&row, STR(""));
	wire_put_str(&row, STR("a new field"));
	wire_put_str(&raw, strbuf_str(&row));
	capture_pack_chunk(packer, CAPTURE_CHUNK_OBJECTS, strbuf_str(&raw), &file);
	capture_pack_chunk(packer, CAPTURE_CHUNK_END, (struct str){"\0\0and more", 10}, &file);
	struct profile *p = capture_read_bytes(file.data, file.size, &message);
	assert_non_null(p);
	assert_int_equal(p->note_count, 0);
	assert_int_equal(p->object_count, 1);
	assert_int_equal(p->objects[0].kind, OBJECT_UNKNOWN);
	profile_destroy(p);
	capture_packer_destroy(packer);
	strbuf_deinit(&file);
	strbuf_deinit(&raw);
	strbuf_deinit(&row);
}

TEST(test_not_ours)
{
	struct capture_packer *packer;
	struct strbuf file = {0};
	char *message;

	assert_null(capture_read_bytes("hello", 5, &message));
	assert_non_null(strstr(message, "test.prof: at offset 0x0"));
	free(message);
	add_file_header(&file, &packer);
	assert_null(capture_read_bytes(file.data, file.size, &message));
	assert_non_null(strstr(message, "at offset 0x10"));
	free(message);
	/* Another version, with a checksum that fits. */
	file.data[8] = 2;
	uint32_t checksum = crc32c(0, file.data, 12);
	memcpy(file.data + 12, &checksum, 4);
	assert_null(capture_read_bytes(file.data, file.size, &message));
	assert_non_null(strstr(message, "format 2"));
	free(message);
	capture_packer_destroy(packer);
	strbuf_deinit(&file);
}

/* Zeros compress a thousandfold: the writer stores them as they are before the reader objects. */
TEST(test_expansion_is_limited)
{
	struct capture_packer *packer;
	struct strbuf file = {0};
	char *zeros = xcalloc(1, CAPTURE_RAW_MAX);
	struct capture_scan scan;
	struct capture_chunk chunk;
	size_t count = 0;

	add_file_header(&file, &packer);
	for (int i = 0; i < 8; i++)
		capture_pack_chunk(
			packer, (enum capture_chunk_type)200, (struct str){zeros, 1 << 20}, &file);
	capture_scan_init(&scan, (const uint8_t *)file.data, file.size);
	while (capture_scan_next(&scan, &chunk))
		count++;
	assert_int_equal(count, 8);
	assert_int_equal(scan.damaged_places, 0);
	assert_true(scan.raw_total <= capture_raw_limit(file.size));
	assert_true(file.size > (1 << 18));
	/* One that claims more. */
	struct strbuf bomb = {0};
	struct capture_packer *other = capture_packer_create(3);
	capture_pack_chunk(
		other, (enum capture_chunk_type)200, (struct str){zeros, 1 << 20}, &bomb);
	strbuf_clear(&file);
	capture_pack_file_header(other, &file);
	for (int i = 0; i < 100; i++)
		strbuf_add(&file, strbuf_str(&bomb));
	capture_scan_init(&scan, (const uint8_t *)file.data, file.size);
	for (count = 0; capture_scan_next(&scan, &chunk); count++)
		;
	assert_in_range(count, 1, 5);
	assert_int_equal(scan.damaged_places, 1);
	capture_packer_destroy(packer);
	capture_packer_destroy(other);
	strbuf_deinit(&file);
	strbuf_deinit(&bomb);
	free(zeros);
}

/* A recorder that is killed leaves a file that lacks only what waited. */
TEST(test_killed)
{
	char *path = capture_file_path("killed.prof");
	struct random_capture r;
	int status;

	random_capture_init(&r, &tiny);
	pid_t pid = fork();
	if (pid == 0) {
		struct capture_writer *w;
		if (capture_writer_create(path, &w) != NULL)
			_exit(1);
		random_capture_begin(&r, w);
		random_capture_run(&r, w, 503);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	struct profile *p = capture_read_file(path);
	assert_int_equal(capture_note_count(p, NOTE_INCOMPLETE), 1);
	assert_int_equal(capture_note_count(p, NOTE_BAD_RECORD), 0);
	/* 20 ms between samples in each of two threads: at most 10 in 100 ms. */
	assert_in_range(p->samples.count, 493, 503);
	struct capture_writer *w;
	char *again = capture_file_path("again.prof");
	assert_null(capture_writer_create(again, &w));
	random_capture_begin(&r, w);
	random_capture_run(&r, w, 503);
	capture_expect_equal(&r, p, p->samples.count, false);
	capture_writer_abandon(w);
	assert_int_not_equal(access(again, F_OK), 0);
	profile_destroy(p);
	random_capture_deinit(&r);
	free(again);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_every_bit_of_every_byte),
		cmocka_unit_test(test_missing_chunk),
		cmocka_unit_test(test_resync),
		cmocka_unit_test(test_from_the_future),
		cmocka_unit_test(test_not_ours),
		cmocka_unit_test(test_expansion_is_limited),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests_name("capture_damage", tests, make_recording, free_recording);
}
