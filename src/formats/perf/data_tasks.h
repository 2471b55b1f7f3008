#ifndef SONDE_FORMATS_PERF_DATA_TASKS_H
#define SONDE_FORMATS_PERF_DATA_TASKS_H

/*
 * The processes and threads of a perf.data file over time, and the code that each process has
 * mapped.  A forked process shares its parent's address space until either changes; an exec starts
 * an empty one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "unwind/space.h"

/* A space, and the number of processes that share it. */
struct perf_data_space {
	struct unwind_space space;
	size_t users;
};

struct perf_data_process {
	int64_t pid;
	uint64_t start_ns;
	struct str name;	       /* in the arena */
	struct perf_data_space *space; /* NULL: no mappings */
	int64_t code_pid; /* the process whose files describe its generated code: itself or a
			     parent */
	uint32_t jit;	  /* the reader's number of that code; NO_ID: none yet */
	process_id id;	  /* in the profile; NO_ID: not added yet */
};

struct perf_data_thread {
	int64_t tid;
	uint32_t process;
	uint64_t start_ns;
	struct str name; /* in the arena */
	thread_id id;	 /* in the profile; NO_ID: not added yet */
};

struct perf_data_tasks {
	const struct arch *arch; /* of the recording; NULL: unknown */
	struct arena *arena;
	struct map pids, tids; /* to the latest with that number; tids by pid as well */
	VEC(struct perf_data_process) processes;
	VEC(struct perf_data_thread) threads;
	struct str_table names;
	size_t most;   /* maximum number of tasks */
	uint64_t work; /* work left for changing spaces, in mappings */
	uint64_t unkept_tasks, unkept_maps;
};

/* arch may be NULL: then stacks cannot be walked.  input_size limits memory. */
void perf_data_tasks_init(
	struct perf_data_tasks *t, struct arena *arena, const struct arch *arch, size_t input_size);
void perf_data_tasks_deinit(struct perf_data_tasks *t);

/* The index of the process, added if unknown. */
uint32_t perf_data_tasks_process(struct perf_data_tasks *t, int64_t pid, uint64_t time_ns);
/* The same for a thread of a process. */
uint32_t perf_data_tasks_thread(
	struct perf_data_tasks *t, int64_t pid, int64_t tid, uint64_t time_ns);

void perf_data_tasks_fork(
	struct perf_data_tasks *t, int64_t pid, int64_t parent_pid, int64_t tid, uint64_t time_ns);
/* exec: the process now runs another program. */
void perf_data_tasks_comm(struct perf_data_tasks *t, int64_t pid, int64_t tid, bool exec,
	struct str name, uint64_t time_ns);
void perf_data_tasks_map(
	struct perf_data_tasks *t, uint32_t process, const struct unwind_mapping *mapping);
/* Replaces a pending mapping by the opened one, for all that share the space. */
void perf_data_tasks_remap(
	struct perf_data_tasks *t, uint32_t process, const struct unwind_mapping *mapping);
/* NULL: nothing is mapped at va. */
const struct unwind_mapping *perf_data_tasks_find(
	const struct perf_data_tasks *t, uint32_t process, uint64_t va);

/* The thread in the profile; the first call adds it and its process. */
thread_id perf_data_tasks_id(
	struct perf_data_tasks *t, struct builder *b, uint32_t thread, uint64_t start_ns);

#endif
