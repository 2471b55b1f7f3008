/*
 * Attaching.  The processes continue running and create threads and children while events are
 * opened; /proc is scanned repeatedly until nothing is new.
 *
 * A new task may have inherited all of its creator's events, none, or, if it was created while
 * these were being opened, some.  The tracking records decide: a fork reported after the last event
 * on its creator was opened has inherited all.  In all other cases the new task gets its own
 * events.  Duplicates are resolved by the ranks of the events (perf_event.h), as those opened later
 * are complete.
 */
#include "record/engines/perf/perf_attach.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/map.h"
#include "record/events/perf_record.h"
#include "record/processes/proc.h"
#include "record/processes/process_table.h"

/*
 * With at least this many events, events on the CPUs cost less than events on each thread: opening
 * one takes about 10 us.
 */
#define WIDE_EVENTS 8192
/* Descriptors reserved for load objects and files. */
#define RESERVED_FDS 192
/*
 * Maximum number of scans.  Each except the first finds only tasks created during the previous one.
 */
#define ROUNDS_MAX 20
/* The time between a new thread's inheriting events and its report. */
#define FORK_NS (SECOND_NS / 1000)
/* The maximum number of generations of creators followed. */
#define LINEAGE_MAX 64

struct fork_note {
	int64_t maker;
	uint64_t time_ns;
};

struct attach {
	struct perf_event_set *set;
	struct ring_merge *merge;
	struct recording *recording;
	const struct target *target;
	struct perf_attach_result *result;
	task_vec tasks;		   /* of the last scan */
	struct map seen;	   /* tid → index in complete_ns */
	struct map forks;	   /* tid → index in notes */
	VEC(uint64_t) complete_ns; /* when it had all events; UINT64_MAX: never */
	VEC(struct fork_note) notes;
	size_t room; /* number of tasks that descriptors suffice for */
};

/* ---- reports ---- */

static void note_fork(struct attach *a, const struct perf_event_header *header)
{
	struct perfstream_record record = perf_record_of(header);
	struct perfstream_task task;

	if (header->type != PERF_RECORD_FORK || !perfstream_task_decode(&record, &task))
		return;
	map_put(&a->forks, (uint64_t)task.tid, 0, (uint32_t)a->notes.count);
	vec_push(&a->notes, (struct fork_note){task.parent_tid, perf_record_time_ns(header)});
}

/* Processes the tracking records; sampling has not begun. */
static void take_reports(struct attach *a)
{
	struct process_table *processes = a->recording->processes;
	const struct perf_event_header *header;
	uint64_t horizon_ns = clock_monotonic_ns();

	ring_merge_look(a->merge);
	while ((header = ring_merge_next(a->merge, horizon_ns))) {
		note_fork(a, header);
		if (!a->set->tracks_all || sideband_concerns(processes, header))
			sideband_apply(processes, header);
	}
}

static const struct fork_note *find_fork(const struct attach *a, int64_t tid)
{
	uint32_t place;

	return map_get(&a->forks, (uint64_t)tid, 0, &place) ? &a->notes.data[place] : NULL;
}

/* Whether a thread inherited all events from its creator, which may have inherited them as well. */
static bool has_inherited(const struct attach *a, int64_t tid)
{
	for (int depth = 0; depth < LINEAGE_MAX; depth++) {
		const struct fork_note *fork = find_fork(a, tid);
		uint32_t place;

		if (!fork)
			return false;
		if (map_get(&a->seen, (uint64_t)fork->maker, 0, &place))
			return a->complete_ns.data[place] != UINT64_MAX &&
			       fork->time_ns > a->complete_ns.data[place] + FORK_NS;
		tid = fork->maker;
	}
	return false;
}

/* ---- opening ---- */

static void see(struct attach *a, pid_t tid, uint64_t complete_ns)
{
	map_put(&a->seen, (uint64_t)tid, 0, (uint32_t)a->complete_ns.count);
	vec_push(&a->complete_ns, complete_ns);
}

static bool is_seen(const struct attach *a, pid_t tid)
{
	uint32_t place;

	return map_get(&a->seen, (uint64_t)tid, 0, &place);
}

static bool is_root(const struct attach *a, pid_t pid)
{
	for (size_t i = 0; i < a->target->pid_count; i++)
		if (a->target->pids[i] == pid)
			return true;
	return false;
}

static struct error *leave_out(struct attach *a, struct task task, int code)
{
	see(a, task.tid, UINT64_MAX);
	if (code == ESRCH)
		return NULL;
	if (code != EMFILE && code != ENFILE && is_root(a, task.pid))
		return target_refusal(task.pid, code);
	a->result->left_out++;
	return NULL;
}

/* Opens events on a thread, unless there are events on the CPUs. */
static struct error *take_in(struct attach *a, struct task task)
{
	int code = 0;

