/*
 * Reads a folder that uftrace recorded: each call of each thread, with its times.
 * docs/formats/uftrace.md defines the mapping.
 *
 * There is no written specification; this follows uftrace.h, utils/data-file.c, utils/fstack.c,
 * utils/session.c, utils/symbol.c and cmds/info.c of uftrace as of July 2026, for versions 3 and 4
 * of the format.
 */
#include "formats/readers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cursor.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/word.h"
#include "model/builder.h"
#include "formats/common/importer.h"
#include "formats/common/text_field.h"
#include "formats/common/traced_stack.h"
#include "formats/uftrace/names.h"
#include "formats/uftrace/tasks.h"

/* ---- records of a thread ---- */

/*
 * Records of uftrace: 8 bytes time (ns of the monotonic clock), then, lowest bits first, kind:2,
 * more:1, magic:3 (always 5), depth:10, address:48.
 *
 * After a record with `more` come arguments or a return value, padded to a multiple of 8 bytes.
 * Their length is not stored: it depends on the options of the recording, patterns matched against
 * symbols, prototypes known to uftrace, and debug information.  None of that is needed here,
 * because the next record can be recognized: it is where magic, kind, time and depth are valid in
 * two successive records.  An event's data begin with their length.
 *
 * Source: uftrace, uftrace.h (struct uftrace_record) and utils/fstack.c (read_task_args).
 */

enum uftrace_kind { UFTRACE_ENTRY, UFTRACE_EXIT, UFTRACE_LOST, UFTRACE_EVENT };

struct uftrace_record {
	uint64_t time_ns;
	enum uftrace_kind kind;
	bool has_more; /* arguments, a return value or an event's data follow */
	uint32_t depth;
	uint64_t addr; /* of the function; for UFTRACE_LOST, the number of records */
};

#define UFTRACE_RECORD_SIZE 16u
#define UFTRACE_DEPTHS	    1024u /* distinct depths in records */

struct uftrace_records {
	const uint8_t *data;
	size_t size, at;
	uint64_t now_ns;	       /* of the last record */
	const char *problem;	       /* why reading ended early, at `at`; NULL: it did not */
	uint64_t open[UFTRACE_DEPTHS]; /* [depth]: address of the last entry there; 0: none yet */
};

enum {
	MAGIC = 5,
	STEP = 8,
	/* uftrace stores at most 4096 bytes of arguments per thread. */
	ARGUMENTS_MAX = 16384,
};

/* Maximum time between two records of a thread; a candidate that comes sooner is preferred. */
static const uint64_t silences_ns[] = {(uint64_t)10 * 1000000000, (uint64_t)24 * 3600 * 1000000000};

/* Event numbers and counts of lost records are lower; addresses of functions are higher. */
#define NUMBER_MAX ((uint64_t)1 << 24)

static void uftrace_records_init(struct uftrace_records *r, const struct file_bytes *bytes)
{
	*r = (struct uftrace_records){.data = bytes->data, .size = bytes->size};
}

static bool record_at(const struct uftrace_records *r, size_t at, struct uftrace_record *record)
{
	if (at > r->size || r->size - at < UFTRACE_RECORD_SIZE)
		return false;
	uint64_t word = word_read(r->data + at + 8, 8, false);
	if ((word >> 3 & 7) != MAGIC)
		return false;
	*record = (struct uftrace_record){.time_ns = word_read(r->data + at, 8, false),
		.kind = (enum uftrace_kind)(word & 3),
		.has_more = word >> 2 & 1,
		.depth = word >> 6 & 0x3ff,
		.addr = word >> 16};
	return true;
}

static bool is_call(const struct uftrace_record *r)
{
	return r->kind <= UFTRACE_EXIT;
}

/* Whether b can directly follow a. */
static bool may_follow(const struct uftrace_records *r, const struct uftrace_record *a,
	const struct uftrace_record *b, uint64_t silence_ns)
{
	if (b->time_ns < a->time_ns || b->time_ns - a->time_ns > silence_ns)
		return false;
	if (!is_call(b))
		return b->addr < NUMBER_MAX && !(b->kind == UFTRACE_LOST && b->has_more);
	if (b->addr < NUMBER_MAX >> 8)
		return false;
	if (!is_call(a))
		return true;
	/* longjmp, exceptions and exec leave several frames at once; deep stacks wrap to 0. */
	if (b->kind == UFTRACE_ENTRY)
		return b->depth <= (a->kind == UFTRACE_ENTRY ? a->depth + 1 : a->depth);
	if (a->kind == UFTRACE_ENTRY && a->depth == b->depth)
		return a->addr == b->addr;
	return b->depth <= a->depth && (r->open[b->depth] == 0 || r->open[b->depth] == b->addr);
}

