#ifndef SONDE_ZONEREPORT_LAST_END_H
#define SONDE_ZONEREPORT_LAST_END_H

#include <stddef.h>

#include "zonereport/region.h"

/*
 * The zones of the last missing or extra Prof_End, as a sentence for a note, with names as the
 * program gave them: "the last Prof_End that was missing or too many: outer ended where inner was
 * open". "" if there was none, or it is unknown.
 */
void zone_region_last_end(const struct zone_region *region, char *text, size_t bytes);

#endif
