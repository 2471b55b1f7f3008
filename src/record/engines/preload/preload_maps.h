#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MAPS_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_MAPS_H

/*
 * Mappings as the preloaded library tells them: lines of /proc/self/maps, ascending, of code.
 */

#include <stdbool.h>

#include "base/str.h"
#include "record/processes/process_table.h"

/* These mappings the process has and, if all, no others. */
void preload_maps_take(
	struct process_table *processes, struct process *p, struct str text, bool all);

#endif
