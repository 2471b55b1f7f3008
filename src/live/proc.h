#ifndef SONDE_LIVE_PROC_H
#define SONDE_LIVE_PROC_H

/*
 * What /proc tells of a process that may have zones: who it is, and where its memory of zones can
 * be had.  proc(5).  Nothing here stops, signals or traces it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

struct live_process {
	pid_t pid;	 /* of the whole process, also where it was asked for by a thread's */
	pid_t inner_pid; /* as itself sees it, in the innermost pid namespace */
	char state;	 /* 'R', 'S', 'T' stopped, 't' by a debugger, 'Z' ended, not waited for */
	char name[16];	 /* the kernel's */
	uid_t uid;	 /* effective */
};

/* ERROR_INPUT: there is none of that number. */
must_use struct error *live_process_look(pid_t pid, struct live_process *process);
/* What tells a process from another of its number, and whether it has mapped something. */
struct live_size {
	uint64_t start; /* time of its start, in the kernel's ticks since boot */
	uint64_t bytes; /* of all that it has mapped; 0 of the kernel's own threads */
};
/* False: there is none of that number.  Anybody may ask for anybody's. */
bool live_process_size(pid_t pid, struct live_size *size);
/* Its command line, arguments parted by spaces, cut to size - 1 bytes; "" if there is none. */
void live_process_command(pid_t pid, char *text, size_t size);
/* The kernel's name of one of its threads, whose tid is as the process sees it; "": gone. */
void live_process_thread_name(
	const struct live_process *process, int32_t tid, char *name, size_t size);

#endif
