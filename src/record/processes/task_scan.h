#ifndef SONDE_RECORD_PROCESSES_TASK_SCAN_H
#define SONDE_RECORD_PROCESSES_TASK_SCAN_H

/*
 * The threads that some processes and their descendants have now, out of /proc.  What is made or
 * ends meanwhile may be missing or there: who needs all scans again until nothing is new.
 */

#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"

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
