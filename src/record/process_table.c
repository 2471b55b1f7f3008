/*
 * Processes and threads, those that live: two vectors in no order, and maps that lead into them.
 * The kernel reports every fork before the child runs and every exit after the last sample, and the
 * rings are merged by time, so the table is at each sample what the system was; what is missing
 * because events were lost is made up for by making the unknown on demand and by reading
 * /proc/PID/maps.
 */
#include "record/process_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/maps.h"
#include "record/proc_stat.h"

#define MAPS_PAUSE_NS UINT64_C(100000000)
/* /proc tells starts by ticks of 10 ms: two that are so near are one. */
#define SAME_START_NS UINT64_C(20000000)
/* Two trackers report a fork within this time. */
#define SAME_FORK_NS UINT64_C(200000)
/* So long a process is kept after its end was told. */
#define GRACE_NS UINT64_C(50000000)

/* A process that is over, and is kept for what is still to come of it. */
struct grave {
	int64_t pid, tid;
	uint32_t number;
	uint64_t time_ns;
};

struct process_table {
	struct capture_writer *writer;
	struct object_table *objects;
	uint64_t start_ns;
	struct map pids, tids; /* to places in the vectors */
	VEC(struct process *) processes;
	VEC(struct thread *) threads;
	VEC(struct grave) graves;		  /* by time */
	uint32_t process_numbers, thread_numbers; /* given so far */
	uint64_t thread_total;
	bool expects_old;
	struct process_hooks hooks;
};

struct process_table *process_table_create(
	struct capture_writer *writer, struct object_table *objects, uint64_t start_ns)
{
	struct process_table *t = xalloc(sizeof(*t));

	t->writer = writer;
	t->objects = objects;
	t->start_ns = start_ns;
	return t;
}

void process_table_hook(struct process_table *t, const struct process_hooks *hooks)
{
	t->hooks = *hooks;
}

void process_table_expect_old(struct process_table *t)
{
	t->expects_old = true;
}

static void process_destroy(struct process *p)
{
	unwind_space_deinit(&p->space);
	free(p);
}

static void thread_destroy(struct thread *thread)
{
	unwind_history_destroy(thread->history);
	free(thread);
}

void process_table_destroy(struct process_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->processes.count; i++)
		process_destroy(t->processes.data[i]);
	for (size_t i = 0; i < t->threads.count; i++)
		thread_destroy(t->threads.data[i]);
	vec_deinit(&t->processes);
	vec_deinit(&t->threads);
	vec_deinit(&t->graves);
	map_deinit(&t->pids);
	map_deinit(&t->tids);
	free(t);
}

/* Time in the file: since the recording's start. */
static uint64_t file_time(const struct process_table *t, uint64_t time_ns)
{
	return time_ns > t->start_ns ? time_ns - t->start_ns : 0;
}

/* ---- processes ---- */

static struct process **process_place(struct process_table *t, int64_t pid)
{
	uint32_t place;

	return map_get(&t->pids, (uint64_t)pid, 0, &place) ? &t->processes.data[place] : NULL;
}

/* Frees a process; the last one takes its place, so that the table is as large as what lives. */
static void process_remove(struct process_table *t, struct process **place)
{
	struct process *p = *place, *last = t->processes.data[--t->processes.count];

	*place = last;
	map_put(&t->pids, (uint64_t)last->pid, 0, (uint32_t)(place - t->processes.data));
	map_remove(&t->pids, (uint64_t)p->pid, 0);
	process_destroy(p);
}

struct process *process_table_find_late(struct process_table *t, int64_t pid)
{
	struct process **place = process_place(t, pid);

	return place ? *place : NULL;
}

struct process *process_table_find(struct process_table *t, int64_t pid)
{
	struct process *p = process_table_find_late(t, pid);

	return p && !p->is_over ? p : NULL;
}

static void process_write(const struct process_table *t, const struct process *p)
{
	capture_writer_process(t->writer, p->number, p->pid, p->parent, file_time(t, p->start_ns),
		str_from(p->name));
}

