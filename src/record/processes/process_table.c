/*
 * Living processes and threads: two unordered vectors, and maps of their indexes.  The kernel
 * reports every fork before the child runs and every exit after the last sample, and the rings are
 * merged by time, so at each sample the table equals the system's state at that time.  If events
 * were lost, unknown processes are added on demand, and mappings are read from /proc/PID/maps.
 *
 * Most threads are never sampled, so a thread is written to the file, and gets a history of its
 * stack, only when it is sampled.
 *
 * Mappings come from the kernel's reports, and from /proc/PID/maps if a stack goes through code
 * that was not reported.
 */
#include "record/processes/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfstream/format.h"
#include "record/events/perf_record.h"
#include "record/processes/proc.h"
#include "record/processes/service.h"

/* In samples of a thread that the kernel has all but freed. */
#define TID_FORGOTTEN (-1)

/* /proc has start times in ticks of 10 ms: times this close count as the same. */
#define SAME_START_NS UINT64_C(20000000)

/*
 * A thread that has ended, kept for its last records: the kernel reports an end before it frees the
 * memory, which can take milliseconds.
 */
struct grave {
	int64_t pid, tid;
	uint32_t number; /* of its process */
	bool is_last;	 /* and the process has ended with it */
	uint64_t time_ns;
};

struct process_table {
	struct capture_writer *writer;
	struct object_table *objects;
	uint64_t start_ns;
	struct map pids, tids; /* to indexes in the vectors */
	VEC(struct process *) processes;
	VEC(struct thread *) threads;
	VEC(struct grave) graves;		  /* by time */
	uint32_t process_numbers, thread_numbers; /* numbers assigned so far */
	uint64_t thread_total;
	bool expects_old;
	struct sample_labels *labels;	/* NULL: control groups are not recorded */
	struct map owners;		/* group → index in owner */
	VEC(struct sample_owner) owner; /* of groups, without command */
	size_t denied;			/* programs that may not be sampled */
	size_t denied_alive;		/* of these, were seen to run on */
	char denied_name[16];		/* the first of them */
	VEC(struct process_hooks) hooks;
};

/* ---- processes ---- */

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
	vec_push(&t->hooks, *hooks);
}

void process_table_unhook(struct process_table *t, const void *context)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->hooks.count; i++)
		if (t->hooks.data[i].context != context)
			t->hooks.data[kept++] = t->hooks.data[i];
	t->hooks.count = kept;
}

void process_table_expect_old(struct process_table *t)
{
	t->expects_old = true;
}

static void process_table_free_thread(struct thread *thread)
{
	unwind_history_destroy(thread->history);
	free(thread);
}

static void process_destroy(struct process *p)
{
	unwind_space_deinit(&p->space);
	free(p);
}

void process_table_destroy(struct process_table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->processes.count; i++)
		process_destroy(t->processes.data[i]);
	for (size_t i = 0; i < t->threads.count; i++)
		process_table_free_thread(t->threads.data[i]);
	vec_deinit(&t->processes);
	vec_deinit(&t->threads);
	vec_deinit(&t->graves);
	vec_deinit(&t->hooks);
	vec_deinit(&t->owner);
	map_deinit(&t->owners);
	map_deinit(&t->pids);
	map_deinit(&t->tids);
	free(t);
}

static uint64_t process_table_file_time(const struct process_table *t, uint64_t time_ns)
{
	return time_ns > t->start_ns ? time_ns - t->start_ns : 0;
}

static struct process **process_place(struct process_table *t, int64_t pid)
{
	uint32_t place;

	return map_get(&t->pids, (uint64_t)pid, 0, &place) ? &t->processes.data[place] : NULL;
}

