#ifndef SONDE_RECORD_ZONES_ZONE_NAMES_H
#define SONDE_RECORD_ZONES_ZONE_NAMES_H

/*
 * Zones as frames of a capture file: each zone (name, file, line) is an address, from 1, of the one
 * load object that is no code.  Names are written as soon as a zone is seen, so that a recording
 * whose recorder was killed has them.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"
#include "record/processes/object_table.h"

struct zone_names {
	struct capture_writer *writer;
	struct object_table *objects;
	struct arena *arena;
	struct str_table words;
	struct map numbers;   /* (name and file, line) → number */
	uint32_t count;	      /* zones so far */
	struct map functions; /* (object, its address): those that are zones */
	uint32_t function_count;
	uint32_t object; /* UINT32_MAX: none yet */
	bool has_unknown;
};

void zone_names_init(
	struct zone_names *n, struct capture_writer *writer, struct object_table *objects);
void zone_names_deinit(struct zone_names *n);
/* The zone's number in the object; file may be empty. */
uint32_t zone_names_number(struct zone_names *n, struct str name, struct str file, uint32_t line);
/* Counts a function that is a zone, by its load object and the address in that, once. */
void zone_names_function(struct zone_names *n, uint32_t object, uint64_t address);
/* The number of the zone that stands for those that are not known: 0. */
uint32_t zone_names_unknown(struct zone_names *n);
/* The load object of zones. */
uint32_t zone_names_object(struct zone_names *n);

#endif
