#ifndef SONDE_RECORD_PROCESSES_PROCESS_TABLE_H
#define SONDE_RECORD_PROCESSES_PROCESS_TABLE_H

/*
 * The living processes and threads of a recording, by pid and tid.  A reused pid is another
 * process.  Each process has its address space, copied at a fork and cleared at an exec; each
 * thread has its last stack.
 *
 * A load object is opened only when a stack first goes through it.  So a mapping is added with
 * UNWIND_PENDING set in its object number and with a slide relative to file offsets;
 * process_table_resolve sets its unwind rules and its final slide.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "record/file/capture_writer.h"
#include "record/processes/object_table.h"
#include "record/samples/offcpu.h"
#include "record/samples/sample_labels.h"
#include "record/samples/weights.h"
#include "unwind/space.h"
#include "unwind/walk.h"

struct process {
	int64_t pid;
	uint32_t number;    /* its id in the file */
	uint32_t parent;    /* id in the file; UINT32_MAX: unknown */
	int64_t parent_pid; /* 0: unknown */
	uint64_t start_ns;
	uint32_t threads;    /* living ones, as far as known */
	bool is_over;	     /* its last thread has ended, but records of it may still come */
	bool is_old;	     /* older than the recording: may have unknown threads */
	bool is_kernel;	     /* a kernel thread */
	bool is_leaderless;  /* its first thread has ended */
	bool is_bare;	     /* after an exec, before any code of the program is mapped */
	uint32_t programs;   /* that it ran before, by the reported execs */
	uint64_t program_ns; /* when the present one began, if programs is not 0 */
	char name[16];
	uint32_t group;	    /* control group, from sample_labels_name; or SAMPLE_LABELS_NONE */
	bool is_group_read; /* the group was read, not copied from the parent */
	struct weights_account account; /* if samples follow the accounts of processes */
	struct unwind_space space;
	uint64_t maps_read_ns; /* when /proc/PID/maps was last read; 0: never */
	/* Go's g is this far below a thread's control block; 0: not needed so far. */
	uint32_t go_below;
};

struct thread {
	int64_t tid, pid;
	uint32_t number;  /* its id in the file; UINT32_MAX: not written yet */
	uint32_t process; /* its process's id in the file */
	uint64_t start_ns;
	char name[16];
	uint32_t rank; /* of the events that sample it, if there are several: perf_attach.h */
	bool is_over;  /* it has ended, as far as known, but records of it may still come */
	struct unwind_history *history; /* NULL before its first sample */
	struct offcpu_thread off;
	struct weights_account account;
	struct thinned thinned;
};

/* Called for events of threads; each may be NULL. */
struct process_hooks {
	void (*forked)(void *context, struct thread *thread, uint64_t time_ns);
	void (*execed)(void *context, struct thread *thread, uint64_t time_ns);
	/* Later records of the thread change no more than its samples. */
	void (*ended)(void *context, struct thread *thread, uint64_t time_ns);
	void *context;
};

struct process_table;

/* start_ns: CLOCK_MONOTONIC at the recording's start, the origin of the file's times. */
must_use returns_owned struct process_table *process_table_create(
	struct capture_writer *writer, struct object_table *objects, uint64_t start_ns);
void process_table_destroy(struct process_table *t);
/* Adds hooks; they are called in the order in which they were added. */
void process_table_hook(struct process_table *t, const struct process_hooks *hooks);
/* Removes the hooks with that context. */
void process_table_unhook(struct process_table *t, const void *context);

/*
 * From now on, an unknown process is assumed to be older than the recording: its name and mappings
 * are read from /proc.
 */
void process_table_expect_old(struct process_table *t);
/* From now on processes have control groups, numbered by l. */
void process_table_read_groups(struct process_table *t, struct sample_labels *l);
/*
 * The control group of a thread's process.  The first call reads it; if the process is gone by
 * then, its parent's is used.
 */
uint32_t process_table_group(struct process_table *t, const struct thread *thread);
/*
 * The service, unit, container and command of a thread's process, by its group; where the group
 * has no service, the command is the service.  Needs process_table_read_groups.
 */
struct sample_owner process_table_owner(struct process_table *t, const struct thread *thread);
/* Adds a thread that is older than the recording, with its name, and its process. */
void process_table_adopt(struct process_table *t, int64_t pid, int64_t tid, uint64_t now_ns);
/* Reads the mappings of all processes that have none read yet. */
void process_table_read_all_maps(struct process_table *t, uint64_t now_ns);

