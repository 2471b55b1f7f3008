#ifndef SONDE_FORMATS_UFTRACE_TASKS_H
#define SONDE_FORMATS_UFTRACE_TASKS_H

/*
 * The tasks of a uftrace folder and their times, from task.txt and the kernel's thread events
 * during recording (perf-cpuN.dat).
 */

#include "base/folder.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

/*
 * A session is a process between two execs: a program, and the mappings of its code.  Texts point
 * into the file's bytes.
 */

struct uftrace_session {
	uint64_t pid, start_ns;
	struct str id, exe;
};

struct uftrace_task {
	uint64_t tid, pid, start_ns;
	uint64_t parent;  /* of its code at first, if its pid has no session; NO_ID: none */
	uint32_t session; /* the session of its code at first, if its pid has no session; NO_ID:
			     none */
};

/* A library that was loaded later. */
struct uftrace_load {
	uint64_t time_ns, base;
	struct str session_id, path;
};

struct uftrace_tasks {
	VEC(struct uftrace_session) sessions; /* by pid and start */
	VEC(struct uftrace_task) tasks;	      /* in file order */
	VEC(struct uftrace_load) loads;
	struct map task_of; /* tid → index in tasks */
	uint64_t bad;	    /* invalid lines */
};

void uftrace_tasks_init(struct uftrace_tasks *t, struct str text);
void uftrace_tasks_deinit(struct uftrace_tasks *t);

/* The task's session at that time; NO_ID: unknown. */
uint32_t uftrace_tasks_session(
	const struct uftrace_tasks *t, const struct uftrace_task *task, uint64_t time_ns);

/* When threads left the CPU and returned, when they ended, and their names. */

enum uftrace_switch_kind { UFTRACE_IN, UFTRACE_OUT, UFTRACE_PREEMPTED, UFTRACE_END };

struct uftrace_switch {
	uint64_t time_ns;
	uint32_t tid;
	enum uftrace_switch_kind kind;
};

struct uftrace_switches {
	VEC(struct uftrace_switch) all; /* by thread and time */
	struct arena *arena;
	struct str_table names;
	struct map name_of; /* tid → index of its name */
	uint64_t bad;	    /* files with an invalid end */
};

void uftrace_switches_init(struct uftrace_switches *s, const struct folder *folder);
void uftrace_switches_deinit(struct uftrace_switches *s);
/* The index of the thread's first switch; the others follow it while their tid is the same. */
size_t uftrace_switches_of(const struct uftrace_switches *s, uint64_t tid);
/* Empty: unknown. */
struct str uftrace_switches_name(const struct uftrace_switches *s, uint64_t tid);

#endif
