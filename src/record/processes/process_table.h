#ifndef SONDE_RECORD_PROCESSES_PROCESS_TABLE_H
#define SONDE_RECORD_PROCESSES_PROCESS_TABLE_H

/*
 * The living processes and threads of a recording, by pid and tid.  A pid that is used again is
 * another process.  Each process has its address space, copied at a fork and cleared at an exec;
 * each thread has its last stack.
 *
 * A load object is opened only when a stack first goes through it.  So a mapping is added with
 * UNWIND_PENDING set in its object number and with a slide that counts file offsets;
 * process_table_resolve gives it its unwind rules and its slide.
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
	uint32_t number; /* its id in the file */
	uint32_t parent; /* likewise; UINT32_MAX: not known */
	uint64_t start_ns;
	uint32_t threads;   /* that live, as far as we know them */
	bool is_over;	    /* its last thread has ended, but not all of that thread's work */
	bool is_old;	    /* was there before we looked: it may have threads that we don't know */
	bool is_kernel;	    /* a thread of the kernel */
	bool is_leaderless; /* its first thread has ended */
	bool is_bare;	    /* it runs another program; no code of that is mapped yet */
	char name[16];
	uint32_t group;	    /* control group, of sample_labels_name; or SAMPLE_LABELS_NONE */
	bool is_group_read; /* it is the process's own, not its parent's */
	struct weights_account account; /* where samples are held against those of processes */
	struct unwind_space space;
	uint64_t maps_read_ns; /* when /proc/PID/maps was last asked; 0: never */
};

struct thread {
	int64_t tid, pid;
	uint32_t number;  /* its id in the file; UINT32_MAX: not written yet */
	uint32_t process; /* likewise, of its process */
	uint64_t start_ns;
	char name[16];
	uint32_t rank; /* of the events that sample it, if it has several: see perf_attach.h */
	bool is_over;  /* it has ended, as far as is known */
	struct unwind_history *history; /* NULL before its first sample */
	struct offcpu_thread off;
	struct weights_account account;
	struct thinned thinned;
};

/* Told of threads' lives; each call may be NULL. */
struct process_hooks {
	void (*forked)(void *context, struct thread *thread, uint64_t time_ns);
	void (*execed)(void *context, struct thread *thread, uint64_t time_ns);
	/* It is freed next. */
	void (*ended)(void *context, struct thread *thread, uint64_t time_ns);
	void *context;
};

struct process_table;

/* start_ns: CLOCK_MONOTONIC at the recording's start, from which the file's times count. */
must_use returns_owned struct process_table *process_table_create(
	struct capture_writer *writer, struct object_table *objects, uint64_t start_ns);
void process_table_destroy(struct process_table *t);
/* From now on these are reported as well, in the order in which they came. */
void process_table_hook(struct process_table *t, const struct process_hooks *hooks);
/* Those with that context no more. */
void process_table_unhook(struct process_table *t, const void *context);

/*
 * From now on a process that is not known was there before: what it is, and which code it has
 * mapped, is asked of /proc.
 */
void process_table_expect_old(struct process_table *t);
/* From now on processes have control groups, with numbers of l. */
void process_table_read_groups(struct process_table *t, struct sample_labels *l);
/*
 * The control group of a thread's process, which is read when it is asked for first; of one that is
 * gone by then its parent's.
 */
uint32_t process_table_group(struct process_table *t, const struct thread *thread);
/* A thread that was there before, with its name, and its process. */
void process_table_adopt(struct process_table *t, int64_t pid, int64_t tid, uint64_t now_ns);
/* Reads the maps of all processes whose maps have not been read. */
void process_table_read_all_maps(struct process_table *t, uint64_t now_ns);

/*
 * The process of a sample, or NULL: one that has just ended counts, as the kernel tells of ends
 * before it takes the process down, which is a good part of a short life.
 */
struct process *process_table_find_late(struct process_table *t, int64_t pid);
/* The living process, or NULL. */
struct process *process_table_find(struct process_table *t, int64_t pid);
/* The process, made (with no mappings) if it is not known. */
struct process *process_table_get(struct process_table *t, int64_t pid, uint64_t time_ns);
/* The thread of p, made if it is not known; written to the file by the first call. */
struct thread *process_table_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns);

/* The thread with that tid, of whatever process, or NULL: one that has just ended counts. */
struct thread *process_table_find_tid(struct process_table *t, int64_t tid);
/* The thread of that process, made if it is not known, and not written yet. */
struct thread *process_table_meet(
	struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns);
/* Its id in the file, to which it is written by the first call. */
uint32_t process_table_number(struct process_table *t, struct thread *thread);
/*
 * The same of the thread with that tid in the process of that pid and number in the file;
 * CAPTURE_NO_ID: there is none, or no more.
 */
uint32_t process_table_find_number(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid);
/* Gives that thread another name in the file; one that there is not, or no more, has none. */
void process_table_name_thread(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid, struct str name);
/* The id in the file of a process that nobody has told of: written, and not kept. */
uint32_t process_table_past_process(
	struct process_table *t, int64_t pid, uint64_t start_ns, struct str name);
/*
 * The id in the file of a thread that nobody has told of, or that is no more: written, and not
 * kept.
 */
uint32_t process_table_past_thread(
	struct process_table *t, uint32_t process, int64_t tid, uint64_t start_ns, struct str name);
/* Calls visit for each living thread. */
void process_table_each_thread(struct process_table *t,
	void (*visit)(void *context, struct thread *thread), void *context);

void process_table_fork(
	struct process_table *t, int64_t pid, int64_t parent_pid, int64_t tid, uint64_t time_ns);
void process_table_exit(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns);
/* A thread's new name; exec: the process has become another program. */
void process_table_comm(struct process_table *t, int64_t pid, int64_t tid, bool exec,
	struct str name, uint64_t time_ns);
/* A new mapping of code. */
void process_table_map(struct process_table *t, struct process *p,
	const struct object_origin *origin, uint64_t file_off);
/*
 * Reads /proc/PID/maps for what was not reported, if that was not done in the last tenth of a
 * second.  True if it was read.
 */
bool process_table_read_maps(struct process_table *t, struct process *p, uint64_t now_ns);
/*
 * Opens the object of the mapping at va if that is pending, and writes the mapping to the file.
 * True if it was pending.
 */
bool process_table_resolve(
	struct process_table *t, struct process *p, uint64_t va, uint64_t time_ns);

/*
 * The CPU time that the system accounts to all living processes, and how many these are; 0
 * processes where there are more than that many.
 */
uint64_t process_table_cpu_ns(const struct process_table *t, size_t most, size_t *processes);
/* Living processes. */
size_t process_table_living(const struct process_table *t);
/*
 * Programs that the kernel has taken all events off when they began, as they have more rights than
 * who started them, or may not be read; and the name of the first.
 */
size_t process_table_denied(const struct process_table *t, const char **name);
/* The living ones. */
void process_table_each_process(struct process_table *t,
	void (*visit)(void *context, struct process *process), void *context);
/* Processes, and threads, there have been. */
size_t process_table_process_total(const struct process_table *t);
uint64_t process_table_thread_total(const struct process_table *t);

/* ---- the kernel's reports ---- */

/*
 * The kernel's records of mappings, names, forks and exits, applied to the table.
 */

/* Records of other types, and malformed ones, are passed over. */
void sideband_apply(struct process_table *processes, const struct perf_event_header *header);
/* Whether it is about a process of the table, or a child of one. */
bool sideband_concerns(struct process_table *processes, const struct perf_event_header *header);

#endif
