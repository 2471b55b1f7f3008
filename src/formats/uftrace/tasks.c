/* The tasks in a uftrace folder.  See tasks.h. */
#include "formats/uftrace/tasks.h"

#include <stdlib.h>

#include "base/cursor.h"
#include "base/search.h"
#include "base/sort.h"
#include "model/ids.h"
#include "formats/common/text_field.h"

/* ---- task.txt ---- */

/*
 * task.txt, one event a line:
 *
 * 	SESS timestamp=SEC.NSEC pid=P sid=ID exename="PATH"		P begins to run PATH
 * 	TASK timestamp=SEC.NSEC tid=T pid=P				P has a thread T
 * 	FORK timestamp=SEC.NSEC pid=P ppid=Q				Q forked P
 * 	DLOP timestamp=SEC.NSEC tid=T sid=ID base=HEX libname="PATH"	a library was loaded
 *
 * Source: uftrace, utils/data-file.c (read, not copied).
 */

/* The quoted text after key.  Paths may contain any byte, so it ends at the last quote. */
static bool quoted(struct str line, struct str key, struct str *text)
{
	if (!text_find(line, key, text) || !text_take(text, STR("\"")))
		return false;
	const char *end = memrchr(text->data, '"', text->size);
	if (end)
		text->size = (size_t)(end - text->data);
	return true;
}

static bool word_of(struct str line, struct str key, struct str *word)
{
	struct str rest;

	if (!text_find(line, key, &rest))
		return false;
	*word = text_take_word(&rest);
	return word->size > 0;
}

static bool add_session(struct uftrace_tasks *t, struct str line)
{
	struct uftrace_session s;

	if (!text_seconds(line, STR("timestamp="), &s.start_ns) ||
		!text_number(line, STR("pid="), &s.pid) || !word_of(line, STR("sid="), &s.id) ||
		!quoted(line, STR("exename="), &s.exe))
		return false;
	vec_push(&t->sessions, s);
	return true;
}

static bool add_load(struct uftrace_tasks *t, struct str line)
{
	struct uftrace_load load;
	struct str base;

	if (!text_seconds(line, STR("timestamp="), &load.time_ns) ||
		!word_of(line, STR("sid="), &load.session_id) ||
		!text_find(line, STR("base="), &base) || !text_take_hex(&base, &load.base) ||
		!quoted(line, STR("libname="), &load.path))
		return false;
	vec_push(&t->loads, load);
	return true;
}

static const struct uftrace_task *find_task(const struct uftrace_tasks *t, uint64_t tid)
{
	uint32_t i;

	return map_get(&t->task_of, tid, 0, &i) ? &t->tasks.data[i] : NULL;
}

/* A known tid is skipped: its sessions are found by pid. */
static void add_task(struct uftrace_tasks *t, struct uftrace_task task)
{
	uint64_t elder = task.parent ? task.parent : task.pid;
	const struct uftrace_task *from = find_task(t, elder);
	bool is_new;

	(void)map_at(&t->task_of, task.tid, 0, (uint32_t)t->tasks.count, &is_new);
	if (!is_new)
		return;
	task.session = NO_ID;
	if (from && from->tid != task.tid)
		task.session = uftrace_tasks_session(t, from, task.start_ns);
	vec_push(&t->tasks, task);
}

static bool add_thread(struct uftrace_tasks *t, struct str line)
{
	struct uftrace_task task = {0};

	if (!text_seconds(line, STR("timestamp="), &task.start_ns) ||
		!text_number(line, STR("tid="), &task.tid) ||
		!text_number(line, STR(" pid="), &task.pid))
		return false;
	add_task(t, task);
	return true;
}

static bool add_fork(struct uftrace_tasks *t, struct str line)
{
	struct uftrace_task task = {0};

	if (!text_seconds(line, STR("timestamp="), &task.start_ns) ||
		!text_number(line, STR(" pid="), &task.pid) ||
		!text_number(line, STR("ppid="), &task.parent))
		return false;
	task.tid = task.pid;
	add_task(t, task);
	return true;
}

static int session_compare(const void *a, const void *b)
{
	const struct uftrace_session *x = a, *y = b;

	return COMPARE(x->pid, y->pid) ?: COMPARE(x->start_ns, y->start_ns);
}

uint32_t uftrace_tasks_session(
	const struct uftrace_tasks *t, const struct uftrace_task *task, uint64_t time_ns)
{
	const struct uftrace_session sought = {.pid = task->pid, .start_ns = time_ns};
	size_t next = partition_point(
		i, 0, t->sessions.count, session_compare(&t->sessions.data[i], &sought) <= 0);
	if (next > 0 && t->sessions.data[next - 1].pid == task->pid)
		return (uint32_t)next - 1;
	return task->session;
}

/* Sessions first: a task's line may precede that of its session. */
void uftrace_tasks_init(struct uftrace_tasks *t, struct str text)
{
	struct str rest = text;

	*t = (struct uftrace_tasks){0};
	while (rest.size) {
		struct str line = str_take_line(&rest);
		if (str_starts_with(line, STR("SESS ")))
			t->bad += !add_session(t, line);
		else if (str_starts_with(line, STR("DLOP ")))
			t->bad += !add_load(t, line);
	}
	if (t->sessions.count)
		qsort(t->sessions.data, t->sessions.count, sizeof(*t->sessions.data),
			session_compare);
	while (text.size) {
		struct str line = str_take_line(&text);
		if (str_starts_with(line, STR("TASK ")))
			t->bad += !add_thread(t, line);
		else if (str_starts_with(line, STR("FORK ")))
			t->bad += !add_fork(t, line);
	}
}

