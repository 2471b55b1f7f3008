/*
 * Threads played.  Depths in the records say how deep a call is, so frames that were left without
 * an exit (longjmp, exceptions, exec) are left when the next record is not as deep.
 *
 * A forked child goes on in the stack of its parent: what stood there when it was forked is kept
 * aside while the parent is played, which is always before.  Times off the CPU are frames of their
 * own, "linux:schedule", as uftrace has them.
 */
#include "formats/uftrace/threads.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/search.h"
#include "formats/common/text_field.h"
#include "formats/common/traced_stack.h"
#include "formats/uftrace/records.h"

#define SCHEDULE_DEPTH TRACED_DEPTH_MAX

/* A child that the thread which is played forks, as the parent's line says. */
struct fork {
	uint64_t parent, time_ns;
	uint32_t task;
};

struct player {
	struct uftrace_play *play;
	VEC(struct fork) forks; /* by parent and time */
	stack_id *inherited;	/* [task]: what it was forked in; 0: nothing known */
	struct map process_of;	/* pid → process */
	frame_id schedule[2];	/* blocked, pre-empted */
	VEC(uint32_t) path;	/* of a stack, innermost first */
};

/* One thread. */
struct played {
	struct player *player;
	struct uftrace_task task;
	uint32_t task_index; /* NO_ID: task.txt does not tell of it */
	struct traced_stack stack;
	size_t next_fork, next_switch;
	bool is_resuming; /* records were lost */
};

/* ---- forks ---- */

