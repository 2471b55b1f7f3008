#ifndef SONDE_LIVE_MEMORY_H
#define SONDE_LIVE_MEMORY_H

/*
 * Memory of zones, in our own address space: either the program's own pages, mapped for reading, or
 * a private copy that is brought up to date on request.
 *
 * What is mapped can be taken away by whoever owns the file, and reading it then is SIGBUS: so only
 * memory that is sealed against shrinking is mapped, and all other is copied with read(2).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zonereport/region.h"

/* More than any memory of zones has; a file that states more is none. */
#define LIVE_BYTES_MAX ((uint64_t)1 << 30)

/* Where bytes come from: size of them from `base` on of a file, or in memory. */
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

/* ---- opening; all of these return NULL, or why not, as zone_region_open does ---- */

/* Maps the memfd, or copies it where it is not sealed.  fd stays the caller's, and open. */
const char *live_memory_open(struct live_memory *memory, int fd);
/* A copy of what is there. */
const char *live_memory_copy(struct live_memory *memory, const struct live_source *source);
/* Brings a copy up to date; it stays as it was where that is not possible any more. */
void live_memory_refresh(struct live_memory *memory);
/*
 * Nobody writes any more, the clock stands at this tick: `saved` says how that is known.  Pages
 * that were mapped become a copy at the same address.  Like saved memory from then on.
 */
void live_memory_end(struct live_memory *memory, uint64_t ticks, enum zonewire_saved saved);
/* A zeroed one is fine. */
void live_memory_deinit(struct live_memory *memory);

#endif
