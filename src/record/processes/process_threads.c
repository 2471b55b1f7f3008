/*
 * The threads of a process table.  Most are never sampled, so a thread is written to the file, and
 * has a history of its stack, only when it is.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/processes/process_table_state.h"

void process_table_free_thread(struct thread *thread)
{
	unwind_history_destroy(thread->history);
	free(thread);
}

void process_table_end_thread(struct process_table *t, struct thread *thread, uint64_t time_ns)
{
	for (size_t i = 0; i < t->hooks.count && !thread->is_over; i++)
		if (t->hooks.data[i].ended)
			t->hooks.data[i].ended(t->hooks.data[i].context, thread, time_ns);
	thread->is_over = true;
}

static struct thread **thread_place(struct process_table *t, int64_t tid)
{
	uint32_t place;

	return map_get(&t->tids, (uint64_t)tid, 0, &place) ? &t->threads.data[place] : NULL;
}

void process_table_remove_thread(struct process_table *t, int64_t tid, uint32_t process)
{
	struct thread **place = thread_place(t, tid);

	if (!place || (*place)->process != process)
		return;
	struct thread *thread = *place, *last = t->threads.data[--t->threads.count];

	*place = last;
	map_put(&t->tids, (uint64_t)last->tid, 0, (uint32_t)(place - t->threads.data));
	map_remove(&t->tids, (uint64_t)tid, 0);
	process_table_free_thread(thread);
}

struct thread *process_table_add_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns)
{
	struct thread **place = thread_place(t, tid);
	struct thread *thread = xalloc(sizeof(*thread));

	thread->tid = tid;
	thread->pid = p->pid;
	thread->number = UINT32_MAX;
	thread->process = p->number;
	thread->start_ns = time_ns;
	memcpy(thread->name, p->name, sizeof(thread->name));
	t->thread_total++;
	/* One whose end was not told does not count twice. */
	p->threads += !(place && (*place)->process == p->number);
	if (place) {
		process_table_end_thread(t, *place, time_ns);
		process_table_free_thread(*place);
		*place = thread;
		return thread;
	}
	map_put(&t->tids, (uint64_t)tid, 0, (uint32_t)t->threads.count);
	vec_push(&t->threads, thread);
	return thread;
}

struct thread *process_table_find_thread(
	struct process_table *t, const struct process *p, int64_t tid)
{
	struct thread **place = thread_place(t, tid);

	return place && (*place)->process == p->number ? *place : NULL;
}

struct thread *process_table_find_tid(struct process_table *t, int64_t tid)
{
	struct thread **place = thread_place(t, tid);

	return place ? *place : NULL;
}

/* What a thread that was there before is. */
static void thread_look_up(struct thread *thread)
{
	struct proc_stat stat;

	if (!proc_stat_read(thread->pid, thread->tid, &stat) ||
		!process_table_is_same(&stat, thread->start_ns))
		return;
	thread->start_ns = stat.start_ns;
	memcpy(thread->name, stat.name, sizeof(thread->name));
}

struct thread *process_table_get_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns)
{
	struct thread *thread = process_table_find_thread(t, p, tid);

	if (thread)
		return thread;
	thread = process_table_add_thread(t, p, tid, time_ns);
	if (p->is_old)
		thread_look_up(thread);
	return thread;
}

void process_table_adopt(struct process_table *t, int64_t pid, int64_t tid, uint64_t now_ns)
{
	struct process *p = process_table_find(t, pid);

	if (!p)
		p = process_table_add(t, pid, NULL, now_ns);
	process_table_get_thread(t, p, tid, now_ns);
}

void process_table_write_thread(const struct process_table *t, const struct thread *thread)
{
	capture_writer_thread(t->writer, thread->number, thread->process, thread->tid,
		process_table_file_time(t, thread->start_ns), str_from(thread->name));
}

uint32_t process_table_number(struct process_table *t, struct thread *thread)
{
	if (thread->number == UINT32_MAX) {
		thread->number = t->thread_numbers++;
		process_table_write_thread(t, thread);
	}
	return thread->number;
}

/* The thread of the process that has that number in the file; NULL: there is none, or no more. */
static struct thread *find_of_process(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid)
{
	const struct process *p = process_table_find_late(t, pid);

	return p && p->number == process ? process_table_find_thread(t, p, tid) : NULL;
}

uint32_t process_table_find_number(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid)
{
	struct thread *thread = find_of_process(t, pid, process, tid);

	return thread ? process_table_number(t, thread) : CAPTURE_NO_ID;
}

void process_table_name_thread(
	struct process_table *t, int64_t pid, uint32_t process, int64_t tid, struct str name)
{
	struct thread *thread = find_of_process(t, pid, process, tid);

	if (thread)
		capture_writer_thread(t->writer, process_table_number(t, thread), process, tid,
			process_table_file_time(t, thread->start_ns), name);
}

uint32_t process_table_past_thread(
	struct process_table *t, uint32_t process, int64_t tid, uint64_t start_ns, struct str name)
{
	capture_writer_thread(t->writer, t->thread_numbers, process, tid,
		process_table_file_time(t, start_ns), name);
	return t->thread_numbers++;
}

struct thread *process_table_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns)
{
	struct thread *thread = process_table_get_thread(t, p, tid, time_ns);

	process_table_number(t, thread);
	if (!thread->history)
		thread->history = unwind_history_create();
	return thread;
}

struct thread *process_table_meet(
	struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	return process_table_get_thread(t, process_table_get(t, pid, time_ns), tid, time_ns);
}

void process_table_each_thread(
	struct process_table *t, void (*visit)(void *context, struct thread *thread), void *context)
{
	for (size_t i = 0; i < t->threads.count; i++)
		if (!t->threads.data[i]->is_over)
			visit(context, t->threads.data[i]);
}

uint64_t process_table_thread_total(const struct process_table *t)
{
	return t->thread_total;
}
