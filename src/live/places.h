#ifndef SONDE_LIVE_PLACES_H
#define SONDE_LIVE_PLACES_H

/* The places where a process may have zones memory. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct live_place {
	int fd;		       /* its number in the process; -1: it is only mapped */
	char *path;	       /* for mapped files (SONDE_ZONES=file=), a path to open; else NULL */
	uint64_t va, va_bytes; /* the mapping, if there is no descriptor */
	uint64_t inode;	       /* of the mapped file; 0 for descriptors */
};
typedef VEC(struct live_place) live_places;

/* Adds its places: descriptors, or, without any, mappings.  False, with errno: not permitted. */
bool live_places_find(pid_t pid, live_places *places);
void live_places_deinit(live_places *places);

/* Whether it has the zones library mapped, for the message about a process without zones. */
bool live_places_has_library(pid_t pid);

#endif