static bool is_record(const struct uftrace_records *r, size_t at,
	const struct uftrace_record *before, uint64_t silence_ns)
{
	struct uftrace_record first, second;

	if (at == r->size)
		return true;
	if (!record_at(r, at, &first) || !may_follow(r, before, &first, silence_ns))
		return false;
	at += UFTRACE_RECORD_SIZE;
	if (first.has_more || r->size - at < UFTRACE_RECORD_SIZE)
		return true;
	return record_at(r, at, &second) && may_follow(r, &first, &second, silence_ns);
}

static void skip_arguments(struct uftrace_records *r, const struct uftrace_record *record)
{
	size_t from = r->at;

	for (size_t i = 0; i < ARRAY_SIZE(silences_ns); i++)
		for (size_t size = 0; size <= ARGUMENTS_MAX && from + size <= r->size; size += STEP)
			if (is_record(r, from + size, record, silences_ns[i])) {
				r->at = from + size;
				return;
			}
	r->problem = "no record follows the arguments of a call";
}

static void skip_event(struct uftrace_records *r)
{
	if (r->size - r->at < 2) {
		r->problem = "an event without its data";
		return;
	}
	size_t size = 2 + (size_t)word_read(r->data + r->at, 2, false);
	size = (size + STEP - 1) / STEP * STEP;
	if (size > r->size - r->at)
		r->problem = "an event without all of its data";
	else
		r->at += size;
}

/* The next record; false at the end. */
static bool uftrace_records_next(struct uftrace_records *r, struct uftrace_record *record)
{
	if (r->problem || r->at == r->size)
		return false;
	if (r->size - r->at < UFTRACE_RECORD_SIZE)
		r->problem = "the last record is cut off";
	else if (!record_at(r, r->at, record))
		r->problem = "what should be a record is none";
	if (r->problem)
		return false;
	r->at += UFTRACE_RECORD_SIZE;
	r->now_ns = record->time_ns;
	if (record->kind == UFTRACE_ENTRY)
		r->open[record->depth] = record->addr;
	if (record->has_more && record->kind <= UFTRACE_EXIT)
		skip_arguments(r, record);
	else if (record->has_more && record->kind == UFTRACE_EVENT)
		skip_event(r);
	return true;
}

/* ---- replaying threads ---- */

/*
 * Replays threads.  Records have the depth of their call, so frames that were left without an exit
 * (longjmp, exceptions, exec) are left when the next record is less deep.
 *
 * A forked child continues with the stack of its parent.  The parent is always replayed first, and
 * its stack at the fork is stored for the child.  Times off the CPU are separate frames,
 * "linux:schedule", as in uftrace.
 */

struct uftrace_play {
	const struct folder *folder;
	struct builder *builder;
	const struct uftrace_tasks *tasks;
	const struct uftrace_switches *switches;
	struct uftrace_names *names;
	uint32_t max_stack;  /* deepest recorded; records have depths modulo 1024 */
	uint64_t start_ns;   /* of the profile */
	uint64_t end_ns;     /* out: of the last record */
	uint64_t records;    /* out: number of records */
	uint64_t lost;	     /* out */
	uint64_t unfinished; /* out: calls that had not returned */
};

#define SCHEDULE_DEPTH TRACED_DEPTH_MAX

/* A child forked by the current thread, from the parent's line. */
struct fork {
	uint64_t parent, time_ns;
	uint32_t task;
};

struct player {
	struct uftrace_play *play;
	VEC(struct fork) forks; /* by parent and time */
	stack_id *inherited;	/* [task]: its stack when it was forked; 0: unknown */
	struct map process_of;	/* pid → process */
	frame_id schedule[2];	/* blocked, preempted */
	VEC(uint32_t) path;	/* of a stack, innermost first */
};

/* One thread. */
struct played {
	struct player *player;
	struct uftrace_task task;
	uint32_t task_index; /* NO_ID: task.txt does not have it */
	struct traced_stack stack;
	size_t next_fork, next_switch;
	bool is_resuming; /* records were lost */
};

/* ---- forks ---- */

