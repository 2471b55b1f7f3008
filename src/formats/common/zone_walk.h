#ifndef SONDE_FORMATS_COMMON_ZONE_WALK_H
#define SONDE_FORMATS_COMMON_ZONE_WALK_H

/*
 * Turns a profile's zone events into entries and exits, properly nested, for formats with a
 * timeline.
 */

#include "model/profile.h"

/* stack: the zone stack whose innermost zone is entered or left. */
typedef void zone_visit(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns);

/*
 * Thread by thread, and of each in the order of time.  Zones that are open at a thread's last event
 * are left when all its time in zones is used up, which is known from the zone rows, and not after
 * the last of these; where that cannot be, as events are missing, at the last event.
 */
void zone_walk(const struct profile *p, void *context, zone_visit *enter, zone_visit *leave);

/* Whether a metric is of zone rows, which are no samples: they have weights in no other. */
bool is_of_zones(const struct profile *p, metric_id metric);

#endif
