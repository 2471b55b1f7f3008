/*
 * The clocks are perf events without rings: they need a descriptor each but no locked memory, and
 * wake only the thread.  They tick only in user code, so their signals interrupt no system call.
 *
 * Records of the library and of perf are merged by time, so that at each sample the process table
 * equals the system's state at that time.
 */
#include "record/engines/preload/preload_wake.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "record/engines/preload/preload_batch.h"
#include "record/engines/preload/preload_memory.h"
#include "record/engines/preload/preload_thread.h"

/*
 * This many of perf's samples are skipped without a sample of the library; ticks in the kernel make
 * the two clocks differ by chance.
 */
#define AHEAD_MAX 16
/* The number of programs remembered that had to be woken. */
#define PROGRAMS_MAX 1024
/* Between collections, which find new threads. */
#define TAKE_NS (SECOND_NS / 125)

/* The thread that owns a slot. */
struct sleeper {
	bool known, ended;
	pid_t pid, tid;
	int clock_fd;	  /* -1: not woken */
	int64_t ahead_ns; /* weight of perf's skipped samples, minus that of the library's */
	struct preload_want want;
};

struct preload_wake {
	struct recording *recording;
	preload_wake_took *took;
	void *context;
	struct preload_memory memory;
	uint64_t interval_ns;
	bool is_stopped;
	uint32_t awake;	      /* threads */
	size_t largest_bytes; /* of recent records */
	struct sleeper sleepers[PRELOAD_SLOTS];
	struct map tids;     /* to slots */
	struct map pids;     /* processes that are awake */
	struct map programs; /* device and inode, likewise */
	struct preload_batch batch;
	size_t next; /* the next one of the batch to take */
};

/* ---- clocks ---- */

static int open_clock(pid_t tid, uint64_t interval_ns)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = interval_ns,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.disabled = 1};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/*
 * The library distinguishes our signals from the program's by the descriptor's number, which is far
 * above those of programs.
 */
static int move_up(int fd, uint32_t least)
{
	int up = fcntl(fd, F_DUPFD_CLOEXEC, (int)least);

	close(fd);
	return up;
}

static bool aim(int fd, pid_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};

	return fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SIGURG) == 0 &&
	       fcntl(fd, F_SETFL, O_RDONLY | O_ASYNC) == 0 &&
	       ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0;
}

static void wake_thread(struct preload_wake *w, struct sleeper *sleeper)
{
	if (sleeper->clock_fd >= 0 || sleeper->ended || w->is_stopped)
		return;
	int fd = open_clock(sleeper->tid, w->interval_ns);

	if (fd >= 0)
		fd = move_up(fd, w->memory.header->clock_fd_least);
	if (fd >= 0 && !aim(fd, sleeper->tid)) {
		close(fd);
		fd = -1;
	}
	sleeper->clock_fd = fd;
	sleeper->ahead_ns = 0;
	w->awake += fd >= 0;
}

static void still_thread(struct preload_wake *w, struct sleeper *sleeper)
{
	if (sleeper->clock_fd < 0)
		return;
	close(sleeper->clock_fd);
	sleeper->clock_fd = -1;
	w->awake--;
}

/* ---- processes ---- */

static bool program_of(pid_t pid, struct stat *st)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	return stat(path, st) == 0;
}

static bool is_awake(const struct preload_wake *w, pid_t pid)
{
	uint32_t value;
	struct stat st;

	if (map_get(&w->pids, (uint64_t)pid, 0, &value))
		return true;
	return w->programs.count > 0 && program_of(pid, &st) &&
	       map_get(&w->programs, st.st_dev, st.st_ino, &value);
}

static uint32_t slots_used(const struct preload_wake *w)
{
	uint32_t used = atomic_load(&w->memory.header->slots_used);

	return used < PRELOAD_SLOTS ? used : PRELOAD_SLOTS;
}

static void wake_process(struct preload_wake *w, pid_t pid)
{
	uint32_t used = slots_used(w);

	map_put(&w->pids, (uint64_t)pid, 0, 1);
	for (uint32_t slot = 0; slot < used; slot++)
		if (w->sleepers[slot].known && w->sleepers[slot].pid == pid)
			wake_thread(w, &w->sleepers[slot]);
}

void preload_wake_cut(struct preload_wake *w, int64_t pid)
{
	uint32_t value;
	struct stat st;

	if (map_get(&w->pids, (uint64_t)pid, 0, &value))
		return;
	wake_process(w, (pid_t)pid);
	if (w->programs.count < PROGRAMS_MAX && program_of((pid_t)pid, &st))
		map_put(&w->programs, st.st_dev, st.st_ino, 1);
}

uint64_t preload_wake_wait_ns(const struct preload_wake *w)
{
	if (!w || w->awake == 0)
		return UINT64_MAX;
	uint64_t records = PRELOAD_DATA_BYTES / (w->largest_bytes + 1);
	uint64_t filled_ns =
		w->interval_ns * (records < PRELOAD_RECORDS ? records : PRELOAD_RECORDS) / 4;

	return filled_ns < TAKE_NS ? filled_ns : TAKE_NS;
}

