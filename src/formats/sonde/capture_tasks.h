#ifndef SONDE_FORMATS_SONDE_CAPTURE_TASKS_H
#define SONDE_FORMATS_SONDE_CAPTURE_TASKS_H

/*
 * The processes and threads of a capture file on their way into a builder.  Rows may come in any
 * order, of one id the last holds, and what a thread or a sample refers to may be missing.
 */

#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"

/* A process or a thread, as the last row about it says. */
struct capture_task {
	uint32_t id, process;
	int64_t number; /* pid or tid */
	uint64_t start_ns;
	struct str name; /* in the arena */
};

struct capture_task_table {
	struct map place_of_id;
	VEC(struct capture_task) rows;
};

struct capture_tasks {
	struct builder *builder;
	struct arena *arena;
	struct capture_task_table processes, threads;
	thread_id *thread_ids;	    /* [place of thread], once built */
	process_id *process_ids;    /* the same of processes */
	thread_id unknown_thread;   /* NO_ID until needed */
	process_id unknown_process; /* the same */
};

void capture_tasks_init(struct capture_tasks *t, struct builder *b, struct arena *arena);
void capture_tasks_deinit(struct capture_tasks *t);
/* The payloads of chunks. */
must_use struct error *capture_tasks_read_processes(
	struct capture_tasks *t, struct cursor *payload);
must_use struct error *capture_tasks_read_threads(struct capture_tasks *t, struct cursor *payload);
/* When all are read: gives them to the builder. */
void capture_tasks_build(struct capture_tasks *t);
/* Once built: the thread of that id; one "[unknown]" stands for those that are missing. */
thread_id capture_tasks_thread(struct capture_tasks *t, uint32_t thread);
/* The same of processes. */
process_id capture_tasks_process(struct capture_tasks *t, uint32_t process);

#endif