static int fork_compare(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void gather_forks(struct player *p)
{
	const struct uftrace_tasks *tasks = p->play->tasks;

	p->inherited = xcalloc(tasks->tasks.count + 1, sizeof(*p->inherited));
	for (uint32_t i = 0; i < tasks->tasks.count; i++) {
		const struct uftrace_task *t = &tasks->tasks.data[i];
		if (t->parent)
			vec_push(&p->forks, (struct fork){t->parent, t->start_ns, i});
	}
	if (p->forks.count)
		qsort(p->forks.data, p->forks.count, sizeof(*p->forks.data), fork_compare);
}

static size_t first_fork(const struct player *p, uint64_t tid)
{
	return partition_point(i, 0, p->forks.count, p->forks.data[i].parent < tid);
}

/* Children that were forked up to that time have the stack that stands now. */
static void tell_children(struct played *t, uint64_t time_ns)
{
	struct player *p = t->player;

	while (t->next_fork < p->forks.count && p->forks.data[t->next_fork].parent == t->task.tid &&
		p->forks.data[t->next_fork].time_ns <= time_ns)
		p->inherited[p->forks.data[t->next_fork++].task] = traced_stack_now(&t->stack);
}

/* ---- where a thread begins ---- */

static frame_id frame_of(struct played *t, const struct uftrace_record *r)
{
	uint32_t session = NO_ID;

	if (t->task_index != NO_ID)
		session = uftrace_tasks_session(t->player->play->tasks, &t->task, r->time_ns);
	return uftrace_names_frame(t->player->play->names, session, r->addr);
}

/* The functions of a stack as frames of this thread, as many as it has begun with. */
static void inherit(struct played *t, stack_id stack, uint32_t count)
{
	struct player *p = t->player;
	struct builder *b = p->play->builder;

	p->path.count = 0;
	for (; stack.i; stack = builder_stack_parent(b, stack))
		vec_push(&p->path, builder_stack_function(b, stack).i);
	for (uint32_t i = 0; i < count && i < p->path.count; i++) {
		function_id function = {p->path.data[p->path.count - 1 - i]};
		frame_id frame = builder_frame(b, function, (string_id){0}, 0, false, 0);
		traced_stack_inherit(&t->stack, frame, i);
	}
}

static void begin(struct played *t, const struct uftrace_record *r)
{
	uint32_t count = r->depth + (r->kind == UFTRACE_EXIT);

	t->stack.now_ns = r->time_ns;
	t->stack.is_running = true;
	if (t->task_index != NO_ID && t->task.parent)
		inherit(t, t->player->inherited[t->task_index], count);
}

/* ---- records ---- */

/* The depth of a record, which tells it modulo 1024: of those that it may be the nearest. */
static uint32_t whole_depth(const struct played *t, uint32_t depth)
{
	const struct traced_frame *top = traced_stack_top(&t->stack);
	uint32_t next = top && top->depth != SCHEDULE_DEPTH ? top->depth + 1 : 0;

	if (t->player->play->max_stack <= 1024)
		return depth;
	uint32_t ahead = (depth - next) & 1023;
	if (ahead < 512)
		return next + ahead;
	return next >= 1024 - ahead ? next - (1024 - ahead) : depth;
}

/* Leaves what is deeper. */
static void leave_deeper(struct played *t, uint32_t depth)
{
	const struct traced_frame *top;

	while ((top = traced_stack_top(&t->stack)) && top->depth > depth)
		traced_stack_leave(&t->stack);
}

static void play_call(struct played *t, const struct uftrace_record *r)
{
	const struct traced_frame *top = traced_stack_top(&t->stack);

	/* On the CPU after all. */
	if (top && top->depth == SCHEDULE_DEPTH)
		traced_stack_leave(&t->stack);
	uint32_t depth = whole_depth(t, r->depth);
	leave_deeper(t, depth);
	top = traced_stack_top(&t->stack);
	if (top && top->depth == depth)
		traced_stack_leave(&t->stack);
	if (r->kind == UFTRACE_ENTRY)
		traced_stack_enter(&t->stack, frame_of(t, r), depth);
}

static void play_record(struct played *t, const struct uftrace_record *r)
{
	if (r->kind == UFTRACE_LOST) {
		traced_stack_until(&t->stack, t->stack.now_ns);
		t->player->play->lost += r->addr;
		t->is_resuming = true;
		return;
	}
	if (r->kind == UFTRACE_EVENT)
		return;
	if (!t->stack.is_running)
		begin(t, r);
	if (t->is_resuming)
		traced_stack_lose(&t->stack, r->time_ns);
	t->is_resuming = false;
	tell_children(t, r->time_ns);
	traced_stack_until(&t->stack, r->time_ns);
	play_call(t, r);
}

/* ---- switches ---- */

static void play_switch(struct played *t, const struct uftrace_switch *s)
{
	const struct traced_frame *top = traced_stack_top(&t->stack);
	bool is_away = top && top->depth == SCHEDULE_DEPTH;

	if (!t->stack.is_running || t->is_resuming || (s->kind == UFTRACE_IN && !is_away))
		return;
	traced_stack_until(&t->stack, s->time_ns);
	if (is_away)
		traced_stack_leave(&t->stack);
	if (s->kind == UFTRACE_OUT || s->kind == UFTRACE_PREEMPTED)
		traced_stack_enter(&t->stack, t->player->schedule[s->kind == UFTRACE_PREEMPTED],
			SCHEDULE_DEPTH);
}

/* Those up to that time. */
static void play_switches(struct played *t, uint64_t time_ns)
{
	const struct uftrace_switches *s = t->player->play->switches;

	for (; t->next_switch < s->all.count; t->next_switch++) {
		const struct uftrace_switch *next = &s->all.data[t->next_switch];
		if (next->tid != t->task.tid || next->time_ns > time_ns)
			return;
		play_switch(t, next);
	}
}

/* ---- threads ---- */

static struct str program_of(const struct player *p, const struct uftrace_task *task)
{
	uint32_t session = uftrace_tasks_session(p->play->tasks, task, task->start_ns);

	return session == NO_ID ? STR("")
				: str_base_name(p->play->tasks->sessions.data[session].exe);
}

static uint64_t since_start(const struct player *p, uint64_t time_ns)
{
	return time_ns > p->play->start_ns ? time_ns - p->play->start_ns : 0;
}

static void add_thread(struct played *t)
{
	struct player *p = t->player;
	struct builder *b = p->play->builder;
	struct str program = program_of(p, &t->task);
	struct str name = uftrace_switches_name(p->play->switches, t->task.tid);
	uint64_t start_ns = since_start(p, t->task.start_ns);
	process_id process;

	if (!map_get(&p->process_of, t->task.pid, 0, &process.i)) {
		process = builder_process(b, (int64_t)t->task.pid, start_ns, program);
		map_put(&p->process_of, t->task.pid, 0, process.i);
	}
	t->stack.thread = builder_thread(
		b, (int64_t)t->task.tid, process, start_ns, name.size ? name : program);
}

static void note_problem(const struct played *t, const struct uftrace_records *r, const char *name)
{
	struct builder *b = t->player->play->builder;

	if (r->problem)
		builder_note(b, NOTE_INCOMPLETE, 1, "%s is read up to offset 0x%llx: %s", name,
			(unsigned long long)r->at, r->problem);
	if (t->stack.backwards)
		builder_note(b, NOTE_BAD_RECORD, t->stack.backwards,
			"records of %s have times before those in front of them", name);
}

static void play_records(struct played *t, struct uftrace_records *records)
{
	struct uftrace_play *play = t->player->play;
	struct uftrace_record r;

	while (uftrace_records_next(records, &r)) {
		play->records++;
		play_switches(t, r.time_ns);
		play_record(t, &r);
		if (r.time_ns > play->end_ns && r.kind != UFTRACE_LOST)
			play->end_ns = r.time_ns;
	}
	play_switches(t, UINT64_MAX);
	play->unfinished += t->stack.frames.count;
	while (t->stack.frames.count)
		traced_stack_leave(&t->stack);
}

static struct error *play_thread(struct player *p, struct uftrace_task task, uint32_t index)
{
	struct played t = {.player = p, .task = task, .task_index = index};
	struct uftrace_records records;
	struct file_bytes bytes;
	char name[32];

	snprintf(name, sizeof(name), "%llu.dat", (unsigned long long)task.tid);
	if (!folder_has(p->play->folder, name))
		return NULL;
	struct error *err = folder_read(p->play->folder, name, 0, &bytes);
	if (err)
		return err;
	t.stack.builder = p->play->builder;
	builder_answer_for(p->play->builder, bytes.size);
	builder_expect_samples(p->play->builder, bytes.size / UFTRACE_RECORD_SIZE);
	t.stack.start_ns = p->play->start_ns;
	t.next_fork = first_fork(p, task.tid);
	t.next_switch = uftrace_switches_of(p->play->switches, task.tid);
	add_thread(&t);
	uftrace_records_init(&records, &bytes);
	play_records(&t, &records);
	tell_children(&t, UINT64_MAX);
	note_problem(&t, &records, name);
	traced_stack_deinit(&t.stack);
	file_bytes_deinit(&bytes);
	return NULL;
}

/* Files of threads that task.txt does not tell of. */
static struct error *play_others(struct player *p)
{
	const struct folder *folder = p->play->folder;
	struct error *err = NULL;

	for (size_t i = 0; err == NULL && i < folder_count(folder); i++) {
		struct str name = str_from(folder_name(folder, i));
		uint64_t tid;
		uint32_t index;
		if (text_take_number(&name, &tid) && str_equal(name, STR(".dat")) &&
			!map_get(&p->play->tasks->task_of, tid, 0, &index))
			err = play_thread(p,
				(struct uftrace_task){.tid = tid, .pid = tid, .session = NO_ID},
				NO_ID);
	}
	return err;
}

static frame_id schedule_frame(struct builder *b, struct str name)
{
	object_id kernel = builder_object(b, STR("[kernel]"), STR(""), OBJECT_KERNEL);
	function_id function =
		builder_function(b, builder_string(b, name), kernel, (string_id){0}, 0);

	return builder_frame(b, function, (string_id){0}, 0, false, 0);
}

struct error *uftrace_threads_play(struct uftrace_play *play)
{
	struct player p = {.play = play};
	struct error *err = NULL;

	gather_forks(&p);
	if (play->switches->all.count) {
		p.schedule[0] = schedule_frame(play->builder, STR("linux:schedule"));
		p.schedule[1] = schedule_frame(play->builder, STR("linux:schedule (pre-empted)"));
	}
	for (uint32_t i = 0; err == NULL && i < play->tasks->tasks.count; i++)
		err = play_thread(&p, play->tasks->tasks.data[i], i);
	if (err == NULL)
		err = play_others(&p);
	vec_deinit(&p.forks);
	vec_deinit(&p.path);
	map_deinit(&p.process_of);
	free(p.inherited);
	return err;
}