/* ---- lives ---- */

static void end_sleeper(struct preload_wake *w, uint32_t slot)
{
	struct sleeper *sleeper = &w->sleepers[slot];
	uint32_t current;

	if (!sleeper->known || sleeper->ended)
		return;
	still_thread(w, sleeper);
	sleeper->ended = true;
	if (map_get(&w->tids, (uint64_t)sleeper->tid, 0, &current) && current == slot)
		map_remove(&w->tids, (uint64_t)sleeper->tid, 0);
}

static void free_ended(struct preload_wake *w, uint32_t slot)
{
	if (!w->sleepers[slot].ended || preload_memory_waiting(&w->memory, slot) > 0)
		return;
	w->sleepers[slot] = (struct sleeper){.clock_fd = -1};
	preload_memory_free(&w->memory, slot);
}

static void take_start(struct preload_wake *w, uint32_t slot, const struct preload_start *start)
{
	struct sleeper *sleeper = &w->sleepers[slot];
	uint32_t before;

	if (sleeper->known || start->pid <= 0 || start->tid <= 0)
		return;
	/* An exec leaves the slot of the old program. */
	if (map_get(&w->tids, (uint64_t)start->tid, 0, &before))
		end_sleeper(w, before);
	if (start->kind == PRELOAD_START_EXEC)
		map_remove(&w->pids, (uint64_t)start->pid, 0);
	*sleeper = (struct sleeper){
		.known = true, .pid = start->pid, .tid = start->tid, .clock_fd = -1};
	map_put(&w->tids, (uint64_t)start->tid, 0, slot);
	if (is_awake(w, start->pid))
		wake_thread(w, sleeper);
}

static void thread_ended(void *context, struct thread *thread, uint64_t time_ns)
{
	struct preload_wake *w = context;
	uint32_t slot;

	(void)time_ns;
	if (!map_get(&w->tids, (uint64_t)thread->tid, 0, &slot) ||
		w->sleepers[slot].pid != (pid_t)thread->pid)
		return;
	end_sleeper(w, slot);
	if (thread->tid == thread->pid)
		map_remove(&w->pids, (uint64_t)thread->pid, 0);
}

/* ---- records ---- */

static int64_t ahead_most_ns(const struct preload_wake *w)
{
	return AHEAD_MAX * (int64_t)w->interval_ns;
}

static void tell_wants(struct preload_wake *w, uint32_t slot, const struct thread *thread,
	const struct perf_sample *sample)
{
	const struct process *p = process_table_find_late(w->recording->processes, sample->pid);

	if (p)
		preload_memory_tell_go(&w->memory, slot, p->go_below);
	if (thread->history)
		preload_want_next(&w->sleepers[slot].want, &w->memory, slot,
			&(struct preload_walked){sample->time_ns, thread->history,
				sample->stack_size, w->recording->snapshot.memory.asked});
}

static void take_sample(struct preload_wake *w, uint32_t slot, const struct preload_record *head,
	const uint8_t *body, size_t size)
{
	struct sleeper *sleeper = &w->sleepers[slot];
	struct snapshot *snapshot = &w->recording->snapshot;
	struct perf_sample sample = {.time_ns = head->time_ns,
		.pid = sleeper->pid,
		.tid = sleeper->tid,
		.period = w->interval_ns};
	uint64_t took_ns;

	if (!preload_sample_read(body, size, &sample, &snapshot->rest, &took_ns)) {
		w->memory.broken++;
		return;
	}
	w->largest_bytes -= w->largest_bytes / 1024;
	if (size > w->largest_bytes)
		w->largest_bytes = size;
	snapshot->is_copied = true;
	struct snapshot_place place = recording_take_clock(w->recording, &sample);

	snapshot->is_copied = false;
	snapshot->rest.others.count = 0;
	if (sleeper->ahead_ns > -ahead_most_ns(w))
		sleeper->ahead_ns -= (int64_t)w->interval_ns;
	tell_wants(w, slot, place.thread, &sample);
	w->took(w->context, place, &sample, took_ns < SECOND_NS ? took_ns : 0);
}

static void take_known(struct preload_wake *w, uint32_t slot, const struct preload_record *head,
	const uint8_t *body, size_t size)
{
	const struct sleeper *sleeper = &w->sleepers[slot];

	if (!sleeper->known || sleeper->ended)
		return;
	if (head->type == PRELOAD_SAMPLE &&
		process_table_find_late(w->recording->processes, sleeper->pid))
		take_sample(w, slot, head, body, size);
	else if (head->type == PRELOAD_END || head->type == PRELOAD_SEALED)
		end_sleeper(w, slot);
}

static void take_record(struct preload_wake *w, const struct preload_waiting *waiting)
{
	const uint8_t *bytes = preload_memory_copy(&w->memory, waiting->slot, waiting->i);
	struct preload_record head;
	struct preload_start start;

	if (!bytes) {
		w->memory.broken++;
		return;
	}
	memcpy(&head, bytes, sizeof(head));
	size_t size = head.size - sizeof(head);

	if (head.type == PRELOAD_START && size >= sizeof(start)) {
		memcpy(&start, bytes + sizeof(head), sizeof(start));
		take_start(w, waiting->slot, &start);
	} else {
		take_known(w, waiting->slot, &head, bytes + sizeof(head), size);
	}
}

