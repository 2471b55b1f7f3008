/*
 * The container.  A file begins with a header with the positions of events and records; after the
 * records is the position of each feature whose bit is set.  Piped output has a header of 16 bytes,
 * and everything else as records.  The magic number shows the byte order.
 *
 * Sources: tools/perf/Documentation/perf.data-file-format.txt, tools/perf/util/header.c.
 */
#include "formats/perf/data_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/zstd_stream.h"

enum {
	MAGIC_SIZE = 8,
	PIPE_HEADER_SIZE = 16,
	FILE_HEADER_MIN = 72, /* of the first version, without features */
	SECTION_SIZE = 16,
	FEATURE_WORDS = 4,
};

static const char *const magics[] = {"PERFILE2", "PERFFILE"};

/* -1: not a magic number, 0: of this byte order, 1: of the other. */
static int magic_of(const uint8_t *data, size_t size)
{
	if (size < MAGIC_SIZE)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(magics); i++) {
		char swapped[MAGIC_SIZE];

		for (size_t k = 0; k < MAGIC_SIZE; k++)
			swapped[k] = magics[i][MAGIC_SIZE - 1 - k];
		if (memcmp(data, magics[i], MAGIC_SIZE) == 0)
			return 0;
		if (memcmp(data, swapped, MAGIC_SIZE) == 0)
			return 1;
	}
	return -1;
}

int perf_data_bid(const uint8_t *data, size_t size)
{
	return magic_of(data, size) >= 0 ? 100 : 0;
}

struct section {
	uint64_t offset, size;
};

static struct section read_section(struct cursor *c)
{
	struct section s = {.offset = cursor_u64(c)};

	s.size = cursor_u64(c);
	return s;
}

/* A cursor over the available part of a section. */
static struct cursor section_cursor(const struct perf_data_file *file, struct section s)
{
	const struct reader_input *input = &file->input;
	struct cursor c;

	if (s.offset > input->size)
		s.offset = input->size;
	if (s.size > input->size - s.offset)
		s.size = input->size - s.offset;
	cursor_init(&c, input->data + s.offset, s.size, input->name, s.offset);
	c.is_swapped = file->is_swapped;
	return c;
}

static void read_ids(struct perf_data_file *file, struct section ids)
{
	struct cursor c = section_cursor(file, ids);

	perf_data_events_read_ids(&file->events, &c, cursor_left(&c) / sizeof(uint64_t));
}

/* Reads rows of attr_size bytes: an attribute, then the section of its ids. */
static void read_events(struct perf_data_file *file, struct section attrs)
{
	struct cursor c = section_cursor(file, attrs);

	if (file->attr_size < SECTION_SIZE)
		return;
	while (cursor_left(&c) >= file->attr_size) {
		struct cursor row = cursor_sub(&c, file->attr_size);
		struct cursor ids = row;
		size_t before = file->events.rows.count;

		perf_data_events_add(&file->events, &row, file->attr_size - SECTION_SIZE);
		if (file->events.rows.count == before)
			continue;
		cursor_seek(&ids, file->attr_size - SECTION_SIZE);
		read_ids(file, read_section(&ids));
	}
}

/* The positions of the features follow the records. */
static void read_features(struct perf_data_file *file, const uint64_t *bits, struct section records)
{
	struct section table = {.offset = records.offset + records.size, .size = UINT64_MAX};

	if (table.offset < records.offset)
		return;
	struct cursor c = section_cursor(file, table);

	for (uint64_t feature = 0; feature < PERF_DATA_FEATURE_COUNT; feature++) {
		if (!(bits[feature / 64] >> feature % 64 & 1))
			continue;
		struct section s = read_section(&c);
		if (!cursor_ok(&c)) {
			file->is_cut = true;
			return;
		}
		perf_data_feature(file, feature, section_cursor(file, s));
	}
}

static struct error *read_header(struct perf_data_file *file, uint64_t header_size)
{
	const struct reader_input *input = &file->input;
	uint64_t bits[FEATURE_WORDS] = {0};
	struct cursor c;

