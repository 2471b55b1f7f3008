#ifndef SONDE_ZONEREPORT_SAID_H
#define SONDE_ZONEREPORT_SAID_H

/* A program's annotations of its zones: Prof_text, Prof_number. */

#include <stdbool.h>
#include <stdint.h>

#include "zonereport/region.h"

struct zone_said {
	char text[ZONEWIRE_TEXT_BYTES]; /* the last one of a stack; raw bytes; "": none */
	uint64_t count;			/* of numbers; 0: what follows means nothing */
	double sum, min, max;
	double last; /* of a stack */
};

/*
 * All that was said of the zone, on whatever stacks, in that slot or in all (ZONE_SLOT_ALL).  Where
 * it was said on several stacks, nobody knows of which last: text and last are those of the stack
 * that said something latest for the first time.  False: nothing was.
 */
bool zone_said(const struct zone_region *region, const struct zone_reading *reading, uint32_t zone,
	uint32_t slot, struct zone_said *said);
/* "level 3", "number 5 (12 times: mean 3.5, 1 to 9)" or both, raw bytes; its length. */
int zone_said_write(const struct zone_said *said, char *text, size_t bytes);

#endif