/* The last process takes its place, to keep the table dense. */
static void process_table_remove(struct process_table *t, int64_t pid, uint32_t number)
{
	struct process **place = process_place(t, pid);

	if (!place || (*place)->number != number)
		return;
	struct process *p = *place, *last = t->processes.data[--t->processes.count];

	*place = last;
	map_put(&t->pids, (uint64_t)last->pid, 0, (uint32_t)(place - t->processes.data));
	map_remove(&t->pids, (uint64_t)pid, 0);
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

static void process_table_write(const struct process_table *t, const struct process *p)
{
	capture_writer_process(t->writer, p->number, p->pid, p->parent,
		process_table_file_time(t, p->start_ns), str_from(p->name));
}

uint32_t process_table_past_process(
	struct process_table *t, int64_t pid, uint64_t start_ns, struct str name)
{
	capture_writer_process(t->writer, t->process_numbers, pid, UINT32_MAX,
		process_table_file_time(t, start_ns), name);
	return t->process_numbers++;
}

static bool process_table_is_same(const struct proc_stat *stat, uint64_t time_ns)
{
	return stat->start_ns <= time_ns + SAME_START_NS;
}

/* Reads the data of a process that is older than the recording. */
static void process_look_up(struct process_table *t, struct process *p)
{
	const struct process *parent;
	struct proc_stat stat;

	p->is_old = true;
	if (!proc_stat_read(p->pid, 0, &stat) || !process_table_is_same(&stat, p->start_ns))
		return;
	parent = process_table_find(t, stat.parent);
	p->parent = parent ? parent->number : UINT32_MAX;
	p->parent_pid = stat.parent;
	p->start_ns = stat.start_ns;
	p->is_kernel = stat.is_kernel;
	memcpy(p->name, stat.name, sizeof(p->name));
}

void process_table_read_groups(struct process_table *t, struct sample_labels *l)
{
	t->labels = l;
}

static uint32_t process_group(struct process_table *t, struct process *p)
{
	struct strbuf path = {0};

	if (t->labels && !p->is_group_read) {
		p->is_group_read = true;
		if (proc_cgroup(p->pid, &path))
			p->group = sample_labels_name(t->labels, strbuf_str(&path));
		strbuf_deinit(&path);
	}
	return p->group;
}

uint32_t process_table_group(struct process_table *t, const struct thread *thread)
{
	struct process *p = t->labels ? process_table_find_late(t, thread->pid) : NULL;

	return p ? process_group(t, p) : SAMPLE_LABELS_NONE;
}

static uint32_t owner_name(struct process_table *t, const struct strbuf *name)
{
	return name->size ? sample_labels_name(t->labels, strbuf_str(name)) : SAMPLE_LABELS_NONE;
}

/* The owner by the control group. */
static struct sample_owner group_owner(struct process_table *t, uint32_t group)
{
	bool is_new;
	uint32_t *place = map_at(&t->owners, group, 0, (uint32_t)t->owner.count, &is_new);
	struct service s = {0};

	if (!is_new)
		return t->owner.data[*place];
	if (group != SAMPLE_LABELS_NONE)
		service_find(&s, t->labels->names.strings[group]);
	service_name_container(&s, "");
	struct sample_owner owner = {.service = owner_name(t, &s.service),
		.unit = owner_name(t, &s.unit),
		.container = owner_name(t, &s.container),
		.command = SAMPLE_LABELS_NONE};

	vec_push(&t->owner, owner);
	service_deinit(&s);
	return owner;
}

struct sample_owner process_table_owner(struct process_table *t, const struct thread *thread)
{
	const struct process *p = process_table_find_late(t, thread->pid);
	struct sample_owner owner = group_owner(t, process_table_group(t, thread));

	if (!p)
		return owner;
	struct str command = str_from(p->name);

	if (p->is_kernel) {
		owner = group_owner(t, SAMPLE_LABELS_NONE);
		owner.service = sample_labels_name(t->labels, STR("kernel"));
		command = service_kernel_thread(command);
	}
	if (command.size > 0)
		owner.command = sample_labels_name(t->labels, command);
	if (owner.service == SAMPLE_LABELS_NONE)
		owner.service = owner.command;
	return owner;
}

static struct process *process_table_add(
	struct process_table *t, int64_t pid, struct process *parent, uint64_t time_ns)
{
	struct process **place = process_place(t, pid);
	struct process *p = xalloc(sizeof(*p));

	p->pid = pid;
	p->number = t->process_numbers++;
	p->parent = parent ? parent->number : UINT32_MAX;
	p->parent_pid = parent ? parent->pid : 0;
	p->start_ns = time_ns;
	p->group = parent ? process_group(t, parent) : SAMPLE_LABELS_NONE;
	if (parent) {
		memcpy(p->name, parent->name, sizeof(p->name));
		unwind_space_copy(&p->space, &parent->space);
	} else {
		unwind_space_init(&p->space);
		if (t->expects_old)
			process_look_up(t, p);
	}
	process_table_write(t, p);
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
	p = process_table_add(t, pid, NULL, time_ns);
	/* Read them now: its children copy them, and may be gone before theirs could be read. */
	if (t->expects_old)
		process_table_read_maps(t, p, time_ns);
	return p;
}

/* Whether the system still has it. */
static bool has_process(const struct process *p)
{
	struct proc_stat stat;

	return proc_stat_read(p->pid, 0, &stat) && stat.state != 'Z' &&
	       process_table_is_same(&stat, p->start_ns);
}

/* The report of its end may have been lost, and samples may follow it. */
static bool is_living(const struct process *p)
{
	return !p->is_over && has_process(p);
}

uint64_t process_table_cpu_ns(const struct process_table *t, size_t most, size_t *processes)
{
	uint64_t sum = 0;

	*processes = 0;
	for (size_t i = 0; i < t->processes.count && t->processes.count <= most; i++) {
		if (t->processes.data[i]->is_over)
			continue;
		sum += proc_cpu_ns(t->processes.data[i]->pid);
		*processes += 1;
	}
	return sum;
}

void process_table_each_process(struct process_table *t,
	void (*visit)(void *context, struct process *process), void *context)
{
	for (size_t i = 0; i < t->processes.count; i++)
		if (!t->processes.data[i]->is_over)
			visit(context, t->processes.data[i]);
}

size_t process_table_living(const struct process_table *t)
{
	size_t living = 0;

	for (size_t i = 0; i < t->processes.count; i++)
		living += is_living(t->processes.data[i]);
	return living;
}

size_t process_table_denied(const struct process_table *t, const char **name)
{
	*name = t->denied_name;
	return t->denied;
}

size_t process_table_denied_alive(const struct process_table *t)
{
	return t->denied_alive;
}

size_t process_table_process_total(const struct process_table *t)
{
	return t->process_numbers;
}

/* ---- threads ---- */

static void process_table_end_thread(
	struct process_table *t, struct thread *thread, uint64_t time_ns)
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

/* Unless another thread has that tid by now. */
static void process_table_remove_thread(struct process_table *t, int64_t tid, uint32_t process)
{
	struct thread **place = thread_place(t, tid);

	if (!place || (*place)->process != process || !(*place)->is_over)
		return;
	struct thread *thread = *place, *last = t->threads.data[--t->threads.count];

	*place = last;
	map_put(&t->tids, (uint64_t)last->tid, 0, (uint32_t)(place - t->threads.data));
	map_remove(&t->tids, (uint64_t)tid, 0);
	process_table_free_thread(thread);
}

static struct thread *process_table_add_thread(
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
	/* A thread whose end was not reported must not count twice. */
	p->threads += !(place && (*place)->process == p->number && !(*place)->is_over);
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

/*
 * The kernel forgets the tid of an ending thread before the thread leaves its CPU for the last
 * time.  So this is the one that ended last.
 */
static int64_t find_forgotten(const struct process_table *t, const struct process *p)
{
	for (size_t i = t->graves.count; i > 0; i--)
		if (t->graves.data[i - 1].number == p->number)
			return t->graves.data[i - 1].tid;
	return TID_FORGOTTEN;
}

/* May have just ended. */
static struct thread *process_table_find_thread(
	struct process_table *t, const struct process *p, int64_t tid)
{
	struct thread **place = thread_place(t, tid == TID_FORGOTTEN ? find_forgotten(t, p) : tid);

	return place && (*place)->process == p->number ? *place : NULL;
}

struct thread *process_table_find_tid(struct process_table *t, int64_t tid)
{
	struct thread **place = thread_place(t, tid);

	return place ? *place : NULL;
}

/* Reads the data of a thread that is older than the recording. */
static void thread_look_up(struct thread *thread)
{
	struct proc_stat stat;

	if (!proc_stat_read(thread->pid, thread->tid, &stat) ||
		!process_table_is_same(&stat, thread->start_ns))
		return;
	thread->start_ns = stat.start_ns;
	memcpy(thread->name, stat.name, sizeof(thread->name));
}

static struct thread *process_table_get_thread(
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

static void process_table_write_thread(const struct process_table *t, const struct thread *thread)
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

/* The thread of the process with that number in the file; NULL: it never existed, or has ended. */
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

/* ---- mappings ---- */

/* The minimum time between two readings of a process's mappings. */
#define MAPS_PAUSE_NS UINT64_C(100000000)

void process_table_map(struct process_table *t, struct process *p,
	const struct object_origin *origin, uint64_t file_off)
{
	uint32_t object = object_table_mapped(t->objects, origin);
	struct unwind_mapping mapping = {
		.low_va = origin->low_va,
		.high_va = origin->high_va,
		.slide = origin->low_va - file_off,
		.object = object | UNWIND_PENDING,
	};

	p->is_bare = false;
	/* An existing mapping changes nothing, so keep the space's caches valid. */
	if (!unwind_space_has(&p->space, &mapping))
		unwind_space_add(&p->space, mapping);
}

bool process_table_resolve(
	struct process_table *t, struct process *p, uint64_t va, uint64_t time_ns)
{
	const struct unwind_mapping *pending = unwind_space_find(&p->space, va);

	if (!pending || !(pending->object & UNWIND_PENDING))
		return false;
	struct unwind_mapping m = *pending;

	m.object &= ~UNWIND_PENDING;
	object_table_open(t->objects, m.object);
	m.slide = object_table_slide(t->objects, m.object, m.low_va, m.low_va - m.slide);
	m.table = object_table_cfi(t->objects, m.object);
	unwind_space_add(&p->space, m);
	capture_writer_mapping(t->writer, p->number, process_table_file_time(t, time_ns), m.low_va,
		m.high_va, m.slide, m.object);
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
		.parent_pid = target->process->parent_pid,
		.path = line->path,
		.low_va = line->low_va,
		.high_va = line->high_va,
		.device = line->device,
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

/* ---- forks, ends and names ---- */

/* Two trackers report a fork within this time. */
#define SAME_FORK_NS UINT64_C(200000)
/* How long a thread or a process is kept after its end was reported. */
#define GRACE_NS UINT64_C(50000000)

/*
 * Whether the thread of a fork is known: it was found earlier, or another tracker has reported it.
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

/* Frees the threads and processes that ended some time ago. */
static void bury(struct process_table *t, uint64_t time_ns)
{
	size_t i = 0;

	for (; i < t->graves.count && time_ns > t->graves.data[i].time_ns + GRACE_NS; i++) {
		const struct grave *grave = &t->graves.data[i];

		process_table_remove_thread(t, grave->tid, grave->number);
		if (grave->is_last)
			process_table_remove(t, grave->pid, grave->number);
	}
	t->graves.count -= i;
	if (i > 0)
		memmove(t->graves.data, t->graves.data + i,
			t->graves.count * sizeof(*t->graves.data));
}

/*
 * A program that exits before any of its code is mapped has not really ended: the kernel removed
 * its events, which it reports in the same way.
 */
static void note_denied(struct process_table *t, struct process *p)
{
	if (!p->is_over || !p->is_bare)
		return;
	if (t->denied++ == 0)
		memcpy(t->denied_name, p->name, sizeof(t->denied_name));
	t->denied_alive += has_process(p);
}

void process_table_exit(struct process_table *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	bury(t, time_ns);
	struct process *p = process_table_find(t, pid);
	struct thread *thread = p ? process_table_find_thread(t, p, tid) : NULL;

	if (!p)
		return;
	/* Two trackers report an end. */
	if (thread && thread->is_over)
		thread = NULL;
	p->threads -= thread != NULL;
	p->is_leaderless |= pid == tid;
	p->is_over = p->threads == 0 && (p->is_old ? p->is_leaderless : thread != NULL);
	if (p->is_over || thread)
		vec_push(&t->graves, (struct grave){pid, tid, p->number, p->is_over, time_ns});
	if (!thread)
		return;
	note_denied(t, p);
	process_table_end_thread(t, thread, time_ns);
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

	/* Another thread of the process has run the program, and has the tid of the first now. */
	if (exec && thread->is_over)
		thread = process_table_add_thread(t, p, tid, time_ns);
	if (exec) {
		unwind_space_clear(&p->space);
		p->is_old = false;
		p->is_bare = true;
		p->programs++;
		p->program_ns = time_ns;
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

/* ---- the kernel's reports ---- */

static void apply_mmap(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_mmap m;

	if (!perfstream_mmap_decode(&record, &m) || !m.is_code)
		return;
	struct process *p = process_table_get(processes, m.pid, perf_record_time_ns(header));
	struct object_origin origin = {
		.pid = m.pid,
		.parent_pid = p->parent_pid,
		.path = m.path,
		.low_va = m.low_va,
		.high_va = m.low_va + m.size,
		.device = m.device,
		.inode = m.inode,
		.time_ns = perf_record_time_ns(header),
	};

	process_table_map(processes, p, &origin, m.file_off);
}

static void apply_comm(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_task comm;

	if (perfstream_task_decode(&record, &comm))
		process_table_comm(processes, comm.pid, comm.tid,
			header->misc & PERFSTREAM_MISC_COMM_EXEC, comm.name,
			perf_record_time_ns(header));
}

static void apply_task(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	uint64_t time_ns = perf_record_time_ns(header);
	struct perfstream_task task;

	if (!perfstream_task_decode(&record, &task))
		return;
	if (header->type == PERF_RECORD_FORK)
		process_table_fork(processes, task.pid, task.parent_pid, task.tid, time_ns);
	else
		process_table_exit(processes, task.pid, task.tid, time_ns);
}

void sideband_apply(struct process_table *processes, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2:
		apply_mmap(processes, header);
		break;
	case PERF_RECORD_COMM:
		apply_comm(processes, header);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		apply_task(processes, header);
		break;
	default:
		break;
	}
}

bool sideband_concerns(struct process_table *processes, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_mmap m;
	struct perfstream_task task;

	switch (header->type) {
	case PERF_RECORD_MMAP2:
		return perfstream_mmap_decode(&record, &m) && process_table_find(processes, m.pid);
	case PERF_RECORD_COMM:
	case PERF_RECORD_EXIT:
		return perfstream_task_decode(&record, &task) &&
		       process_table_find(processes, task.pid);
	case PERF_RECORD_FORK:
		return perfstream_task_decode(&record, &task) &&
		       process_table_find(processes, task.parent_pid);
	default:
		return true;
	}
}
