#ifndef SONDE_BASE_LIMITED_CHILD_H
#define SONDE_BASE_LIMITED_CHILD_H

/*
 * A child process that does one piece of work on what others sent, within limits of CPU time and
 * memory, and writes what came of it to a pipe.  So no input can take more than its share, nor end
 * its parent: the child has its own memory, and the kernel ends it at its limits.
 *
 * The child is forked, so the work finds all that was loaded before.  It has standard input and
 * output, its end of the pipe and what it is to keep, but no connection of any client; what it
 * prints as an error is dropped.  It ends with the thread that started it, whatever signals that
 * one blocks or handles.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"

struct limited_work {
	unsigned cpu_seconds;
	uint64_t memory_bytes; /* besides what the parent has; 0: no limit */
	int kept_fd;	       /* stays open; -1: none */
	/* Runs in the child, which ends with what it returns as its exit status. */
	int (*run)(void *context, int fd);
	void *context;
};

struct limited_child {
	pid_t pid; /* 0: none runs */
	int fd;	   /* to read from, until the end; -1: none */
};

enum limited_end {
	LIMITED_DONE, /* with status 0 */
	LIMITED_BY_TIME,
	LIMITED_BY_MEMORY, /* also of the machine */
	LIMITED_FAILED,	   /* by another signal, or with another status */
};

/* ERROR_SYSTEM: there is no pipe or no process.  Any thread may call it. */
must_use struct error *limited_child_start(
	struct limited_child *child, const struct limited_work *work);
/* Appends all that the child writes, until it ends or closes its end. */
void limited_child_read(const struct limited_child *child, struct strbuf *out);
/* Waits for the end, which follows that of what is read from fd, and closes fd. */
enum limited_end limited_child_end(struct limited_child *child);
/* Ends the child if it runs, and closes fd. */
void limited_child_kill(struct limited_child *child);

#endif
