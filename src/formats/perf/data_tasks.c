/*
 * Processes and threads.  The file's size bounds what a hostile file could make large: the number
 * of distinct tasks, and the total work for changes of address spaces.
 */
#include "formats/perf/data_tasks.h"

#include <stdlib.h>

#include "base/alloc.h"

/* A task takes about 400 bytes, including indexes; its record has at least 24. */
enum { TASKS_FREE = 50000, TASK_BYTES = 200 };
/* Number of mappings moved in memory: the limit is far above a change in a space with hundreds. */
#define WORK_FREE     ((uint64_t)1 << 28)
#define WORK_PER_BYTE 16
#define MAPPINGS_MAX  ((size_t)1 << 16) /* the kernel's limit per process */

void perf_data_tasks_init(
	struct perf_data_tasks *t, struct arena *arena, const struct arch *arch, size_t input_size)
{
	*t = (struct perf_data_tasks){.arch = arch,
		.arena = arena,
		.most = TASKS_FREE + input_size / TASK_BYTES,
		.work = WORK_FREE + WORK_PER_BYTE * (uint64_t)input_size};
	str_table_init(&t->names, arena);
}

static void drop_space(struct perf_data_process *p)
{
	struct perf_data_space *space = p->space;

	p->space = NULL;
	if (space == NULL || --space->users)
		return;
	unwind_space_deinit(&space->space);
	free(space);
}

void perf_data_tasks_deinit(struct perf_data_tasks *t)
{
	for (size_t i = 0; i < t->processes.count; i++)
		drop_space(&t->processes.data[i]);
	vec_deinit(&t->processes);
	vec_deinit(&t->threads);
	map_deinit(&t->pids);
	map_deinit(&t->tids);
	str_table_deinit(&t->names);
}

/* Whether there is room for another; without room, the first one stands in. */
static bool has_room(struct perf_data_tasks *t, size_t count)
{
	if (count < t->most)
		return true;
	t->unkept_tasks++;
	return false;
}

static uint32_t add_process(struct perf_data_tasks *t, int64_t pid, uint64_t time_ns)
{
	uint32_t place = (uint32_t)t->processes.count;

	if (!has_room(t, place))
		return 0;
	vec_push(&t->processes, (struct perf_data_process){.pid = pid,
					.code_pid = pid,
					.start_ns = time_ns,
					.jit = NO_ID,
					.id = {NO_ID}});
	map_put(&t->pids, (uint64_t)pid, 0, place);
	return place;
}

static uint32_t add_thread(
	struct perf_data_tasks *t, uint32_t process, int64_t tid, uint64_t time_ns)
{
	uint32_t place = (uint32_t)t->threads.count;

	if (!has_room(t, place))
		return 0;
	vec_push(&t->threads, (struct perf_data_thread){.tid = tid,
				      .process = process,
				      .start_ns = time_ns,
				      .name = t->processes.data[process].name,
				      .id = {NO_ID}});
	map_put(&t->tids, (uint64_t)tid, process, place);
	return place;
}

uint32_t perf_data_tasks_process(struct perf_data_tasks *t, int64_t pid, uint64_t time_ns)
{
	uint32_t place;

	return map_get(&t->pids, (uint64_t)pid, 0, &place) ? place : add_process(t, pid, time_ns);
}

uint32_t perf_data_tasks_thread(
	struct perf_data_tasks *t, int64_t pid, int64_t tid, uint64_t time_ns)
{
	uint32_t process = perf_data_tasks_process(t, pid, time_ns), place;

	return map_get(&t->tids, (uint64_t)tid, process, &place)
		       ? place
		       : add_thread(t, process, tid, time_ns);
}

void perf_data_tasks_fork(
	struct perf_data_tasks *t, int64_t pid, int64_t parent_pid, int64_t tid, uint64_t time_ns)
{
	if (pid == parent_pid) {
		add_thread(t, perf_data_tasks_process(t, pid, time_ns), tid, time_ns);
		return;
	}
	uint32_t parent = perf_data_tasks_process(t, parent_pid, time_ns);
	uint32_t child = add_process(t, pid, time_ns);

