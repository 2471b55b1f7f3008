#ifndef SONDE_ZONEREPORT_LAST_END_H
#define SONDE_ZONEREPORT_LAST_END_H

#include <stddef.h>

#include "zonereport/region.h"

/*
 * Which zones the last Prof_End that was missing or too many was of, as a sentence for a note, with
 * the names as the program gave them: "the last Prof_End that was missing or too many: outer ended
 * where inner was open".  "" if there was none, or nothing is known of it.
 */
void zone_region_last_end(const struct zone_region *region, char *text, size_t bytes);

#endif