/* ---- all waiting records ---- */

void preload_wake_collect(struct preload_wake *w)
{
	atomic_store(&w->memory.header->heartbeat_ns, clock_monotonic_ns());
	/* Continue an interrupted round. */
	if (w->batch.slots.count > 0)
		return;
	w->next = 0;
	preload_batch_take(&w->batch, &w->memory);
}

static void release(struct preload_wake *w)
{
	preload_batch_release(&w->batch, &w->memory);
	for (size_t i = 0; i < w->batch.slots.count; i++)
		free_ended(w, w->batch.slots.data[i]);
	preload_batch_clear(&w->batch);
	w->next = 0;
}

void preload_wake_take_until(struct preload_wake *w, uint64_t time_ns)
{
	while (w->next < w->batch.records.count &&
		w->batch.records.data[w->next].time_ns <= time_ns)
		take_record(w, &w->batch.records.data[w->next++]);
	if (time_ns == UINT64_MAX)
		release(w);
}

/* ---- perf's samples ---- */

bool preload_wake_replaces(struct preload_wake *w, const struct perf_sample *sample)
{
	uint32_t slot;

	if (sample->in_kernel || w->awake == 0 ||
		!map_get(&w->tids, (uint64_t)sample->tid, 0, &slot))
		return false;
	struct sleeper *sleeper = &w->sleepers[slot];

	if (sleeper->clock_fd < 0 || sleeper->pid != (pid_t)sample->pid ||
		sleeper->ahead_ns >= ahead_most_ns(w))
		return false;
	sleeper->ahead_ns += (int64_t)sample->period;
	return true;
}

/* ---- all of it ---- */

static uint32_t least_clock_fd(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
		limit.rlim_cur > 1u << 20)
		return 1u << 19;
	return (uint32_t)limit.rlim_cur / 2;
}

struct error *preload_wake_open(uint64_t interval_ns, struct preload_wake **wake)
{
	struct preload_wake *w = xalloc(sizeof(*w));
	struct error *err = preload_memory_init(&w->memory, interval_ns);

	if (err) {
		free(w);
		return err;
	}
	w->interval_ns = interval_ns;
	w->memory.header->clock_fd_least = least_clock_fd();
	for (uint32_t slot = 0; slot < PRELOAD_SLOTS; slot++)
		w->sleepers[slot].clock_fd = -1;
	*wake = w;
	return NULL;
}

const struct preload_memory *preload_wake_memory(const struct preload_wake *w)
{
	return &w->memory;
}

void preload_wake_begin(
	struct preload_wake *w, struct recording *recording, preload_wake_took *took, void *context)
{
	const struct process_hooks hooks = {.ended = thread_ended, .context = w};

	w->recording = recording;
	w->took = took;
	w->context = context;
	process_table_hook(recording->processes, &hooks);
}

void preload_wake_close(struct preload_wake *w)
{
	if (!w)
		return;
	preload_wake_stop(w);
	if (w->recording)
		process_table_unhook(w->recording->processes, w);
	preload_memory_deinit(&w->memory);
	map_deinit(&w->tids);
	map_deinit(&w->pids);
	map_deinit(&w->programs);
	preload_batch_deinit(&w->batch);
	free(w);
}

void preload_wake_stop(struct preload_wake *w)
{
	w->is_stopped = true;
	atomic_store(&w->memory.header->stop, 1);
	for (uint32_t slot = 0; slot < PRELOAD_SLOTS; slot++)
		still_thread(w, &w->sleepers[slot]);
}

void preload_wake_set_interval(struct preload_wake *w, uint64_t interval_ns)
{
	w->interval_ns = interval_ns;
	for (uint32_t slot = 0; slot < PRELOAD_SLOTS; slot++)
		if (w->sleepers[slot].clock_fd >= 0)
			ioctl(w->sleepers[slot].clock_fd, PERF_EVENT_IOC_PERIOD, &interval_ns);
}

static bool is_gone(pid_t pid, pid_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) != 0 && errno == ESRCH;
}

void preload_wake_sweep(struct preload_wake *w)
{
	uint32_t used = slots_used(w);

	for (uint32_t slot = 0; slot < used; slot++) {
		struct sleeper *sleeper = &w->sleepers[slot];
		uint32_t owner = preload_memory_owner(&w->memory, slot);

		if (preload_memory_waiting(&w->memory, slot) > 0)
			continue;
		if (sleeper->known && !sleeper->ended && is_gone(sleeper->pid, sleeper->tid))
			end_sleeper(w, slot);
		else if (!sleeper->known && owner != 0 && kill((pid_t)owner, 0) != 0 &&
			 errno == ESRCH)
			preload_memory_free(&w->memory, slot);
		free_ended(w, slot);
	}
}

void preload_wake_tell(const struct preload_wake *w, struct engine_counts *counts)
{
	counts->broken_records = w->memory.broken;
}