void uftrace_tasks_deinit(struct uftrace_tasks *t)
{
	vec_deinit(&t->sessions);
	vec_deinit(&t->tasks);
	vec_deinit(&t->loads);
	map_deinit(&t->task_of);
}

/* ---- perf-cpuN.dat ---- */

/*
 * perf-cpuN.dat: records of perf_event_open(2) as written by the kernel, for events with sample_id
 * of TID and TIME: a header (type:32, misc:16, size:16), the record, pid, tid, time.
 */

enum {
	RECORD_COMM = 3,
	RECORD_EXIT = 4,
	RECORD_SWITCH = 14,
	MISC_SWITCH_OUT = 1 << 13,
	MISC_SWITCH_OUT_PREEMPT = 1 << 14,
};

static void add_name(struct uftrace_switches *s, uint32_t tid, struct str name)
{
	map_put(&s->name_of, tid, 0, str_table_intern(&s->names, name));
}

static void read_comm(struct uftrace_switches *s, struct cursor *c)
{
	(void)cursor_u32(c);
	uint32_t tid = cursor_u32(c);
	struct str name = {(const char *)c->at, cursor_left(c)};

	name.size = strnlen(name.data, name.size);
	if (cursor_ok(c) && name.size)
		add_name(s, tid, name);
}

static void read_switch(struct uftrace_switches *s, struct cursor *c, uint16_t misc)
{
	struct uftrace_switch sw = {.kind = UFTRACE_IN};

	if (misc & MISC_SWITCH_OUT)
		sw.kind = misc & MISC_SWITCH_OUT_PREEMPT ? UFTRACE_PREEMPTED : UFTRACE_OUT;
	(void)cursor_u32(c);
	sw.tid = cursor_u32(c);
	sw.time_ns = cursor_u64(c);
	if (cursor_ok(c))
		vec_push(&s->all, sw);
}

static void read_end(struct uftrace_switches *s, struct cursor *c)
{
	struct uftrace_switch sw = {.kind = UFTRACE_END};

	cursor_skip(c, 8); /* pid, ppid */
	sw.tid = cursor_u32(c);
	cursor_skip(c, 4); /* ptid */
	sw.time_ns = cursor_u64(c);
	if (cursor_ok(c))
		vec_push(&s->all, sw);
}

static void read_record(
	struct uftrace_switches *s, struct cursor *record, uint32_t type, uint16_t misc)
{
	if (type == RECORD_SWITCH)
		read_switch(s, record, misc);
	else if (type == RECORD_EXIT)
		read_end(s, record);
	else if (type == RECORD_COMM)
		read_comm(s, record);
}

static void read_file(struct uftrace_switches *s, const struct file_bytes *bytes, const char *name)
{
	struct cursor c;

	cursor_init(&c, bytes->data, bytes->size, name, 0);
	while (cursor_ok(&c) && !cursor_at_end(&c)) {
		uint32_t type = cursor_u32(&c);
		uint16_t misc = cursor_u16(&c), size = cursor_u16(&c);
		struct cursor record;
		if (size < 8) {
			cursor_fail(&c, "a record without size");
			break;
		}
		record = cursor_sub(&c, size - 8u);
		if (cursor_ok(&c))
			read_record(s, &record, type, misc);
	}
	s->bad += !cursor_ok(&c);
}

static int switch_compare(const void *a, const void *b)
{
	const struct uftrace_switch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (int)x->kind - (int)y->kind;
}

void uftrace_switches_init(struct uftrace_switches *s, const struct folder *folder)
{
	*s = (struct uftrace_switches){.arena = arena_create()};
	str_table_init(&s->names, s->arena);
	for (size_t i = 0; i < folder_count(folder); i++) {
		struct str name = str_from(folder_name(folder, i));
		struct file_bytes bytes;
		if (!str_starts_with(name, STR("perf-cpu")) || !str_ends_with(name, STR(".dat")))
			continue;
		struct error *err = folder_read(folder, name.data, 0, &bytes);
		s->bad += err != NULL;
		error_destroy(err);
		if (err)
			continue;
		read_file(s, &bytes, name.data);
		file_bytes_deinit(&bytes);
	}
	if (s->all.count)
		qsort(s->all.data, s->all.count, sizeof(*s->all.data), switch_compare);
}

void uftrace_switches_deinit(struct uftrace_switches *s)
{
	vec_deinit(&s->all);
	str_table_deinit(&s->names);
	map_deinit(&s->name_of);
	arena_destroy(s->arena);
}

size_t uftrace_switches_of(const struct uftrace_switches *s, uint64_t tid)
{
	return partition_point(i, 0, s->all.count, s->all.data[i].tid < tid);
}

struct str uftrace_switches_name(const struct uftrace_switches *s, uint64_t tid)
{
	uint32_t i;

	return map_get(&s->name_of, tid, 0, &i) ? s->names.strings[i] : STR("");
}
