#ifndef SONDE_FORMATS_PERF_SCRIPT_TASKS_H
#define SONDE_FORMATS_PERF_SCRIPT_TASKS_H

/*
 * The threads and processes that the samples of `perf script` text name, and the CPUs that they ran
 * on.  A thread is a tid, its process's pid and a comm: one that changes its name is two.  A task
 * is a thread on one CPU.
 */

#include "base/map.h"
#include "base/row_table.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/perf/script_head.h"

struct perf_tasks {
	struct builder *builder;
	struct row_table whos;	/* of spans: what samples begin with, and which task it is */
	struct row_table tasks; /* of struct perf_task */
};

void perf_tasks_deinit(struct perf_tasks *t);
/* What a task is in the builder; labels: set 0, or that of its CPU. */
struct perf_task_ids {
	thread_id thread;
	label_set_id labels;
};

/* The task of a sample, from 0; NO_ID where it names none.  Takes head->who apart if need be. */
uint32_t perf_tasks_find(struct perf_tasks *t, struct perf_head *head);
/*
 * Adds all of them to the builder, once: the caller frees the array, of [tasks.count] and one
 * more for samples that name none, if needed (with_unknown).
 */
must_use returns_owned struct perf_task_ids *perf_tasks_add(
	struct perf_tasks *t, bool with_unknown);

#endif