	if (!a->set->tracks_all) {
		code = a->room > 0 ? perf_event_set_add(a->set, task.tid) : EMFILE;
		a->room -= a->room > 0;
	}
	if (code)
		return leave_out(a, task, code);
	uint64_t now_ns = clock_monotonic_ns();

	see(a, task.tid, now_ns);
	process_table_adopt(a->recording->processes, task.pid, task.tid, now_ns);
	return NULL;
}

/* Processes all tasks of the last scan.  *fresh: whether any was new. */
static struct error *take_round(struct attach *a, bool *fresh)
{
	struct error *err = NULL;

	*fresh = false;
	for (size_t i = 0; i < a->tasks.count && !err; i++) {
		struct task task = a->tasks.data[i];

		if (is_seen(a, task.tid))
			continue;
		if (has_inherited(a, task.tid)) {
			see(a, task.tid, find_fork(a, task.tid)->time_ns);
			continue;
		}
		*fresh = true;
		err = take_in(a, task);
	}
	return err;
}

static void scan(struct attach *a)
{
	a->tasks.count = 0;
	task_scan(a->target->pids, a->target->pid_count, &a->tasks);
}

static struct error *take_all(struct attach *a)
{
	for (int round = 0; round < ROUNDS_MAX; round++) {
		bool fresh;
		struct error *err = take_round(a, &fresh);

		if (err || !fresh)
			return err;
		a->result->doubles |= round > 0 && !a->set->tracks_all;
		scan(a);
		/*
		 * The CPUs' trackers report all tasks; which of them belong to the target is known
		 * after the last scan.
		 */
		if (!a->set->tracks_all)
			take_reports(a);
	}
	return NULL;
}

/* ---- allocation of descriptors ---- */

static size_t free_fds(const struct perf_event_set *set)
{
	size_t used = set->events.count + set->cpus.count * PERF_STREAM_COUNT + RESERVED_FDS;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return 0;
	/* If the limit is low, load objects get a third. */
	if (limit.rlim_cur < 3 * RESERVED_FDS)
		used -= RESERVED_FDS - limit.rlim_cur / 3;
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

struct busy_task {
	struct task task;
	uint64_t cpu_ns;
};

static int compare_busy(const void *a, const void *b)
{
	const struct busy_task *x = a, *y = b;

	return (x->cpu_ns < y->cpu_ns) - (x->cpu_ns > y->cpu_ns);
}

/* If descriptors do not suffice for all, threads with the most CPU time so far come first. */
static void busiest_first(task_vec *tasks)
{
	struct busy_task *busy = xcalloc(tasks->count + 1, sizeof(*busy));

	for (size_t i = 0; i < tasks->count; i++) {
		struct proc_stat stat;

		busy[i].task = tasks->data[i];
		if (proc_stat_read(tasks->data[i].pid, tasks->data[i].tid, &stat))
			busy[i].cpu_ns = stat.user_ns + stat.system_ns;
	}
	qsort(busy, tasks->count, sizeof(*busy), compare_busy);
	for (size_t i = 0; i < tasks->count; i++)
		tasks->data[i] = busy[i].task;
	free(busy);
}

/* Whether descriptors suffice for events on that many threads. */
static bool has_room(struct attach *a, size_t count)
{
	a->room = free_fds(a->set) / perf_event_set_task_fds(a->set);
	return count <= a->room;
}

static void choose_events(struct attach *a)
{
	size_t count = a->tasks.count;
	bool many = count * perf_event_set_task_fds(a->set) >= WIDE_EVENTS;

	if ((many || !has_room(a, count)) && perf_event_set_add(a->set, -1) == 0)
		return;
	if (has_room(a, count))
		return;
	perf_event_set_slim(a->set);
	if (!has_room(a, count))
		busiest_first(&a->tasks);
}

/* Permission to inspect the named processes does not depend on the choice of events. */
static struct error *attach(struct attach *a)
{
	process_table_expect_old(a->recording->processes);
	scan(a);
	choose_events(a);
	/* The CPUs' trackers have begun since the first scan. */
	if (a->set->tracks_all)
		scan(a);
	struct error *err = take_all(a);

	if (err)
		return err;
	process_table_read_all_maps(a->recording->processes, clock_monotonic_ns());
	take_reports(a);
	return NULL;
}

struct error *perf_attach(struct perf_event_set *set, struct ring_merge *merge,
	struct recording *recording, const struct target *target, struct perf_attach_result *result)
{
	struct attach a = {.set = set,
		.merge = merge,
		.recording = recording,
		.target = target,
		.result = result};

	*result = (struct perf_attach_result){0};
	struct error *err = attach(&a);

	vec_deinit(&a.tasks);
	vec_deinit(&a.complete_ns);
	vec_deinit(&a.notes);
	map_deinit(&a.seen);
	map_deinit(&a.forks);
	return err;
}
