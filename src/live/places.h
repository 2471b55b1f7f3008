#ifndef SONDE_LIVE_PLACES_H
#define SONDE_LIVE_PLACES_H

/* Where a process has memory that may be one of zones. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct live_place {
	int fd;	    /* its number in the process; -1: it is only mapped */
	char *path; /* of mapped files (SONDE_ZONES=file=), as we can open it; else NULL */
	uint64_t va, va_bytes; /* where it is mapped, of what has no descriptor */
	uint64_t inode;	       /* of what is mapped; of descriptors 0 */
};
typedef VEC(struct live_place) live_places;

/*
 * Adds its places: descriptors, or, where there is none, mappings.  False: the kernel does not let
 * us look, with errno.
 */
bool live_places_find(pid_t pid, live_places *places);
void live_places_deinit(live_places *places);

/* Whether it has the library of zones mapped, for what is said where it has no zones. */
bool live_places_has_library(pid_t pid);

#endif
