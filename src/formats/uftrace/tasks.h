#ifndef SONDE_FORMATS_UFTRACE_TASKS_H
#define SONDE_FORMATS_UFTRACE_TASKS_H

/*
 * Who ran: task.txt of a folder of uftrace.  A session is what a process was between two execs: a
 * program and where its code was.  Texts are borrowed from the file's bytes.
 */

#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

struct uftrace_session {
	uint64_t pid, start_ns;
	struct str id, exe;
};

struct uftrace_task {
	uint64_t tid, pid, start_ns;
	uint64_t parent;  /* pid that it was forked by; 0: it is a thread, or the first */
	uint32_t session; /* whose code it begins with, if its pid has no session; NO_ID: none */
};

/* A library that was loaded later. */
struct uftrace_load {
	uint64_t time_ns, base;
	struct str session_id, path;
};

struct uftrace_tasks {
	VEC(struct uftrace_session) sessions; /* by pid and start */
	VEC(struct uftrace_task) tasks;	      /* in the order of the file */
	VEC(struct uftrace_load) loads;
	struct map task_of; /* tid → index of task */
	uint64_t bad;	    /* lines that say nothing */
};

void uftrace_tasks_init(struct uftrace_tasks *t, struct str text);
void uftrace_tasks_deinit(struct uftrace_tasks *t);

/* The task's session at that time; NO_ID: not known. */
uint32_t uftrace_tasks_session(
	const struct uftrace_tasks *t, const struct uftrace_task *task, uint64_t time_ns);

#endif
