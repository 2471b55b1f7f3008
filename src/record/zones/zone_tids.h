#ifndef SONDE_RECORD_ZONES_ZONE_TIDS_H
#define SONDE_RECORD_ZONES_ZONE_TIDS_H

/*
 * Thread ids as a program sees them itself, which in a pid namespace of its own (a container) are
 * others than ours.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct zone_tids {
	int64_t pid;
	bool is_same; /* both are one */
	struct map inner_of, outer_of;
};

/* inner_pid: what the program calls itself. */
void zone_tids_init(struct zone_tids *t, int64_t pid, int64_t inner_pid);
void zone_tids_deinit(struct zone_tids *t);
/* Asks /proc for all threads that live, where that is needed. */
void zone_tids_learn(struct zone_tids *t);
/* The program's own id of a thread, and ours of one of its; 0: not known. */
int64_t zone_tids_inner(const struct zone_tids *t, int64_t tid);
int64_t zone_tids_outer(const struct zone_tids *t, int64_t inner_tid);

#endif
