#ifndef SONDE_FORMATS_GPROFNG_NAMES_H
#define SONDE_FORMATS_GPROFNG_NAMES_H

/* Frames for the addresses of a gprofng experiment, from its map and the objects in its archive. */

#include "base/folder.h"
#include "model/builder.h"
#include "formats/gprofng/experiment.h"
#include "symbolize/symbolize.h"

struct gprofng_frames {
	const frame_id *frames; /* outermost first */
	uint32_t count;
};

struct gprofng_names;

/*
 * archive: the folder with copies of the objects; NULL: none.  All arguments are borrowed.  most:
 * the maximum number of addresses; all others become one unknown address.
 */
returns_owned struct gprofng_names *gprofng_names_create(struct builder *builder,
	const struct gprofng_map *map, const struct folder *archive, struct symbolizer *symbolizer,
	uint64_t most);
void gprofng_names_destroy(struct gprofng_names *names);

/* First, add all addresses; equal ones get the same number. */
uint32_t gprofng_names_add(struct gprofng_names *names, uint64_t va);
/* Then, name all of them at once. */
void gprofng_names_resolve(struct gprofng_names *names);
struct gprofng_frames gprofng_names_frames(const struct gprofng_names *names, uint32_t number);
/* The number of objects without a copy in the archive. */
uint64_t gprofng_names_missing(const struct gprofng_names *names);

#endif
