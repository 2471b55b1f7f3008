#ifndef SONDE_ZONEREPORT_LAST_TICK_H
#define SONDE_ZONEREPORT_LAST_TICK_H

#include "zonereport/region.h"

/*
 * The last tick that the memory itself proves to have been reached: what its program had come to
 * when it was killed, if nobody knows better (zone_region's ended_ticks).  Not before its start; of
 * saved memory that of saving.
 */
uint64_t zone_region_last_tick(const struct zone_region *region);

#endif
