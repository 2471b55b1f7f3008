#ifndef SONDE_ZONEREPORT_SAID_H
#define SONDE_ZONEREPORT_SAID_H

/* A program's annotations of its zones: Prof_text, Prof_number. */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

struct zone_said {
	char text[ZONEWIRE_TEXT_BYTES]; /* the last one of a stack; raw bytes; "": none */
	uint64_t count;			/* number of numbers; 0: the following fields are not set */
	double sum, min, max;
	double last; /* the last one of a stack */
};

/*
 * All annotations of the zone, on any stack, in that slot or in all (ZONE_SLOT_ALL).  With several
 * stacks, the order is unknown: text and last are those of the stack that was annotated for the
 * first time most recently.  False: there are none.
 */
bool zone_said(const struct zone_region *region, const struct zone_reading *reading, uint32_t zone,
	uint32_t slot, struct zone_said *said);
/*
 * Writes "level 3", "number 5 (12 times: mean 3.5, 1 to 9)" or both, as raw bytes; returns the
 * length.
 */
int zone_said_write(const struct zone_said *said, char *text, size_t bytes);

#endif
