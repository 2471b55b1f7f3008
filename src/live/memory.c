/*
 * Maps and copies zones memory.
 *
 * The program continues writing during a copy.  Tables only grow, and a count is increased after
 * its row is complete, so counts are copied first.  Rings are overwritten from their oldest end, so
 * a copied ring has the end from before the copy, and the beginning from after it.
 */
#include "live/memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "live/extents.h"

#define CHUNK_BYTES ((size_t)64 << 10)

/* Reads exactly that many bytes; false: there are fewer. */
static bool source_read(const struct live_source *source, void *to, uint64_t offset, size_t bytes)
{
	if (offset > source->size || bytes > source->size - offset)
		return false;
	if (source->fd < 0) {
		memcpy(to, source->data + offset, bytes);
		return true;
	}
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(source->fd, (char *)to + done, bytes - done,
			(off_t)(source->base + offset + done));
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

static bool is_zero(const uint8_t *bytes, size_t count)
{
	return count == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, count - 1) == 0);
}

/* ---- copying ---- */

struct copying {
	const struct live_source *source;
	uint8_t *to;
	uint8_t *chunk; /* [CHUNK_BYTES] */
	bool is_fresh;	/* `to` is still all zeros, so zeros need not be written */
};

static bool copy_extent(void *context, uint64_t offset, uint64_t bytes)
{
	const struct copying *c = context;

	while (bytes) {
		size_t size = bytes < CHUNK_BYTES ? (size_t)bytes : CHUNK_BYTES;
		if (!source_read(c->source, c->chunk, offset, size))
			return false;
		if (!c->is_fresh || !is_zero(c->chunk, size))
			memcpy(c->to + offset, c->chunk, size);
		offset += size;
		bytes -= size;
	}
	return true;
}

/* The tick ring begins at the tail from after the copy; records before it may be torn. */
static bool settle_ticks(const struct live_source *source, struct zonewire_header *header)
{
	struct zonewire_header after;

	if (!source_read(source, &after, 0, sizeof(after)))
		return false;
	if (after.ring_tail > header->ring_tail)
		header->ring_tail =
			after.ring_tail < header->ring_head ? after.ring_tail : header->ring_head;
	return true;
}

/*
 * Replaces the events that may have been overwritten by the next valid event, which just repeats
 * it; without a valid event, the slot gets no ring.
 */
static void settle_events(const struct zone_region *region, struct zonewire_slot *slot,
	const struct live_ring *ring, uint64_t head_after)
{
	uint64_t *events = (uint64_t *)(uintptr_t)(region->data + ring->offset);
	uint64_t oldest = ring->head >= ring->count ? ring->head + 1 - ring->count : 0;
	uint64_t whole = head_after >= ring->count ? head_after + 1 - ring->count : 0;

	if (whole >= ring->head || head_after < ring->head) {
		slot->events_offset = 0;
		return;
	}
	for (uint64_t i = oldest; i < whole; i++)
		events[i & (ring->count - 1)] = events[whole & (ring->count - 1)];
}

static bool settle_event_rings(const struct live_source *source, const struct zone_region *region)
{
	const struct zonewire_table *slots = &region->header.slots;
	uint32_t count = zone_region_slot_count(region);
	struct live_ring ring;

	for (uint32_t i = 0; i < count; i++) {
		uint64_t offset = slots->offset + (uint64_t)i * slots->row_bytes;
		struct zonewire_slot after;
		if (!live_event_ring(region, i, &ring))
			continue;
		if (!source_read(source, &after, offset, sizeof(after)))
			return false;
		settle_events(region, (struct zonewire_slot *)(uintptr_t)(region->data + offset),
			&ring, after.event_head);
	}
	return true;
}

/* Returns NULL, or the problem.  The header is read first, and written last. */
static const char *copy_all(
	const struct live_source *source, uint8_t *to, bool is_fresh, struct zone_region *region)
{
	struct copying copying = {.source = source, .to = to, .is_fresh = is_fresh};
	struct zonewire_header *header = (struct zonewire_header *)to;
	const char *problem;

	if (!source_read(source, to, 0, ZONEWIRE_HEADER_BYTES))
		return "is truncated zones memory";
	problem = zone_region_open(region, to, (size_t)source->size);
	if (problem)
		return problem;
	copying.chunk = xalloc(CHUNK_BYTES);
	if (!live_extents(region, copy_extent, &copying) || !settle_ticks(source, header) ||
		!settle_event_rings(source, region))
		problem = "is truncated zones memory";
	free(copying.chunk);
	return problem;
}

