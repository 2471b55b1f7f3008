#ifndef SONDE_RECORD_ZONES_ZONE_NOTICE_H
#define SONDE_RECORD_ZONES_ZONE_NOTICE_H

/*
 * Programs with zones that are launched tell us of their memory: at their first zone, and after
 * each fork, they send its descriptor to the socket whose name is in their environment
 * (SONDE_ZONES=notify=NAME).  So even the shortest program's memory is had, and stays when it is
 * gone.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct zone_notice {
	pid_t pid; /* as we see it: the kernel tells */
	uid_t uid;
	int fd; /* the caller's */
};

struct zone_notices {
	int fd;	       /* of the socket; -1: there is none */
	char name[64]; /* in the abstract name space */
};

/* Opens the socket; without one nothing is announced. */
void zone_notices_open(struct zone_notices *n);
void zone_notices_close(struct zone_notices *n);
/* The next one; false: there is none now. */
bool zone_notices_take(struct zone_notices *n, struct zone_notice *notice);

#endif
