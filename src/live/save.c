/*
 * Saves zones memory as a file: the header and the used parts, at the same offsets as in memory,
 * with holes in between.  Addresses of the program are left out for privacy.
 *
 * Zones that are functions get the names that can be resolved now, appended to the copy's strings.
 * Each string is stored once; if there is no more room, a zone stays unchanged.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "live/attach.h"
#include "live/extents.h"

struct saving {
	const uint8_t *data;
	int fd;
};

static bool write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t put =
			pwrite(fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

static bool save_extent(void *context, uint64_t offset, uint64_t bytes)
{
	const struct saving *saving = context;

	return write_at(saving->fd, saving->data + offset, (size_t)bytes, offset);
}

static void clear_private_words(struct live_memory *copy)
{
	const struct zonewire_table *nodes = &copy->region.header.nodes;
	struct zonewire_header now = zone_region_header(&copy->region);
	uint32_t count = now.nodes.count < nodes->capacity ? now.nodes.count : nodes->capacity;

	for (uint32_t i = 0; i < count; i++)
		memset(copy->data + nodes->offset + (uint64_t)i * nodes->row_bytes +
				offsetof(struct zonewire_node, private_words),
			0, sizeof(((struct zonewire_node *)0)->private_words));
}

/* ---- names of functions ---- */

struct naming {
	struct live_memory *copy;
	struct arena *arena;
	struct str_table words; /* the appended strings */
	VEC(uint32_t) offsets;	/* of words */
};

static struct zonewire_zone *zone_row(const struct live_memory *copy, uint32_t id)
{
	const struct zonewire_table *zones = &copy->region.header.zones;

	return (struct zonewire_zone *)(copy->data + zones->offset +
					(uint64_t)id * zones->row_bytes);
}

/* The string's offset; 0: no string, or no room. */
static uint32_t append_string(struct naming *n, const char *text)
{
	const struct zonewire_header *checked = &n->copy->region.header;
	struct zonewire_header *header = (struct zonewire_header *)n->copy->data;
	size_t bytes = text ? strlen(text) + 1 : 1;
	uint32_t word;

	if (bytes == 1)
		return 0;
	if (str_table_find(&n->words, str_from(text), &word))
		return n->offsets.data[word];
	if (header->strings_used > checked->strings_bytes ||
		bytes > checked->strings_bytes - header->strings_used ||
		checked->strings_bytes > UINT32_MAX)
		return 0;
	uint32_t offset = (uint32_t)header->strings_used;
	memcpy(n->copy->data + checked->strings_offset + offset, text, bytes);
	header->strings_used += bytes;
	str_table_intern(&n->words, str_from(text));
	vec_push(&n->offsets, offset);
	return offset;
}

static void put_name(
	struct naming *n, struct zonewire_zone *row, const struct zone_function *function)
{
	uint32_t name = append_string(n, function->name), file = append_string(n, function->file);
	uint32_t module = append_string(n, function->module);

	if (name)
		row->name = name;
	if (file) {
		row->file = file;
		row->line = function->line;
	}
	if (module)
		row->module = module;
}

static void name_functions(struct live_memory *copy, struct zone_namer namer)
{
	uint32_t zones = zone_region_zone_count(&copy->region), count = 0, *id;
	struct zone_function *function;
	struct naming n = {.copy = copy, .arena = arena_create()};

	str_table_init(&n.words, n.arena);
	id = xcalloc(zones + (size_t)1, sizeof(*id));
	function = xcalloc(zones + (size_t)1, sizeof(*function));
	for (uint32_t i = 1; namer.name && i < zones; i++) {
		if (zone_row(copy, i)->code == 0)
			continue;
		id[count] = i;
		function[count++].code = zone_row(copy, i)->code;
	}
	if (count)
		namer.name(namer.context, function, count);
	for (uint32_t i = 0; i < count; i++)
		put_name(&n, zone_row(copy, id[i]), &function[i]);
	free(function);
	free(id);
	vec_deinit(&n.offsets);
	str_table_deinit(&n.words);
	arena_destroy(n.arena);
}

static bool save_copy(const struct live_memory *copy, int fd)
{
	struct saving saving = {copy->data, fd};

	return ftruncate(fd, (off_t)copy->region.header.region_bytes) == 0 &&
	       live_extents(&copy->region, save_extent, &saving) &&
	       /*
	        * Last, so that a truncated file begins with zeros, and is not valid zones memory.
	        */
	       write_at(fd, copy->data, ZONEWIRE_HEADER_BYTES, 0);
}

struct error *live_copy(const struct live *live, struct zone_namer namer, struct live_memory *copy)
{
	const struct live_source source = {
		.fd = -1, .size = live->memory.size, .data = live->memory.data};
	uint64_t now = zone_region_now(&live->memory.region);
	const char *problem = live_memory_copy(copy, &source);

	if (problem)
		return error_new(
			ERROR_INPUT, "process %d: what it has %s", live->process.pid, problem);
	live_memory_end(copy, now,
		zone_region_end_is_proven(&live->memory.region) ? ZONEWIRE_SAVED_AFTER
								: ZONEWIRE_SAVED);
	clear_private_words(copy);
	name_functions(copy, namer);
	return NULL;
}

struct error *live_save(const struct live *live, struct zone_namer namer, int fd, const char *name)
{
	struct live_memory copy;
	struct error *err = live_copy(live, namer, &copy);

	if (err)
		return err;
	if (!save_copy(&copy, fd))
		err = error_system(errno, "cannot write %s", name);
	live_memory_deinit(&copy);
	return err;
}