/* Whether what /proc tells is of the one that was there at that time: its id may be used again. */
static bool was_there(const struct proc_stat *stat, uint64_t time_ns)
{
	return stat->start_ns <= time_ns + SAME_START_NS;
}

/* What a process that was there before is. */
static void process_look_up(struct process_table *t, struct process *p)
{
	const struct process *parent;
	struct proc_stat stat;

	p->is_old = true;
	if (!proc_stat_read(p->pid, 0, &stat) || !was_there(&stat, p->start_ns))
		return;
	parent = process_table_find(t, stat.parent);
	p->parent = parent ? parent->number : UINT32_MAX;
	p->start_ns = stat.start_ns;
	p->is_kernel = stat.is_kernel;
	memcpy(p->name, stat.name, sizeof(p->name));
}

/* A new process in the place of a dead one of that pid, if any. */
static struct process *process_add(
	struct process_table *t, int64_t pid, const struct process *parent, uint64_t time_ns)
{
	struct process **place = process_place(t, pid);
	struct process *p = xalloc(sizeof(*p));

	p->pid = pid;
	p->number = t->process_numbers++;
	p->parent = parent ? parent->number : UINT32_MAX;
	p->start_ns = time_ns;
	if (parent) {
		memcpy(p->name, parent->name, sizeof(p->name));
		unwind_space_copy(&p->space, &parent->space);
	} else {
		unwind_space_init(&p->space);
		if (t->expects_old)
			process_look_up(t, p);
	}
	process_write(t, p);
	if (place) {
		process_destroy(*place);
		*place = p;
		return p;
	}
	map_put(&t->pids, (uint64_t)pid, 0, (uint32_t)t->processes.count);
	vec_push(&t->processes, p);
	return p;
}

struct process *process_table_get(struct process_table *t, int64_t pid, uint64_t time_ns)
{
	struct process *p = process_table_find_late(t, pid);

	if (p)
		return p;
	p = process_add(t, pid, NULL, time_ns);
	/* Now, as its children are copies of it and may be gone before they can be asked. */
	if (t->expects_old)
		process_table_read_maps(t, p, time_ns);
	return p;
}

/* Whether the system has it still: an end may have been lost, and samples can come after it. */
static bool is_living(const struct process *p)
{
	struct proc_stat stat;

	return !p->is_over && proc_stat_read(p->pid, 0, &stat) && stat.state != 'Z' &&
	       was_there(&stat, p->start_ns);
}

size_t process_table_living(const struct process_table *t)
{
	size_t living = 0;

	for (size_t i = 0; i < t->processes.count; i++)
		living += is_living(t->processes.data[i]);
	return living;
}

size_t process_table_process_total(const struct process_table *t)
{
	return t->process_numbers;
}

/* ---- threads ---- */

static void thread_tell_end(struct process_table *t, struct thread *thread, uint64_t time_ns)
{
	if (!thread->is_over && t->hooks.ended)
		t->hooks.ended(t->hooks.context, thread, time_ns);
}

static struct thread **thread_place(struct process_table *t, int64_t tid)
{
	uint32_t place;

	return map_get(&t->tids, (uint64_t)tid, 0, &place) ? &t->threads.data[place] : NULL;
}

/* As process_remove. */
static void thread_remove(struct process_table *t, struct thread **place)
{
	struct thread *thread = *place, *last = t->threads.data[--t->threads.count];

	*place = last;
	map_put(&t->tids, (uint64_t)last->tid, 0, (uint32_t)(place - t->threads.data));
	map_remove(&t->tids, (uint64_t)thread->tid, 0);
	thread_destroy(thread);
}

static struct thread *thread_add(
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
		thread_tell_end(t, *place, time_ns);
		thread_destroy(*place);
		*place = thread;
		return thread;
	}
	map_put(&t->tids, (uint64_t)tid, 0, (uint32_t)t->threads.count);
	vec_push(&t->threads, thread);
	return thread;
}

