/*
 * Threads in the text of `perf script`.  See script_tasks.h.
 *
 * Threads are given to the builder at the end, as a process is named after its main thread, and
 * that may come late, or change its name at an exec.
 */
#include "formats/perf/script_tasks.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/spans.h"

struct perf_task {
	string_id comm;
	int64_t pid, tid, cpu; /* -1: not told */
};

/*
 * What a thread takes here until it is the builder's, with lookups; without room for it nobody is
 * told apart from others of the name.
 */
#define TASK_BYTES (3 * sizeof(struct perf_task) + sizeof(struct span) + 160)

static uint64_t task_hash(const void *row)
{
	const struct perf_task *t = row;

	return hash_pair(
		(uint64_t)t->pid ^ (uint64_t)t->cpu << 32, hash_pair((uint64_t)t->tid, t->comm.i));
}

static bool task_same(const void *a, const void *b)
{
	const struct perf_task *x = a, *y = b;

	return x->comm.i == y->comm.i && x->pid == y->pid && x->tid == y->tid && x->cpu == y->cpu;
}

static const struct row_kind task_rows = {sizeof(struct perf_task), task_hash, task_same};

void perf_tasks_deinit(struct perf_tasks *t)
{
	row_table_deinit(&t->whos);
	row_table_deinit(&t->tasks);
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
	struct perf_task task = {.comm = builder_string(t->builder, head->comm),
		.pid = head->pid,
		.tid = head->tid,
		.cpu = head->cpu};
	if (!builder_has_room(t->builder, TASK_BYTES)) {
		task.pid = task.tid = task.cpu = -1;
		return row_table_intern(&t->tasks, &task_rows, &task);
	}
	builder_charge(t->builder, TASK_BYTES);
	known = row_table_intern(&t->tasks, &task_rows, &task);
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
	for (uint32_t i = 0; i < t->tasks.count; i++) {
		const struct perf_task *task = row_table_row(&t->tasks, &task_rows, i);
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

static label_set_id cpu_labels(struct perf_tasks *t, int64_t cpu)
{
	char text[24];

	if (cpu < 0)
		return (label_set_id){0};
	snprintf(text, sizeof(text), "%lld", (long long)cpu);
	return builder_label_set(t->builder,
		&(struct label){.key = builder_string(t->builder, STR("cpu")),
			.text = builder_string(t->builder, str_from(text))},
		1);
}

/* The threads that are in the builder so far, by what they are on whatever CPU. */
struct threads {
	struct row_table rows; /* of struct perf_task */
	VEC(thread_id) ids;
};

static thread_id thread_of(struct threads *threads, struct perf_tasks *t,
	const struct perf_task *task, process_id process)
{
	struct perf_task anywhere = *task;

	anywhere.cpu = -1;
	uint32_t row = row_table_intern(&threads->rows, &task_rows, &anywhere);
	if (row == threads->ids.count)
		vec_push(&threads->ids,
			builder_thread(t->builder, task->tid, process, 0, comm_of(t, task)));
	return threads->ids.data[row];
}

struct perf_task_ids *perf_tasks_add(struct perf_tasks *t, bool with_unknown)
{
	struct processes processes = {0};
	struct threads threads = {0};
	struct perf_task_ids *ids = xcalloc(t->tasks.count + 1, sizeof(*ids));

	find_processes(t, &processes);
	process_id *of = xcalloc(processes.tasks.count, sizeof(*of));
	for (size_t i = 0; i < processes.tasks.count; i++) {
		const struct perf_task *task = &processes.tasks.data[i];
		of[i] = builder_process(t->builder, task->pid, 0, comm_of(t, task));
	}
	for (uint32_t i = 0; i < t->tasks.count; i++) {
		const struct perf_task *task = row_table_row(&t->tasks, &task_rows, i);
		uint64_t key[2];
		uint32_t row = 0;

		process_key(task, key);
		(void)map_get(&processes.rows, key[0], key[1], &row);
		ids[i] = (struct perf_task_ids){
			thread_of(&threads, t, task, of[row]), cpu_labels(t, task->cpu)};
	}
	if (with_unknown)
		ids[t->tasks.count].thread = add_unknown(t);
	free(of);
	row_table_deinit(&threads.rows);
	vec_deinit(&threads.ids);
	map_deinit(&processes.rows);
	vec_deinit(&processes.tasks);
	return ids;
}
