#ifndef SONDE_RECORD_PROCESSES_PROC_STAT_H
#define SONDE_RECORD_PROCESSES_PROC_STAT_H

/*
 * /proc/PID/stat and /proc/PID/task/TID/stat: what a process or a thread is, proc(5);
 * /proc/PID/cgroup, cgroups(7); and /proc/TID/schedstat, sched-stats in the kernel's documentation.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct proc_stat {
	int64_t pid, parent; /* a thread's pid is its tid */
	char state;	     /* 'Z': it has ended and nobody has waited for it yet */
	char name[16];
	bool is_kernel; /* a thread of the kernel: no user code, no maps */
	uint32_t threads;
	uint64_t user_ns, system_ns; /* CPU time, in ticks of 10 ms */
	uint64_t start_ns;	     /* CLOCK_MONOTONIC, to 10 ms; 0: before that clock began */
};

/* The contents of such a file.  start_ns is not made CLOCK_MONOTONIC's.  False: malformed. */
bool proc_stat_parse(struct str text, struct proc_stat *stat);
/* tid 0: of the process, all its threads together. False: it is gone. */
bool proc_stat_read(int64_t pid, int64_t tid, struct proc_stat *stat);

/* How the system has given a thread CPUs: its CPU time, up to the last switch or tick while it
 * runs. */
struct proc_sched {
	uint64_t ran_ns, waited_ns; /* waited: ready to run, for a CPU */
	uint64_t turns;		    /* times that it was given one */
};
/* False: it is gone, or this system does not tell. */
bool proc_sched_read(int64_t tid, struct proc_sched *sched);

/* How many seccomp filters hold for a thread; UINT32_MAX: it is in the strict mode. */
uint32_t proc_seccomp_filters(int64_t pid, int64_t tid);

/* Adds the command line of a process, each argument followed by NUL, or its name in brackets. */
void proc_command_line(int64_t pid, struct strbuf *out);

/*
 * Sets path to the control group of a process: that of cgroups of version 2, or, where that says
 * nothing, the longest of version 1.  False: the process is gone.
 */
bool proc_cgroup(int64_t pid, struct strbuf *path);

/* The CPU time of a process, all its threads together, to the nanosecond; 0: it is gone. */
uint64_t proc_cpu_ns(int64_t pid);

#endif
