#ifndef SONDE_RECORD_LAUNCH_H
#define SONDE_RECORD_LAUNCH_H

/*
 * Starts the target: a child that waits until the events are set up on it, and only then calls
 * exec. It stays in our process group and on our terminal, so that Ctrl-C reaches it, and begins
 * with the signal mask, dispositions and limits that we were started with.
 */

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

struct launch {
	pid_t pid;
	int go_fd;     /* a byte written to it lets the child call exec; closed: the child ends */
	int status_fd; /* gives execve's errno, or end of file after a successful exec */
};

/* What the recorder changed for itself and the target must get as it was. */
struct launch_state {
	sigset_t mask;
	struct sigaction pipe, file_size, child; /* SIGPIPE, SIGXFSZ, SIGCHLD */
	struct rlimit files, locked_memory;
	int niceness;
	int timer_slack_ns;
};
/*
 * Remembers all of launch_state as it was.  From here on SIGPIPE and SIGXFSZ are ignored, as a
 * failed write tells, and SIGCHLD is not, as an ignored one would take the target's exit status
 * away.
 */
void launch_state_save(struct launch_state *state);
/* Sets back the signal mask and the dispositions. */
void launch_state_restore(const struct launch_state *state);
/*
 * From here on we may have many files open and much memory locked, and are quick to empty the rings
 * on a busy machine, all as far as it is allowed.
 */
void launch_raise_ourselves(void);

/*
 * Forks the child, which waits.  environment: NULL-terminated "NAME=value"s to set in it, or NULL.
 */
must_use struct error *launch_start(struct launch *launch, char *const *command,
	char *const *environment, const struct launch_state *state);
/*
 * Lets the child call exec.  ERROR_SYSTEM with execve's errno, "NAME: …", if that failed; the child
 * is gone then.
 */
must_use struct error *launch_release(struct launch *launch, const char *name);
/* Ends a child that was not released. */
void launch_cancel(struct launch *launch);

#endif
