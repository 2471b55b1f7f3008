#ifndef SONDE_LIVE_PROC_H
#define SONDE_LIVE_PROC_H

/*
 * Information from /proc, see proc(5), about a process that may have zones.  Nothing here stops,
 * signals or traces it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct live_process {
	pid_t pid;	 /* of the process, even if the request had a thread's id */
	pid_t inner_pid; /* in its own, innermost PID namespace */
	char state;	 /* 'R', 'S', 'T' stopped, 't' by a debugger, 'Z' ended, not waited for */
	char name[16];	 /* the kernel's */
	uid_t uid;	 /* effective */
};

/* ERROR_INPUT: no such process. */
must_use struct error *live_process_look(pid_t pid, struct live_process *process);
/* Identifies a process beyond its pid, and shows whether it has mapped more memory. */
struct live_size {
	uint64_t start; /* its start time, in the kernel's ticks since boot */
	uint64_t bytes; /* of all its mappings; 0 for kernel threads */
};
/* False: no such process.  Needs no permissions. */
bool live_process_size(pid_t pid, struct live_size *size);
/*
 * Its command line, with arguments separated by spaces, cut to size - 1 bytes; "" if there is none.
 */
void live_process_command(pid_t pid, char *text, size_t size);
/*
 * The kernel's name of one of its threads; tid is in the process's own PID namespace.  "": it has
 * ended.
 */
void live_process_thread_name(
	const struct live_process *process, int32_t tid, char *name, size_t size);

#endif
