#ifndef SONDE_RECORD_PROCESSES_PROC_H
#define SONDE_RECORD_PROCESSES_PROC_H

/*
 * What /proc says of processes and threads, proc(5): /proc/PID/stat and /proc/PID/task/TID/stat,
 * /proc/PID/cgroup (cgroups(7)), /proc/TID/schedstat (sched-stats in the kernel's documentation)
 * and /proc/PID/maps; and which processes and threads there are.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"

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

/* ---- maps ---- */

/*
 * The mappings of a live process, for those that the kernel did not report: events were lost, or
 * the process is older than the recording.
 */

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

/* ---- processes and threads that run ---- */

/*
 * A scan may miss tasks that begin meanwhile, and include tasks that end.  To get all, scan again
 * until nothing is new.
 */

struct task {
	pid_t pid, tid;
};
typedef VEC(struct task) task_vec;

/*
 * Adds the threads of roots[count] and of all their descendants to tasks, those of one process
 * together, ancestors before descendants.  Without ourselves, but with our children.
 */
void task_scan(const pid_t *roots, size_t count, task_vec *tasks);

typedef VEC(pid_t) pid_vec;

/*
 * Adds the processes of that name to pids, ascending.  The name is the kernel's (comm, cut to 15
 * bytes), or the base name of the first word of the command line.  Without ourselves, the kernel's
 * threads and processes that have ended.
 */
void task_scan_named(struct str name, pid_vec *pids);
/* The same of the processes in a control group of that name (base/cgroup.h). */
void task_scan_cgroup(struct str name, pid_vec *pids);

#endif
