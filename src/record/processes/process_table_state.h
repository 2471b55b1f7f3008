#ifndef SONDE_RECORD_PROCESSES_PROCESS_TABLE_STATE_H
#define SONDE_RECORD_PROCESSES_PROCESS_TABLE_STATE_H

/*
 * The process table within, for the files that it consists of: process_table.c has the processes,
 * process_threads.c the threads, process_events.c what the kernel tells of both, process_maps.c the
 * code that they have mapped.
 */

#include "base/map.h"
#include "base/vec.h"
#include "record/processes/proc_stat.h"
#include "record/processes/process_table.h"

/* /proc tells starts by ticks of 10 ms: two that are so near are one. */
#define SAME_START_NS UINT64_C(20000000)

/* A process that is over, and is kept for what is still to come of it. */
struct grave {
	int64_t pid, tid;
	uint32_t number;
	uint64_t time_ns;
};

struct process_table {
	struct capture_writer *writer;
	struct object_table *objects;
	uint64_t start_ns;
	struct map pids, tids; /* to places in the vectors */
	VEC(struct process *) processes;
	VEC(struct thread *) threads;
	VEC(struct grave) graves;		  /* by time */
	uint32_t process_numbers, thread_numbers; /* given so far */
	uint64_t thread_total;
	bool expects_old;
	struct sample_labels *labels; /* NULL: control groups are not asked for */
	size_t denied;		      /* programs that may not be sampled */
	char denied_name[16];	      /* the first of them */
	VEC(struct process_hooks) hooks;
};

/* Time in the file: since the recording's start. */
uint64_t process_table_file_time(const struct process_table *t, uint64_t time_ns);

/*
 * A new process, written to the file, in the place of a dead one of that pid, if any; a copy of
 * parent, or with NULL what /proc tells of it if old processes are expected.
 */
struct process *process_table_add(
	struct process_table *t, int64_t pid, struct process *parent, uint64_t time_ns);
/* Frees the process of that pid if its number is that; others change their places. */
void process_table_remove(struct process_table *t, int64_t pid, uint32_t number);
/* Writes its name and what else is to be known of it to the file, again if need be. */
void process_table_write(const struct process_table *t, const struct process *p);
/*
 * Whether what /proc tells is of the process or thread that was there at that time: its id may be
 * used again.
 */
bool process_table_is_same(const struct proc_stat *stat, uint64_t time_ns);

/* A new thread of p; the one that had that tid has ended. */
struct thread *process_table_add_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns);
/* The thread if it is known as one of p's, or NULL. */
struct thread *process_table_find_thread(
	struct process_table *t, const struct process *p, int64_t tid);
/* The thread of p, made if it is not known. */
struct thread *process_table_get_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns);
/* Tells of its end and keeps it, for what is still to come of it. */
void process_table_end_thread(struct process_table *t, struct thread *thread, uint64_t time_ns);
/* Frees the thread of that tid if it is of that process; others change their places. */
void process_table_remove_thread(struct process_table *t, int64_t tid, uint32_t process);
void process_table_free_thread(struct thread *thread);
/* Writes its name and start to the file, again if need be. */
void process_table_write_thread(const struct process_table *t, const struct thread *thread);

#endif
