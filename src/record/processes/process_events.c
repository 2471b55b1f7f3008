/*
 * What the kernel tells a process table: forks, ends and new names.
 */
#include <string.h>

#include "record/processes/process_table_state.h"

/* Two trackers report a fork within this time. */
#define SAME_FORK_NS UINT64_C(200000)
/* How long a process is kept after its end was reported. */
#define GRACE_NS UINT64_C(50000000)

/*
 * Whether a fork is of a thread that we know: of one that was there before and was found
 * first, or by a second tracker.
 */
static bool is_known_fork(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	const struct process *p = process_table_find(t, pid);
	const struct thread *thread = p ? process_table_find_thread(t, p, tid) : NULL;

	if (!thread)
		return false;
	uint64_t slack_ns = p->is_old ? SAME_START_NS : SAME_FORK_NS;

	return thread->start_ns <= time_ns + slack_ns && time_ns <= thread->start_ns + slack_ns;
}

void process_table_fork(
	struct process_table *t, int64_t pid, int64_t parent_pid, int64_t tid, uint64_t time_ns)
{
	struct process *p;

	if (is_known_fork(t, pid, tid, time_ns))
		return;
	if (pid == parent_pid)
		p = process_table_get(t, pid, time_ns);
	else
		p = process_table_add(t, pid, process_table_get(t, parent_pid, time_ns), time_ns);
	struct thread *thread = process_table_add_thread(t, p, tid, time_ns);

	for (size_t i = 0; i < t->hooks.count; i++)
		if (t->hooks.data[i].forked)
			t->hooks.data[i].forked(t->hooks.data[i].context, thread, time_ns);
}

/* Frees the processes that have been over for a while, and their last threads. */
static void bury(struct process_table *t, uint64_t time_ns)
{
	size_t i = 0;

	for (; i < t->graves.count && time_ns > t->graves.data[i].time_ns + GRACE_NS; i++) {
		const struct grave *grave = &t->graves.data[i];

		process_table_remove_thread(t, grave->tid, grave->number);
		process_table_remove(t, grave->pid, grave->number);
	}
	t->graves.count -= i;
	if (i > 0)
		memmove(t->graves.data, t->graves.data + i,
			t->graves.count * sizeof(*t->graves.data));
}

/*
 * A program that exits before any of its code is mapped has not ended: it has lost its events.
 * The kernel reports both alike.
 */
static void note_denied(struct process_table *t, struct process *p)
{
	if (!p->is_over || !p->is_bare)
		return;
	if (t->denied++ == 0)
		memcpy(t->denied_name, p->name, sizeof(t->denied_name));
}

void process_table_exit(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	bury(t, time_ns);
	struct process *p = process_table_find(t, pid);
	struct thread *thread = p ? process_table_find_thread(t, p, tid) : NULL;

	if (!p)
		return;
	p->threads -= thread != NULL;
	p->is_leaderless |= pid == tid;
	p->is_over = p->threads == 0 && (p->is_old ? p->is_leaderless : thread != NULL);
	if (p->is_over)
		vec_push(&t->graves, (struct grave){pid, tid, p->number, time_ns});
	if (!thread)
		return;
	note_denied(t, p);
	process_table_end_thread(t, thread, time_ns);
	if (!p->is_over)
		process_table_remove_thread(t, tid, p->number);
}

static void name_set(char (*name)[16], struct str s)
{
	size_t size = s.size < sizeof(*name) - 1 ? s.size : sizeof(*name) - 1;

	memcpy(*name, s.data, size);
	(*name)[size] = '\0';
}

void process_table_comm(struct process_table *t, int64_t pid, int64_t tid, bool exec,
	struct str name, uint64_t time_ns)
{
	struct process *p = process_table_get(t, pid, time_ns);
	struct thread *thread = process_table_get_thread(t, p, tid, time_ns);

	if (exec) {
		unwind_space_clear(&p->space);
		p->is_old = false;
		p->is_bare = true;
		if (thread->history)
			unwind_history_clear(thread->history);
		for (size_t i = 0; i < t->hooks.count; i++)
			if (t->hooks.data[i].execed)
				t->hooks.data[i].execed(t->hooks.data[i].context, thread, time_ns);
	}
	name_set(&thread->name, name);
	if (thread->number != UINT32_MAX)
		process_table_write_thread(t, thread);
	if (pid == tid) {
		name_set(&p->name, name);
		process_table_write(t, p);
	}
}
