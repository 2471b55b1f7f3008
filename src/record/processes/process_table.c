/*
 * Processes and threads, those that live: two vectors in no order, and maps that lead into them.
 * The kernel reports every fork before the child runs and every exit after the last sample, and the
 * rings are merged by time, so the table is at each sample what the system was; what is missing
 * because events were lost is made up for by making the unknown on demand and by reading
 * /proc/PID/maps.
 */
#include "record/processes/process_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/processes/process_table_state.h"

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
	map_deinit(&t->pids);
	map_deinit(&t->tids);
	free(t);
}

uint64_t process_table_file_time(const struct process_table *t, uint64_t time_ns)
{
	return time_ns > t->start_ns ? time_ns - t->start_ns : 0;
}

static struct process **process_place(struct process_table *t, int64_t pid)
{
	uint32_t place;

	return map_get(&t->pids, (uint64_t)pid, 0, &place) ? &t->processes.data[place] : NULL;
}

/* The last one takes its place, so that the table is as large as what lives. */
void process_table_remove(struct process_table *t, int64_t pid, uint32_t number)
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

void process_table_write(const struct process_table *t, const struct process *p)
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

bool process_table_is_same(const struct proc_stat *stat, uint64_t time_ns)
{
	return stat->start_ns <= time_ns + SAME_START_NS;
}

/* What a process that was there before is. */
static void process_look_up(struct process_table *t, struct process *p)
{
	const struct process *parent;
	struct proc_stat stat;

	p->is_old = true;
	if (!proc_stat_read(p->pid, 0, &stat) || !process_table_is_same(&stat, p->start_ns))
		return;
	parent = process_table_find(t, stat.parent);
	p->parent = parent ? parent->number : UINT32_MAX;
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

struct process *process_table_add(
	struct process_table *t, int64_t pid, struct process *parent, uint64_t time_ns)
{
	struct process **place = process_place(t, pid);
	struct process *p = xalloc(sizeof(*p));

	p->pid = pid;
	p->number = t->process_numbers++;
	p->parent = parent ? parent->number : UINT32_MAX;
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
	       process_table_is_same(&stat, p->start_ns);
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

size_t process_table_process_total(const struct process_table *t)
{
	return t->process_numbers;
}
