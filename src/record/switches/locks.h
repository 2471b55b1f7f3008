#ifndef SONDE_RECORD_SWITCHES_LOCKS_H
#define SONDE_RECORD_SWITCHES_LOCKS_H

/*
 * Which lock a thread waits for, and who holds it.  Uses futex(2), on which mutexes, condition
 * variables, semaphores and similar locks of all languages wait.
 */

#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/data_symbols.h"
#include "record/events/perf_record.h"
#include "record/processes/process_table.h"
#include "record/samples/sample_labels.h"
#include "record/switches/blocked_stack.h"

struct kallsyms;
struct objfile;

/* A mapping of the process inspected last. */
struct lock_region {
	uint64_t low_va, high_va, file_off, inode;
	uint32_t path; /* index in paths of struct locks */
};

struct lock_object {
	uint32_t path;
	uint64_t inode;
	struct objfile *file, *debug; /* NULL: cannot be opened; does not exist */
	struct data_symbols symbols;
};

struct locks {
	struct process_table *processes; /* the caller's, like the labels */
	struct sample_labels *labels;
	struct arena *arena;
	struct str_table paths;
	VEC(struct lock_object) objects;
	VEC(struct lock_region) regions; /* by address */
	uint32_t regions_of;		 /* the process's number */
	uint64_t regions_ns;		 /* when they were read */
	struct kallsyms *kernel;	 /* NULL: kernel symbols are not readable */
	struct map calls;  /* kernel address → whether it is in the futex system call */
	struct map names;  /* (process's number, address) → name of the labels */
	struct map spaces; /* process's number → whether its thread ids are ours */
};

struct lock_wait {
	uint32_t lock, holder; /* from sample_labels_name, or SAMPLE_LABELS_NONE */
	uint64_t read_ns;      /* when the holder was read */
};

void locks_init(struct locks *l, struct process_table *processes, struct sample_labels *labels);
/* A zeroed one is allowed. */
void locks_deinit(struct locks *l);
/* Whether kernel symbols are readable, so that kernel frames show waits for locks. */
bool locks_know_kernel(const struct locks *l);
/* Forgets names: a process now runs another program, whose addresses have a different meaning. */
void locks_forget(struct locks *l);
/*
 * What a thread is about to wait for, from its sample when leaving its CPU.  No lock: it waits for
 * something else, or that is unknown.
 */
struct lock_wait locks_of_sample(
	struct locks *l, const struct thread *thread, const struct perf_sample *sample);
/* What a thread waits for, from its current system call. */
struct lock_wait locks_of_call(
	struct locks *l, const struct thread *thread, const struct blocked_call *call);

#endif