/* Zeroed address space that takes no memory until written; NULL: no room. */
static uint8_t *reserve(size_t size)
{
	void *data = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return data == MAP_FAILED ? NULL : data;
}

/* The size stated in the memory at a source, limited to the source; 0: not even a header. */
static uint64_t stated_bytes(const struct live_source *source)
{
	struct zonewire_header header;

	if (!source_read(source, &header, 0, sizeof(header)) || header.magic != ZONEWIRE_MAGIC)
		return source->size;
	return header.region_bytes < source->size ? header.region_bytes : source->size;
}

const char *live_memory_copy(struct live_memory *memory, const struct live_source *source)
{
	struct live_memory m = {.is_copy = true, .source = *source};
	const char *problem;

	if (source->size < ZONEWIRE_HEADER_BYTES)
		return "is too short to be zones memory";
	m.source.size = stated_bytes(source);
	if (m.source.size > LIVE_BYTES_MAX)
		return "is larger than zones memory can be";
	if (m.source.size < ZONEWIRE_HEADER_BYTES)
		return "is truncated zones memory";
	m.size = (size_t)m.source.size;
	m.data = reserve(m.size);
	if (m.data == NULL)
		return "does not fit into memory";
	problem = copy_all(&m.source, m.data, true, &m.region);
	if (problem) {
		live_memory_deinit(&m);
		return problem;
	}
	*memory = m;
	return NULL;
}

void live_memory_refresh(struct live_memory *memory)
{
	struct live_memory fresh;

	if (!memory->is_copy || memory->source.fd < 0)
		return;
	/* Copied elsewhere first, so that a copy that fails halfway is never visible. */
	if (live_memory_copy(&fresh, &memory->source) != NULL)
		return;
	if (fresh.size != memory->size ||
		mremap(fresh.data, fresh.size, fresh.size, MREMAP_MAYMOVE | MREMAP_FIXED,
			memory->data) == MAP_FAILED)
		live_memory_deinit(&fresh);
}

/* ---- mapping ---- */

static const char *map_sealed(struct live_memory *memory, int fd, uint64_t size)
{
	struct live_memory m = {.size = (size_t)size, .source = {.fd = fd, .size = size}};
	const char *problem;
	void *data;

	if (size > LIVE_BYTES_MAX)
		return "is larger than zones memory can be";
	data = mmap(NULL, m.size, PROT_READ, MAP_SHARED, fd, 0);
	if (data == MAP_FAILED)
		return "can't be mapped";
	m.data = data;
	problem = zone_region_open(&m.region, m.data, m.size);
	if (problem) {
		live_memory_deinit(&m);
		return problem;
	}
	*memory = m;
	return NULL;
}

const char *live_memory_open(struct live_memory *memory, int fd)
{
	struct stat info;
	int seals;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < ZONEWIRE_HEADER_BYTES)
		return "is too short to be zones memory";
	seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && (seals & F_SEAL_SHRINK))
		return map_sealed(memory, fd, (uint64_t)info.st_size);
	return live_memory_copy(
		memory, &(struct live_source){.fd = fd, .size = (uint64_t)info.st_size});
}

void live_memory_end(struct live_memory *memory, uint64_t ticks, enum zonewire_saved saved)
{
	struct live_source mapped = {.fd = -1, .size = memory->size, .data = memory->data};
	struct zonewire_header *header;
	struct live_memory copy;

	if (!memory->is_copy) {
		if (live_memory_copy(&copy, &mapped) != NULL || copy.size > memory->size ||
			mremap(copy.data, copy.size, copy.size, MREMAP_MAYMOVE | MREMAP_FIXED,
				memory->data) == MAP_FAILED)
			return;
		memory->is_copy = true;
	}
	memory->source.fd = -1;
	memory->region.ended_ticks = ticks;
	header = (struct zonewire_header *)memory->data;
	header->now_ticks = ticks;
	header->is_saved = saved;
}

void live_memory_deinit(struct live_memory *memory)
{
	if (memory->data)
		munmap(memory->data, memory->size);
	*memory = (struct live_memory){0};
}
