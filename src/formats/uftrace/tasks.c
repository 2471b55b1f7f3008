/*
 * task.txt, one event a line:
 *
 *	SESS timestamp=SEC.NSEC pid=P sid=ID exename="PATH"		P begins to run PATH
 *	TASK timestamp=SEC.NSEC tid=T pid=P				P has a thread T
 *	FORK timestamp=SEC.NSEC pid=P ppid=Q				Q forked P
 *	DLOP timestamp=SEC.NSEC tid=T sid=ID base=HEX libname="PATH"	a library was loaded
 *
 * Source: uftrace, utils/data-file.c, as read; nothing of it is copied.
 */
#include "formats/uftrace/tasks.h"

#include <stdlib.h>

#include "base/search.h"
#include "model/ids.h"
#include "formats/common/text_field.h"

/* What stands in quotes behind key; paths may have any byte, so up to the last quote. */
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

/* Of a tid that is there already nothing is new: its sessions are found by pid. */
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

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
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

/* Sessions first: a task's line may stand before that of the session it is in. */
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
