#ifndef SONDE_FORMATS_SONDE_CAPTURE_TASKS_H
#define SONDE_FORMATS_SONDE_CAPTURE_TASKS_H

/*
 * Adds the processes and threads of a capture file to a builder.  Rows may come in any order, the
 * last one with an id counts, and references may be to missing rows.
 */

#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"

/* A process or a thread, from the last row about it. */
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
	thread_id *thread_ids;	    /* [index of thread], once built */
	process_id *process_ids;    /* [index of process], once built */
	thread_id unknown_thread;   /* NO_ID until needed */
	process_id unknown_process; /* the same */
};

void capture_tasks_init(struct capture_tasks *t, struct builder *b, struct arena *arena);
void capture_tasks_deinit(struct capture_tasks *t);
/* Read the payloads of chunks. */
must_use struct error *capture_tasks_read_processes(
	struct capture_tasks *t, struct cursor *payload);
must_use struct error *capture_tasks_read_threads(struct capture_tasks *t, struct cursor *payload);
/* Adds all to the builder, after reading. */
void capture_tasks_build(struct capture_tasks *t);
/* After building: the thread with that id; all missing ones share one "[unknown]". */
thread_id capture_tasks_thread(struct capture_tasks *t, uint32_t thread);
/* The same for processes. */
process_id capture_tasks_process(struct capture_tasks *t, uint32_t process);

#endif
