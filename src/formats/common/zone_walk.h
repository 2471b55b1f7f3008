#ifndef SONDE_FORMATS_COMMON_ZONE_WALK_H
#define SONDE_FORMATS_COMMON_ZONE_WALK_H

/*
 * Turns a profile's zone events into entries and exits, properly nested, for formats with a
 * timeline.
 */

#include "model/profile.h"

/* stack: the zone stack; its innermost zone is entered or left. */
typedef void zone_visit(void *context, uint32_t thread, uint32_t stack, uint64_t time_ns);

/*
 * Visits thread by thread, each in time order.  Zones that are open at a thread's last event are
 * left when the thread's time in zones, known from the zone rows, is used up, but not after the
 * last zone row.  If events are missing so that this is impossible, they are left at the last
 * event.
 */
void zone_walk(const struct profile *p, void *context, zone_visit *enter, zone_visit *leave);

/*
 * Whether a metric belongs to zone rows, which are not samples and have weights only in such
 * metrics.
 */
bool is_of_zones(const struct profile *p, metric_id metric);

#endif
