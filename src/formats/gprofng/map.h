#ifndef SONDE_FORMATS_GPROFNG_MAP_H
#define SONDE_FORMATS_GPROFNG_MAP_H

/*
 * map.xml of a gprofng experiment: what stood where in the process.
 */

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

struct gprofng_segment {
	uint64_t start, size;
	uint64_t file_off;   /* of an object's segment */
	uint32_t object;     /* its path in `paths`; UINT32_MAX: none, it is a function by itself */
	struct str function; /* of such a one the name */
};

struct gprofng_map {
	VEC(struct gprofng_segment) segments; /* by start; later loaded ones behind others */
	struct str_table paths;
};

void gprofng_map_read(struct gprofng_map *map, struct str text, struct arena *arena);
void gprofng_map_deinit(struct gprofng_map *map);
/* What was there; NULL: nothing that is known. */
const struct gprofng_segment *gprofng_map_find(const struct gprofng_map *map, uint64_t va);

#endif
