#ifndef SONDE_RECORD_PROCESSES_MAPS_H
#define SONDE_RECORD_PROCESSES_MAPS_H

/*
 * /proc/PID/maps: the mappings of a live process, for what the kernel did not report (events that
 * were lost, processes that we met late).
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct maps_line {
	uint64_t low_va, high_va, file_off, inode;
	bool executable;
	struct str path; /* in the line; empty for anonymous memory */
};
/* One line, without its line end.  False: malformed. */
bool maps_line_parse(struct str line, struct maps_line *out);
/* Calls visit for each line of the process's maps; no call where they can't be read. */
void maps_read(
	int64_t pid, void (*visit)(void *context, const struct maps_line *line), void *context);

#endif