	if (child == 0 || child == parent)
		return;
	struct perf_data_process *c = &t->processes.data[child], *p = &t->processes.data[parent];

	c->name = p->name;
	c->code_pid = p->code_pid;
	c->space = p->space;
	if (c->space)
		c->space->users++;
	add_thread(t, child, tid, time_ns);
}

static struct str intern_name(struct perf_data_tasks *t, struct str name)
{
	uint32_t i = str_table_intern(&t->names, name);

	return t->names.strings[i];
}

void perf_data_tasks_comm(struct perf_data_tasks *t, int64_t pid, int64_t tid, bool exec,
	struct str name, uint64_t time_ns)
{
	uint32_t thread = perf_data_tasks_thread(t, pid, tid, time_ns);
	struct perf_data_process *p = &t->processes.data[t->threads.data[thread].process];

	t->threads.data[thread].name = intern_name(t, name);
	if (pid == tid)
		p->name = t->threads.data[thread].name;
	if (!exec)
		return;
	drop_space(p);
	p->code_pid = p->pid;
	p->jit = NO_ID;
}

/* Gives the process its own space, to change it; false: that would be too much work. */
static bool own_space(struct perf_data_tasks *t, struct perf_data_process *p)
{
	if (p->space && p->space->users == 1)
		return true;
	struct perf_data_space *shared = p->space;
	struct perf_data_space *own = xalloc(sizeof(*own));

	own->users = 1;
	if (shared == NULL) {
		unwind_space_init(&own->space);
		own->space.arch = t->arch;
	} else if (shared->space.count > t->work) {
		free(own);
		return false;
	} else {
		t->work -= shared->space.count;
		unwind_space_copy(&own->space, &shared->space);
		shared->users--;
	}
	p->space = own;
	return true;
}

/* How many mappings must be moved to insert one at that address. */
static size_t work_of(const struct unwind_space *space, uint64_t low_va)
{
	bool is_last = space->count == 0 || space->mappings[space->count - 1].high_va <= low_va;

	return is_last ? 1 : space->count;
}

void perf_data_tasks_map(
	struct perf_data_tasks *t, uint32_t process, const struct unwind_mapping *mapping)
{
	struct perf_data_process *p = &t->processes.data[process];

	/* An existing mapping changes nothing, and keeps cached results valid. */
	if (p->space && unwind_space_has(&p->space->space, mapping))
		return;
	if (!own_space(t, p)) {
		t->unkept_maps++;
		return;
	}
	size_t work = work_of(&p->space->space, mapping->low_va);

	if (work > t->work || p->space->space.count >= MAPPINGS_MAX) {
		t->unkept_maps++;
		return;
	}
	t->work -= work;
	unwind_space_add(&p->space->space, *mapping);
}

void perf_data_tasks_remap(
	struct perf_data_tasks *t, uint32_t process, const struct unwind_mapping *mapping)
{
	unwind_space_add(&t->processes.data[process].space->space, *mapping);
}

const struct unwind_mapping *perf_data_tasks_find(
	const struct perf_data_tasks *t, uint32_t process, uint64_t va)
{
	const struct perf_data_space *space = t->processes.data[process].space;

	return space ? unwind_space_find(&space->space, va) : NULL;
}

thread_id perf_data_tasks_id(
	struct perf_data_tasks *t, struct builder *b, uint32_t thread, uint64_t start_ns)
{
	struct perf_data_thread *th = &t->threads.data[thread];
	struct perf_data_process *p = &t->processes.data[th->process];

	if (th->id.i != NO_ID)
		return th->id;
	if (p->id.i == NO_ID)
		p->id = builder_process(
			b, p->pid, p->start_ns > start_ns ? p->start_ns - start_ns : 0, p->name);
	th->id = builder_thread(
		b, th->tid, p->id, th->start_ns > start_ns ? th->start_ns - start_ns : 0, th->name);
	return th->id;
}