static int fork_compare(const void *a, const void *b)
{
	const struct fork *x = a, *y = b;

	return COMPARE(x->parent, y->parent) ?: COMPARE(x->time_ns, y->time_ns);
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

/* Stores the current stack for children that were forked up to that time. */
static void tell_children(struct played *t, uint64_t time_ns)
{
	struct player *p = t->player;

	while (t->next_fork < p->forks.count && p->forks.data[t->next_fork].parent == t->task.tid &&
		p->forks.data[t->next_fork].time_ns <= time_ns)
		p->inherited[p->forks.data[t->next_fork++].task] = traced_stack_now(&t->stack);
}

/* ---- the start of a thread ---- */

static frame_id frame_of(struct played *t, const struct uftrace_record *r)
{
	uint32_t session = NO_ID;

	if (t->task_index != NO_ID)
		session = uftrace_tasks_session(t->player->play->tasks, &t->task, r->time_ns);
	return uftrace_names_frame(t->player->play->names, session, r->addr);
}

/* Enters the functions of a stack as frames of this thread, up to `count`. */
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

/* The depth of a record, from its depth modulo 1024: the nearest possible one. */
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

/* Leaves deeper frames. */
static void leave_deeper(struct played *t, uint32_t depth)
{
	const struct traced_frame *top;

	while ((top = traced_stack_top(&t->stack)) && top->depth > depth)
		traced_stack_leave(&t->stack);
}

static void play_call(struct played *t, const struct uftrace_record *r)
{
	const struct traced_frame *top = traced_stack_top(&t->stack);

	/* The thread is on the CPU after all. */
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

/* Replays switches up to that time. */
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

/* Replays files of threads that task.txt does not have. */
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

	return frame_of_name(b, builder_string(b, name), kernel, 0);
}

/* Replays every TID.dat of the folder. */
static struct error *uftrace_threads_play(struct uftrace_play *play)
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

/* ---- the folder ---- */

#define MAGIC	    "Ftrace!"
#define HEADER_SIZE 40u

enum { FEATURE_KERNEL = 1 << 2, FEATURE_MAX_STACK = 1 << 6 };
enum { STACK_DEFAULT = 1024, CLASS_LSB = 1 };

struct uftrace {
	const struct reader_input *input;
	struct builder *builder;
	struct folder *folder;
	struct file_bytes info, task;
	struct str text; /* the lines of the info file */
	uint64_t features;
	uint32_t max_stack;
};

static struct error *read_header(struct uftrace *u)
{
	struct cursor c;
	const char *name = folder_path(u->folder);

	cursor_init(&c, u->info.data, u->info.size, name, 0);
	const uint8_t *magic = cursor_bytes(&c, 8);
	uint32_t version = cursor_u32(&c);
	uint16_t header_size = cursor_u16(&c);
	uint8_t byte_order = cursor_u8(&c);
	(void)cursor_u8(&c); /* 32 or 64 bits: all numbers have the same size in both */
	u->features = cursor_u64(&c);
	(void)cursor_u64(&c); /* a mask of the lines, which also have keys */
	u->max_stack = cursor_u16(&c);
	if (!cursor_ok(&c) || memcmp(magic, MAGIC, sizeof(MAGIC)) != 0)
		return error_input(name, 0, "its file 'info' is not one of uftrace");
	if (byte_order != CLASS_LSB)
		return error_new(ERROR_UNSUPPORTED,
			"%s: recorded on a machine of the other byte order", name);
	if (version < 3 || version > 4)
		return error_new(ERROR_UNSUPPORTED,
			"%s: a uftrace folder of version %u, not of 3 or 4", name, version);
	if (!(u->features & FEATURE_MAX_STACK))
		u->max_stack = STACK_DEFAULT;
	if (header_size < HEADER_SIZE || header_size > u->info.size)
		header_size = HEADER_SIZE;
	if (u->info.size > header_size)
		u->text = (struct str){
			(const char *)u->info.data + header_size, u->info.size - header_size};
	return NULL;
}

/* The value in a line "KEY:VALUE". */
static struct str info_line(const struct uftrace *u, struct str key)
{
	struct str text = u->text;

	while (text.size) {
		struct str line = str_take_line(&text);
		if (text_take(&line, key))
			return line;
	}
	return STR("");
}

/*
 * uftrace and its options are omitted: its options cannot be distinguished from the program's own.
 */
static void add_header(struct uftrace *u)
{
	struct builder_header *header = builder_header(u->builder);
	uint64_t user_ns, system_ns;

	traced_stack_metrics(u->builder);
	header->command = builder_string(u->builder, info_line(u, STR("cmdline:")));
	header->host = builder_string(u->builder, info_line(u, STR("osinfo:hostname=")));
	(void)text_seconds(info_line(u, STR("elapsed_time:")), STR(""), &header->stats.duration_ns);
	if (text_seconds(info_line(u, STR("usageinfo:usrtime=")), STR(""), &user_ns) &&
		text_seconds(info_line(u, STR("usageinfo:systime=")), STR(""), &system_ns))
		header->stats.cpu_ns = user_ns + system_ns;
}

static void note_kernel(struct uftrace *u)
{
	if (u->features & FEATURE_KERNEL)
		builder_note(u->builder, NOTE_INFO, 1,
			"functions of the kernel were recorded, too; they are not read");
}

static void add_notes(struct uftrace *u, const struct uftrace_play *play,
	const struct uftrace_tasks *tasks, const struct uftrace_switches *switches)
{
	struct builder *b = u->builder;

	note_kernel(u);
	builder_header(b)->stats.lost = play->lost;
	counted_note(b, NOTE_LOST, play->lost,
		"a record was lost; the time in the gap is attributed to no function",
		"records were lost; the time in the gaps is attributed to no function");
	if (play->unfinished)
		builder_note(b, NOTE_INFO, play->unfinished,
			"%llu call%s not returned when the recording ended",
			(unsigned long long)play->unfinished,
			play->unfinished == 1 ? " had" : "s had");
	counted_note(b, NOTE_BAD_RECORD, tasks->bad, "a line of task.txt is malformed",
		"lines of task.txt are malformed");
	counted_note(b, NOTE_BAD_RECORD, switches->bad,
		"a file of events (perf-cpu*.dat) could not be read to its end",
		"files of events (perf-cpu*.dat) could not be read to their end");
	uftrace_names_note(play->names);
}

/* The start of the first program. */
static uint64_t start_of(const struct uftrace_tasks *tasks)
{
	uint64_t start_ns = UINT64_MAX;

	for (size_t i = 0; i < tasks->sessions.count; i++)
		if (tasks->sessions.data[i].start_ns < start_ns)
			start_ns = tasks->sessions.data[i].start_ns;
	return start_ns == UINT64_MAX ? 0 : start_ns;
}

static struct error *play(struct uftrace *u, const struct uftrace_tasks *tasks)
{
	struct uftrace_play p = {.folder = u->folder,
		.builder = u->builder,
		.tasks = tasks,
		.max_stack = u->max_stack,
		.start_ns = start_of(tasks)};
	struct uftrace_switches switches;
	struct error *err = uftrace_names_create(u->folder, u->builder, tasks, &p.names);

	if (err)
		return err;
	uftrace_switches_init(&switches, u->folder);
	p.switches = &switches;
	err = uftrace_threads_play(&p);
	if (err == NULL && p.records == 0)
		err = error_new(
			ERROR_INPUT, "%s: it contains no records of calls", folder_path(u->folder));
	if (err == NULL)
		add_notes(u, &p, tasks, &switches);
	uftrace_switches_deinit(&switches);
	uftrace_names_destroy(p.names);
	return err;
}

static struct error *read_folder(struct uftrace *u)
{
	struct uftrace_tasks tasks;

	struct error *err = folder_read(u->folder, "info", 0, &u->info);
	if (err == NULL)
		err = read_header(u);
	if (err)
		return err;
	add_header(u);
	err = folder_read(u->folder, "task.txt", 0, &u->task);
	if (err)
		return err;
	uftrace_tasks_init(&tasks, (struct str){(const char *)u->task.data, u->task.size});
	if (tasks.sessions.count == 0)
		err = error_new(
			ERROR_INPUT, "%s: its task.txt names no program", folder_path(u->folder));
	else
		err = play(u, &tasks);
	uftrace_tasks_deinit(&tasks);
	return err;
}

/* Opens the folder, also if its file `info` was named. */
static struct error *open_folder(struct uftrace *u)
{
	const char *path = u->input->path;

	if (u->input->data == NULL)
		return folder_open(path, &u->folder);
	if (path == NULL)
		return error_new(ERROR_INPUT,
			"%s: is one file of a uftrace folder; name the folder", u->input->name);
	const char *slash = strrchr(path, '/');
	char *parent = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
	struct error *err = folder_open(parent, &u->folder);
	free(parent);
	return err;
}

static struct error *uftrace_read(const struct reader_input *input, struct builder *builder)
{
	struct uftrace u = {.input = input, .builder = builder};
	struct error *err = open_folder(&u);

	if (err == NULL)
		err = read_folder(&u);
	file_bytes_deinit(&u.info);
	file_bytes_deinit(&u.task);
	folder_close(u.folder);
	return err;
}

static int uftrace_bid(const uint8_t *data, size_t size)
{
	return size >= sizeof(MAGIC) && memcmp(data, MAGIC, sizeof(MAGIC)) == 0 ? 100 : 0;
}

static int uftrace_bid_folder(const char *path)
{
	return folder_bid(path, "info", uftrace_bid);
}

const struct reader reader_uftrace = {
	.name = "uftrace",
	.summary = "a folder of uftrace record (uftrace.data)",
	.bid = uftrace_bid,
	.bid_folder = uftrace_bid_folder,
	.read = uftrace_read,
};
