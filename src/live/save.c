/*
 * Memory of zones as a file: the header and what is in use, at the places where it lies in memory,
 * the rest a hole.  Addresses of the program's, which are nobody else's business, are left out.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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

static bool save_copy(const struct live_memory *copy, int fd)
{
	struct saving saving = {copy->data, fd};

	return ftruncate(fd, (off_t)copy->region.header.region_bytes) == 0 &&
	       live_extents(&copy->region, save_extent, &saving) &&
	       /* Last: what was cut off begins with zeros, and is no memory of zones. */
	       write_at(fd, copy->data, ZONEWIRE_HEADER_BYTES, 0);
}

struct error *live_save(const struct live *live, int fd, const char *name)
{
	const struct live_source source = {
		.fd = -1, .size = live->memory.size, .data = live->memory.data};
	uint64_t now = zone_region_now(&live->memory.region);
	struct live_memory copy;
	struct error *err = NULL;
	const char *problem = live_memory_copy(&copy, &source);

	if (problem)
		return error_new(
			ERROR_INPUT, "process %d: what it has %s", live->process.pid, problem);
	live_memory_end(&copy, now);
	clear_private_words(&copy);
	if (!save_copy(&copy, fd))
		err = error_system(errno, "cannot write %s", name);
	live_memory_deinit(&copy);
	return err;
}
