/*
 * Output of perf record --threads: a folder with a file "data", which is a perf.data file without
 * most of its records, and files "data.0", "data.1" … with only records, those from one of perf's
 * threads. perf record --kcore also makes a folder, where "data" has everything.
 *
 * Source: tools/perf/util/data.c.
 */
#include "formats/perf/data_file.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/folder.h"

#define MAIN_NAME "data"

int perf_data_bid_folder(const char *path)
{
	return folder_bid(path, MAIN_NAME, perf_data_bid);
}

/*
 * The folder of the other files: the one that was named, or the one that contains the named file.
 */
static char *folder_of(const struct perf_data_file *file)
{
	const char *path = file->input.path, *slash = path ? strrchr(path, '/') : NULL;

	if (path == NULL)
		return NULL;
	if (file->is_folder)
		return xstrdup(path);
	return slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
}

struct error *perf_data_open_folder(struct perf_data_file *file)
{
	struct folder *folder;
	struct file_bytes bytes;
	struct error *err = folder_open(file->input.path, &folder);

	if (err)
		return err;
	err = folder_read(folder, MAIN_NAME, 0, &bytes);
	folder_close(folder);
	if (err)
		return err;
	file->is_folder = true;
	file->input.data = bytes.data;
	file->input.size = bytes.size;
	return NULL;
}

static struct error *scan_part(
	struct perf_data_file *file, const struct folder *folder, const char *name)
{
	struct perf_data_part part = {.name = arena_printf(file->arena, "%s", name)};
	struct error *err = folder_read(folder, name, 0, &part.bytes);

	if (err)
		return err;
	uint32_t number = (uint32_t)file->parts.count;

	vec_push(&file->parts, part);
	file->size += part.bytes.size;
	perf_data_scan(file, number, 0, part.bytes.size);
	return NULL;
}

struct error *perf_data_scan_folder(struct perf_data_file *file)
{
	char *path = folder_of(file);
	struct folder *folder = NULL;
	struct error *err = path ? folder_open(path, &folder) : NULL;
	bool is_there = folder != NULL;

	for (uint32_t i = 0; is_there && err == NULL && i + 1 < PERF_DATA_UNPACKED; i++) {
		char name[32];

		snprintf(name, sizeof(name), MAIN_NAME ".%u", (unsigned int)i);
		is_there = folder_has_file(folder, name);
		if (is_there)
			err = scan_part(file, folder, name);
	}
	file->lacks_parts = file->parts.count == 1 && file->facts.folder_version == 1;
	folder_close(folder);
	free(path);
	return err;
}
