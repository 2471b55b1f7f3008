#ifndef SONDE_RECORD_PROCESSES_SIDEBAND_H
#define SONDE_RECORD_PROCESSES_SIDEBAND_H

/*
 * Applies what the kernel reports beside samples, maps, names, forks and exits, to the table of
 * processes.
 */

#include <linux/perf_event.h>

#include "record/processes/process_table.h"

/* Records of other types, and malformed ones, are passed over. */
void sideband_apply(struct process_table *processes, const struct perf_event_header *header);
/* Whether it is about a process of the table, or a child of one. */
bool sideband_concerns(struct process_table *processes, const struct perf_event_header *header);

#endif