/* The thread if it is known as one of p's. */
static struct thread *thread_find(struct process_table *t, const struct process *p, int64_t tid)
{
	struct thread **place = thread_place(t, tid);

	return place && (*place)->process == p->number ? *place : NULL;
}

/* What a thread that was there before is. */
static void thread_look_up(struct thread *thread)
{
	struct proc_stat stat;

	if (!proc_stat_read(thread->pid, thread->tid, &stat) || !was_there(&stat, thread->start_ns))
		return;
	thread->start_ns = stat.start_ns;
	memcpy(thread->name, stat.name, sizeof(thread->name));
}

/* The thread of p, made if it is not known. */
static struct thread *thread_get(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns)
{
	struct thread *thread = thread_find(t, p, tid);

	if (thread)
		return thread;
	thread = thread_add(t, p, tid, time_ns);
	if (p->is_old)
		thread_look_up(thread);
	return thread;
}

void process_table_adopt(struct process_table *t, int64_t pid, int64_t tid, uint64_t now_ns)
{
	struct process *p = process_table_find(t, pid);

	if (!p)
		p = process_add(t, pid, NULL, now_ns);
	thread_get(t, p, tid, now_ns);
}

static void thread_write(const struct process_table *t, const struct thread *thread)
{
	capture_writer_thread(t->writer, thread->number, thread->process, thread->tid,
		file_time(t, thread->start_ns), str_from(thread->name));
}

uint32_t process_table_number(struct process_table *t, struct thread *thread)
{
	if (thread->number == UINT32_MAX) {
		thread->number = t->thread_numbers++;
		thread_write(t, thread);
	}
	return thread->number;
}

struct thread *process_table_thread(
	struct process_table *t, struct process *p, int64_t tid, uint64_t time_ns)
{
	struct thread *thread = thread_get(t, p, tid, time_ns);

	process_table_number(t, thread);
	if (!thread->history)
		thread->history = unwind_history_create();
	return thread;
}

