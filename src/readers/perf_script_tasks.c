/*
 * Threads in the text of `perf script`.  See perf_script_tasks.h.
 *
 * Threads are given to the builder at the end, as a process is named after its main thread, and
 * that may come late, or change its name at an exec.
 */
#include "readers/perf_script_tasks.h"

#include <stdlib.h>

#include "readers/spans.h"

struct perf_task {
	string_id comm;
	int64_t pid, tid; /* -1: not told */
};

/*
 * What a thread takes here until it is the builder's, with lookups; without room for it nobody is
 * told apart from others of the name.
 */
#define TASK_BYTES (3 * sizeof(struct perf_task) + sizeof(struct span) + 160)

static uint64_t task_hash(const void *row)
{
	const struct perf_task *t = row;

	return hash_pair((uint64_t)t->pid, hash_pair((uint64_t)t->tid, t->comm.i));
}

static bool task_same(const void *a, const void *b)
{
	const struct perf_task *x = a, *y = b;

	return x->comm.i == y->comm.i && x->pid == y->pid && x->tid == y->tid;
}

static const struct row_kind task_rows = {sizeof(struct perf_task), task_hash, task_same};

void perf_tasks_deinit(struct perf_tasks *t)
{
	row_table_deinit(&t->whos);
	row_table_deinit(&t->threads);
}

uint32_t perf_tasks_find(struct perf_tasks *t, struct perf_head *head)
{
	if (head->who.size == 0)
		return NO_ID;
	struct span who = span_of(head->who);
	uint32_t known = span_find(&t->whos, who);
	if (known != NO_ID)
		return known;
	perf_head_who(head);
	/* The latter is what sonde itself writes for a thread that is not known. */
	if ((head->comm.size == 0 && head->tid == -1) ||
		str_equal(head->who, STR("[unknown]       0")))
		return NO_ID;
	struct perf_task task = {
		.comm = builder_string(t->builder, head->comm), .pid = head->pid, .tid = head->tid};
	if (!builder_has_room(t->builder, TASK_BYTES)) {
		task.pid = task.tid = -1;
		return row_table_intern(&t->threads, &task_rows, &task);
	}
	builder_charge(t->builder, TASK_BYTES);
	known = row_table_intern(&t->threads, &task_rows, &task);
	span_intern(&t->whos, who)->id = known;
	return known;
}

/* What a process is told from others by: its id, or, where that is not told, its name. */
static void process_key(const struct perf_task *task, uint64_t key[2])
{
	key[0] = (uint64_t)task->pid;
	key[1] = task->pid == -1 ? task->comm.i : UINT64_MAX;
}

struct processes {
	struct map rows; /* process_key → row */
	VEC(struct perf_task) tasks;
};

/* All processes, each by the thread that it is named after: the main one's last name. */
static void find_processes(const struct perf_tasks *t, struct processes *processes)
{
	for (uint32_t i = 0; i < t->threads.count; i++) {
		const struct perf_task *task = row_table_row(&t->threads, &task_rows, i);
		uint64_t key[2];
		bool added;

		process_key(task, key);
		uint32_t *row = map_at(
			&processes->rows, key[0], key[1], (uint32_t)processes->tasks.count, &added);
		if (added)
			vec_push(&processes->tasks, *task);
		else if (task->tid == task->pid)
			processes->tasks.data[*row] = *task;
	}
}

static struct str comm_of(const struct perf_tasks *t, const struct perf_task *task)
{
	return builder_string_bytes(t->builder, task->comm);
}

static thread_id add_unknown(struct perf_tasks *t)
{
	process_id process = builder_process(t->builder, -1, 0, STR("[unknown]"));

	return builder_thread(t->builder, -1, process, 0, STR("[unknown]"));
}

thread_id *perf_tasks_add(struct perf_tasks *t, bool with_unknown)
{
	struct processes processes = {0};
	thread_id *ids = xcalloc(t->threads.count + 1, sizeof(*ids));

	find_processes(t, &processes);
	process_id *of = xcalloc(processes.tasks.count, sizeof(*of));
	for (size_t i = 0; i < processes.tasks.count; i++) {
		const struct perf_task *task = &processes.tasks.data[i];
		of[i] = builder_process(t->builder, task->pid, 0, comm_of(t, task));
	}
	for (uint32_t i = 0; i < t->threads.count; i++) {
		const struct perf_task *task = row_table_row(&t->threads, &task_rows, i);
		uint64_t key[2];
		uint32_t row = 0;

		process_key(task, key);
		(void)map_get(&processes.rows, key[0], key[1], &row);
		ids[i] = builder_thread(t->builder, task->tid, of[row], 0, comm_of(t, task));
	}
	if (with_unknown)
		ids[t->threads.count] = add_unknown(t);
	free(of);
	map_deinit(&processes.rows);
	vec_deinit(&processes.tasks);
	return ids;
}
