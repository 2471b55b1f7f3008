#ifndef SONDE_LIVE_MEMORY_H
#define SONDE_LIVE_MEMORY_H

/*
 * Zones memory in this address space: either the program's own pages, mapped read-only, or a
 * private copy that is updated on request.
 *
 * The owner of a mapped file can truncate it, and reading it is then SIGBUS.  So only memory that
 * is sealed against shrinking is mapped; all other memory is copied with read(2).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zonereport/region.h"

/* More than any zones memory has; a file that states more is invalid. */
#define LIVE_BYTES_MAX ((uint64_t)1 << 30)

/* A source of bytes: size bytes from offset `base` in a file, or in memory. */
struct live_source {
	int fd; /* -1: data */
	uint64_t base, size;
	const uint8_t *data;
};

struct live_memory {
	uint8_t *data; /* NULL: none */
	size_t size;
	bool is_copy;
	struct live_source source;
	struct zone_region region;
};

/* ---- opening; these return NULL or the problem, like zone_region_open ---- */

/* Maps the memfd, or copies it if it is not sealed.  The caller keeps fd, which must stay open. */
const char *live_memory_open(struct live_memory *memory, int fd);
/* Makes a copy of the source. */
const char *live_memory_copy(struct live_memory *memory, const struct live_source *source);
/* Updates a copy; leaves it unchanged if that is no longer possible. */
void live_memory_refresh(struct live_memory *memory);
/*
 * Ends the memory: nothing writes to it any more, and the clock stops at this tick; `saved` is how
 * that is known.  Mapped pages become a copy at the same address.  From then on, it is like saved
 * memory.
 */
void live_memory_end(struct live_memory *memory, uint64_t ticks, enum zonewire_saved saved);
/* A zeroed one is allowed. */
void live_memory_deinit(struct live_memory *memory);

#endif
