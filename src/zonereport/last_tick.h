#ifndef SONDE_ZONEREPORT_LAST_TICK_H
#define SONDE_ZONEREPORT_LAST_TICK_H

#include "zonereport/region.h"

/*
 * The last tick that the memory itself proves, the best estimate of when its program was killed,
 * unless the time is known (zone_region's ended_ticks).  Not before the program's start; for saved
 * memory, the tick of saving.
 */
uint64_t zone_region_last_tick(const struct zone_region *region);

#endif