/*
 * The process of a sample, or NULL.  May have just ended: the kernel reports the end before it
 * tears the process down, which takes a good part of a short life.
 */
struct process *process_table_find_late(struct process_table *t, int64_t pid);
/* The living process, or NULL. */
struct process *process_table_find(struct process_table *t, int64_t pid);
/* The process, added (without mappings) if unknown. */
struct process *process_table_get(struct process_table *t, int64_t pid, uint64_t time_ns);
/*
 * The thread of p, added if unknown; it may have just ended.  Tid -1 is the thread that ended last.
 * The first call writes it to the file.
 */
struct thread *process_table_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns);

/* The thread with that tid, of any process, or NULL.  May have just ended. */
struct thread *process_table_find_tid(struct process_table *t, int64_t tid);
/* The thread of that process, added if unknown; not written to the file. */
struct thread *process_table_meet(
	struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns);
/* Its id in the file.  The first call writes it. */
uint32_t process_table_number(struct process_table *t, struct thread *thread);
/*
 * The same for the thread with that tid in the process with that pid and number in the file;
 * CAPTURE_NO_ID: it never existed, or has ended some time ago.
 */
uint32_t process_table_find_number(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid);
/* Renames that thread in the file, if it exists. */
void process_table_name_thread(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid, struct str name);
/*
 * The id in the file of a process that was not reported: it is written to the file, but not stored
 * here.
 */
uint32_t process_table_past_process(
	struct process_table *t, int64_t pid, uint64_t start_ns, struct str name);
/*
 * The id in the file of a thread that was not reported, or that has ended: it is written to the
 * file, but not stored here.
 */
uint32_t process_table_past_thread(
	struct process_table *t, uint32_t process, int64_t tid, uint64_t start_ns, struct str name);
/* Calls visit for each living thread. */
void process_table_each_thread(struct process_table *t,
	void (*visit)(void *context, struct thread *thread), void *context);

void process_table_fork(
	struct process_table *t, int64_t pid, int64_t parent_pid, int64_t tid, uint64_t time_ns);
void process_table_exit(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns);
/* A thread's new name; exec: the process now runs another program. */
void process_table_comm(struct process_table *t, int64_t pid, int64_t tid, bool exec,
	struct str name, uint64_t time_ns);
/* A new mapping of code. */
void process_table_map(struct process_table *t, struct process *p,
	const struct object_origin *origin, uint64_t file_off);
/*
 * Reads unreported mappings from /proc/PID/maps, unless that was done in the last tenth of a
 * second.  True: it was read.
 */
bool process_table_read_maps(struct process_table *t, struct process *p, uint64_t now_ns);
/*
 * If the mapping at va is pending, opens its object and writes the mapping to the file.  True: it
 * was pending.
 */
bool process_table_resolve(
	struct process_table *t, struct process *p, uint64_t va, uint64_t time_ns);

/*
 * The CPU time that the system accounts to all living processes.  *processes: their number; 0 if
 * there are more than `most`.
 */
uint64_t process_table_cpu_ns(const struct process_table *t, size_t most, size_t *processes);
/* Living processes. */
size_t process_table_living(const struct process_table *t);
/*
 * The number of programs that lost all events at their exec, because they got more privileges or
 * may not be read; *name: of the first.
 */
size_t process_table_denied(const struct process_table *t, const char **name);
/*
 * How many of them were still there when their end was reported: it is certain that they were
 * denied.
 */
size_t process_table_denied_alive(const struct process_table *t);
/* Calls visit for each living process. */
void process_table_each_process(struct process_table *t,
	void (*visit)(void *context, struct process *process), void *context);
/* Processes and threads so far, in all. */
size_t process_table_process_total(const struct process_table *t);
uint64_t process_table_thread_total(const struct process_table *t);

/* ---- the kernel's reports ---- */

/*
 * The kernel's records of mappings, names, forks and exits, applied to the table.
 */

/* Applies a record.  Ignores other types, and malformed records. */
void sideband_apply(struct process_table *processes, const struct perf_event_header *header);
/* Whether a record is about a process in the table, or a child of one. */
bool sideband_concerns(struct process_table *processes, const struct perf_event_header *header);

#endif
