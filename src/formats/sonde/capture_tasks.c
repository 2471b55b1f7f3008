/*
 * Processes and threads of a capture file.  See capture_tasks.h.
 */
#include "formats/sonde/capture_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "formats/sonde/layout/capture_rows.h"

void capture_tasks_init(struct capture_tasks *t, struct builder *b, struct arena *arena)
{
	*t = (struct capture_tasks){.builder = b,
		.arena = arena,
		.unknown_thread = {NO_ID},
		.unknown_process = {NO_ID}};
}

static void table_deinit(struct capture_task_table *table)
{
	map_deinit(&table->place_of_id);
	vec_deinit(&table->rows);
}

void capture_tasks_deinit(struct capture_tasks *t)
{
	table_deinit(&t->processes);
	table_deinit(&t->threads);
	free(t->thread_ids);
	free(t->process_ids);
}

static void put_task(
	struct capture_tasks *t, struct capture_task_table *table, struct capture_task task)
{
	bool added;
	uint32_t place =
		*map_at(&table->place_of_id, task.id, 0, (uint32_t)table->rows.count, &added);

	task.name = arena_str(t->arena, task.name);
	if (added)
		vec_push(&table->rows, task);
	else
		table->rows.data[place] = task;
}

struct error *capture_tasks_read_processes(struct capture_tasks *t, struct cursor *payload)
{
	struct capture_process row;

	while (capture_get_process(payload, &row))
		put_task(t, &t->processes,
			(struct capture_task){row.process, 0, row.pid, row.start_ns, row.name});
	return cursor_error(payload);
}

struct error *capture_tasks_read_threads(struct capture_tasks *t, struct cursor *payload)
{
	struct capture_thread row;

	while (capture_get_thread(payload, &row))
		put_task(t, &t->threads,
			(struct capture_task){
				row.thread, row.process, row.tid, row.start_ns, row.name});
	return cursor_error(payload);
}

/* For tasks whose rows were in missing chunks. */
static process_id unknown_process(struct capture_tasks *t)
{
	if (t->unknown_process.i == NO_ID)
		t->unknown_process = builder_process(t->builder, -1, 0, STR("[unknown]"));
	return t->unknown_process;
}

process_id capture_tasks_process(struct capture_tasks *t, uint32_t process)
{
	uint32_t place;

	if (map_get(&t->processes.place_of_id, process, 0, &place))
		return t->process_ids[place];
	return unknown_process(t);
}

thread_id capture_tasks_thread(struct capture_tasks *t, uint32_t thread)
{
	uint32_t place;

	if (map_get(&t->threads.place_of_id, thread, 0, &place))
		return t->thread_ids[place];
	if (t->unknown_thread.i == NO_ID)
		t->unknown_thread =
			builder_thread(t->builder, -1, unknown_process(t), 0, STR("[unknown]"));
	return t->unknown_thread;
}

void capture_tasks_build(struct capture_tasks *t)
{
	struct builder *b = t->builder;

	t->process_ids = xcalloc(t->processes.rows.count + 1, sizeof(*t->process_ids));
	for (size_t i = 0; i < t->processes.rows.count; i++) {
		const struct capture_task *p = &t->processes.rows.data[i];
		t->process_ids[i] = builder_process(b, p->number, p->start_ns, p->name);
	}
	t->thread_ids = xcalloc(t->threads.rows.count + 1, sizeof(*t->thread_ids));
	for (size_t i = 0; i < t->threads.rows.count; i++) {
		const struct capture_task *task = &t->threads.rows.data[i];
		process_id process = capture_tasks_process(t, task->process);

		t->thread_ids[i] =
			builder_thread(b, task->number, process, task->start_ns, task->name);
	}
}