	cursor_init(&c, input->data, input->size, input->name, 0);
	c.is_swapped = file->is_swapped;
	cursor_skip(&c, PIPE_HEADER_SIZE);
	file->attr_size = cursor_u64(&c);
	struct section attrs = read_section(&c), records = read_section(&c);

	cursor_skip(&c, SECTION_SIZE); /* names of events, in old files */
	struct error *err = cursor_error(&c);

	if (err)
		return err;
	for (size_t i = 0; i < FEATURE_WORDS && cursor_offset(&c) + 8 <= header_size; i++)
		bits[i] = cursor_u64(&c);
	read_events(file, attrs);
	file->has_data_size = records.size != 0;
	if (records.size == 0 && records.offset < input->size)
		records.size = input->size - records.offset;
	else
		read_features(file, bits, records);
	uint64_t end = records.offset + records.size;

	if (end < records.offset || end > input->size) {
		file->is_cut = true;
		end = input->size;
	}
	perf_data_scan(file, 0, records.offset, end);
	return file->is_folder || file->facts.folder_version ? perf_data_scan_folder(file) : NULL;
}

static struct error *check_events(const struct perf_data_file *file)
{
	if (file->events.rows.count)
		return NULL;
	return error_input(file->input.name, 0,
		"no event is described in this perf.data file, so its samples cannot be read; "
		"was it cut off or overwritten?");
}

static struct error *read_container(struct perf_data_file *file)
{
	const struct reader_input *input = &file->input;
	int order = magic_of(input->data, input->size);
	struct error *err = NULL;
	struct cursor c;

	if (order < 0)
		return error_input(input->name, 0, "does not begin as a perf.data file does");
	file->is_swapped = order == 1;
	cursor_init(&c, input->data, input->size, input->name, 0);
	c.is_swapped = file->is_swapped;
	cursor_skip(&c, MAGIC_SIZE);
	uint64_t header_size = cursor_u64(&c);

	err = cursor_error(&c);
	if (err)
		return err;
	file->is_pipe = header_size == PIPE_HEADER_SIZE;
	if (file->is_pipe)
		perf_data_scan(file, 0, PIPE_HEADER_SIZE, input->size);
	else if (header_size < FILE_HEADER_MIN)
		err = error_input(input->name, MAGIC_SIZE,
			"its header has an impossible size, %" PRIu64, header_size);
	else
		err = read_header(file, header_size);
	return err ? err : check_events(file);
}

struct error *perf_data_open(
	const struct reader_input *input, struct arena *arena, struct perf_data_file *file)
{
	*file = (struct perf_data_file){.input = *input, .arena = arena, .has_data_size = true};
	perf_data_events_init(&file->events, arena);
	str_table_init(&file->build_ids.paths, arena);
	struct error *err = input->data ? NULL : perf_data_open_folder(file);

	if (err)
		return err;
	vec_push(&file->parts, (struct perf_data_part){.bytes = {.data = file->input.data,
							       .size = file->input.size}});
	file->size = file->input.size;
	err = read_container(file);
	if (err == NULL) {
		perf_data_events_finish(&file->events);
		perf_data_sort(file);
	}
	return err;
}

void perf_data_close(struct perf_data_file *file)
{
	for (size_t i = file->is_folder ? 0 : 1; i < file->parts.count; i++)
		file_bytes_deinit(&file->parts.data[i].bytes);
	vec_deinit(&file->parts);
	perf_data_events_deinit(&file->events);
	str_table_deinit(&file->build_ids.paths);
	vec_deinit(&file->build_ids.ids);
	free(file->order);
	free(file->places);
	strbuf_deinit(&file->unpacked);
	zstd_stream_destroy(file->stream);
}

char *perf_data_beside(const struct perf_data_file *file, struct str name)
{
	const char *path = file->input.path;

	if (path == NULL || name.size == 0)
		return NULL;
	size_t size = strlen(path);

	while (file->is_folder && size > 1 && path[size - 1] == '/')
		size--;
	const char *slash = memrchr(path, '/', size);

	return xasprintf("%.*s%.*s", slash ? (int)(slash - path) + 1 : 0, path, STR_ARG(name));
}
