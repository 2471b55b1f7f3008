#ifndef SONDE_RECORD_TARGET_H
#define SONDE_RECORD_TARGET_H

/*
 * What is recorded, and when that is over.
 */

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "record/launch.h"

struct target {
	char *const *command;		  /* NULL-terminated argv */
	const struct launch_state *state; /* that the command is to begin with */
	struct launch launch;
	bool ended;
	int wait_status;     /* if ended */
	struct rusage usage; /* likewise: of the command and all its children waited for */
};

/*
 * Forks the command, which waits before its exec.  environment: NULL-terminated "NAME=value"s to
 * set in it, or NULL.
 */
must_use struct error *target_start(struct target *t, char *const *environment);
/* Lets it run. ERROR_SYSTEM with execve's errno if that failed; the child is gone then. */
must_use struct error *target_release(struct target *t);
/* Ends a command that was not released. */
void target_cancel(struct target *t);
/* Looks whether it has ended. */
void target_look(struct target *t);

#endif
