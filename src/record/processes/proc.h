#ifndef SONDE_RECORD_PROCESSES_PROC_H
#define SONDE_RECORD_PROCESSES_PROC_H

/*
 * Reads /proc about processes and threads, proc(5): /proc/PID/stat and /proc/PID/task/TID/stat,
 * /proc/PID/cgroup (cgroups(7)), /proc/TID/schedstat (sched-stats in the kernel's documentation)
 * and /proc/PID/maps; and which processes and threads there are.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"

struct proc_stat {
	int64_t pid, parent; /* of a thread, pid is its tid */
	char state;	     /* 'Z': it has ended, but its parent has not waited for it yet */
	char name[16];
	bool is_kernel; /* a kernel thread: no user code, no mappings */
	uint32_t threads;
	uint64_t user_ns, system_ns; /* CPU time, in ticks of 10 ms */
	uint64_t start_ns;	     /* CLOCK_MONOTONIC, to 10 ms; 0: before that clock's start */
};

/* Parses such a file; start_ns stays relative to boot.  False: malformed. */
bool proc_stat_parse(struct str text, struct proc_stat *stat);
/* tid 0: the process, all its threads together.  False: it is gone. */
bool proc_stat_read(int64_t pid, int64_t tid, struct proc_stat *stat);

/*
 * The scheduling of a thread; its CPU time is up to the last switch or, while it runs, the last
 * tick.
 */
struct proc_sched {
	uint64_t ran_ns, waited_ns; /* waited: for a CPU, while ready to run */
	uint64_t turns;		    /* how often it got a CPU */
};
/* False: it is gone, or this kernel does not have the file. */
bool proc_sched_read(int64_t tid, struct proc_sched *sched);

/* How many seccomp filters a thread has; UINT32_MAX: it is in strict mode. */
uint32_t proc_seccomp_filters(int64_t pid, int64_t tid);

/* Adds the command line of a process, each argument followed by NUL, or its name in brackets. */
void proc_command_line(int64_t pid, struct strbuf *out);

/*
 * Sets path to the control group of a process: that of cgroups version 2 or, if that is the root,
 * the longest one of version 1.  False: the process is gone.
 */
bool proc_cgroup(int64_t pid, struct strbuf *path);

/* The CPU time of a process, all its threads together, to the nanosecond; 0: it is gone. */
uint64_t proc_cpu_ns(int64_t pid);

/* ---- maps ---- */

/*
 * The mappings of a live process, if the kernel did not report them: events were lost, or the
 * process is older than the recording.
 */

struct maps_line {
	uint64_t low_va, high_va, file_off;
	uint64_t device, inode; /* device: major number << 32 | minor number */
	bool executable;
	struct str path; /* in the line; empty for anonymous memory */
};
/* Parses a line without its newline.  False: malformed. */
bool maps_line_parse(struct str line, struct maps_line *out);
/* Calls visit for each line of the process's maps; makes no call if they cannot be read. */
void maps_read(
	int64_t pid, void (*visit)(void *context, const struct maps_line *line), void *context);

/* ---- processes and threads that run ---- */

/*
 * A scan may miss tasks that begin during it, and include tasks that end.  To get all, repeat it
 * until it finds nothing new.
 */

struct task {
	pid_t pid, tid;
};
typedef VEC(struct task) task_vec;

/*
 * Adds the threads of roots[count] and of all their descendants to tasks, grouped by process,
 * ancestors before descendants.  Omits this process, but not its children.
 */
void task_scan(const pid_t *roots, size_t count, task_vec *tasks);

typedef VEC(pid_t) pid_vec;

/*
 * Adds the processes with that name to pids, ascending.  The name is the kernel's (comm, truncated
 * to 15 bytes), or the base name of the first word of the command line.  Omits this process, kernel
 * threads and processes that have ended.
 */
void task_scan_named(struct str name, pid_vec *pids);
/* The same for the processes in a control group with that name (base/cgroup.h). */
void task_scan_cgroup(struct str name, pid_vec *pids);

#endif