struct thread *process_table_meet(
	struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	return thread_get(t, process_table_get(t, pid, time_ns), tid, time_ns);
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

/* ---- events ---- */

/*
 * Whether a fork is told of a thread that we know: of one that was there before and was found
 * first, or by a second tracker.
 */
static bool is_known_fork(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	const struct process *p = process_table_find(t, pid);
	const struct thread *thread = p ? thread_find(t, p, tid) : NULL;

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
		p = process_add(t, pid, process_table_get(t, parent_pid, time_ns), time_ns);
	struct thread *thread = thread_add(t, p, tid, time_ns);

	if (t->hooks.forked)
		t->hooks.forked(t->hooks.context, thread, time_ns);
}

/* Frees a process that has been over for a while, and its last thread. */
static void bury_one(struct process_table *t, const struct grave *grave)
{
	struct process **place = process_place(t, grave->pid);
	struct thread **thread = thread_place(t, grave->tid);

	if (thread && (*thread)->process == grave->number)
		thread_remove(t, thread);
	if (place && (*place)->number == grave->number)
		process_remove(t, place);
}

static void bury(struct process_table *t, uint64_t time_ns)
{
	size_t i = 0;

	for (; i < t->graves.count && time_ns > t->graves.data[i].time_ns + GRACE_NS; i++)
		bury_one(t, &t->graves.data[i]);
	t->graves.count -= i;
	if (i > 0)
		memmove(t->graves.data, t->graves.data + i,
			t->graves.count * sizeof(*t->graves.data));
}

void process_table_exit(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	bury(t, time_ns);
	struct process *p = process_table_find(t, pid);
	struct thread **thread = thread_place(t, tid);

	if (!p)
		return;
	bool is_known = thread && (*thread)->process == p->number;

	p->threads -= is_known;
	p->is_leaderless |= pid == tid;
	p->is_over = p->threads == 0 && (p->is_old ? p->is_leaderless : is_known);
	if (p->is_over)
		vec_push(&t->graves, (struct grave){pid, tid, p->number, time_ns});
	if (is_known && p->is_over) {
		thread_tell_end(t, *thread, time_ns);
		(*thread)->is_over = true;
	} else if (is_known) {
		thread_tell_end(t, *thread, time_ns);
		thread_remove(t, thread);
	}
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
	struct thread *thread = thread_get(t, p, tid, time_ns);

	if (exec) {
		unwind_space_clear(&p->space);
		p->is_old = false;
		if (thread->history)
			unwind_history_clear(thread->history);
		if (t->hooks.execed)
			t->hooks.execed(t->hooks.context, thread, time_ns);
	}
	name_set(&thread->name, name);
	if (thread->number != UINT32_MAX)
		thread_write(t, thread);
	if (pid == tid) {
		name_set(&p->name, name);
		process_write(t, p);
	}
}

/* ---- mappings ---- */

/* The same again, as after mprotect: nothing changes, and what is cached of the space stays good.
 */
static bool mapping_is_known(const struct process *p, const struct unwind_mapping *mapping)
{
	const struct unwind_mapping *known = unwind_space_find(&p->space, mapping->low_va);

	return known && known->low_va == mapping->low_va && known->high_va == mapping->high_va &&
	       (known->object & ~PROCESS_PENDING) == (mapping->object & ~PROCESS_PENDING);
}

void process_table_map(struct process_table *t, struct process *p,
	const struct object_origin *origin, uint64_t file_off)
{
	uint32_t object = object_table_mapped(t->objects, origin);
	struct unwind_mapping mapping = {
		.low_va = origin->low_va,
		.high_va = origin->high_va,
		.slide = origin->low_va - file_off,
		.object = object | PROCESS_PENDING,
	};

	if (!mapping_is_known(p, &mapping))
		unwind_space_add(&p->space, mapping);
}

bool process_table_resolve(
	struct process_table *t, struct process *p, uint64_t va, uint64_t time_ns)
{
	const struct unwind_mapping *pending = unwind_space_find(&p->space, va);

	if (!pending || !(pending->object & PROCESS_PENDING))
		return false;
	struct unwind_mapping m = *pending;

	m.object &= ~PROCESS_PENDING;
	object_table_open(t->objects, m.object);
	m.slide = object_table_slide(t->objects, m.object, m.low_va, m.low_va - m.slide);
	m.table = object_table_cfi(t->objects, m.object);
	unwind_space_add(&p->space, m);
	capture_writer_mapping(t->writer, p->number, file_time(t, time_ns), m.low_va, m.high_va,
		m.slide, m.object);
	return true;
}

struct maps_target {
	struct process_table *table;
	struct process *process;
};

static void add_unreported(void *context, const struct maps_line *line)
{
	struct maps_target *target = context;
	struct object_origin origin = {
		.pid = target->process->pid,
		.path = line->path,
		.build_id = "",
		.low_va = line->low_va,
		.high_va = line->high_va,
		.inode = line->inode,
	};

	if (!line->executable || unwind_space_find(&target->process->space, line->low_va))
		return;
	process_table_map(target->table, target->process, &origin, line->file_off);
}

bool process_table_read_maps(struct process_table *t, struct process *p, uint64_t now_ns)
{
	struct maps_target target = {t, p};

	if (p->is_kernel || (p->maps_read_ns != 0 && now_ns < p->maps_read_ns + MAPS_PAUSE_NS))
		return false;
	p->maps_read_ns = now_ns;
	maps_read(p->pid, add_unreported, &target);
	return true;
}

void process_table_read_all_maps(struct process_table *t, uint64_t now_ns)
{
	for (size_t i = 0; i < t->processes.count; i++)
		if (t->processes.data[i]->maps_read_ns == 0)
			process_table_read_maps(t, t->processes.data[i], now_ns);
}
