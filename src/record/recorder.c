/*
 * The recorder: launches the target with events on it, drains their rings until it ends, and keeps
 * the file flowing.
 *
 * The target's end is learned from wait4 alone.  Events hang up when their last task is gone, but
 * also when the kernel takes them off a task that a set-uid exec has made more powerful; the target
 * must go on undisturbed then, so a hang-up only stops the polling of that event.
 */
#include "record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "record/ability.h"
#include "record/control.h"
#include "record/launch.h"
#include "record/object_table.h"
#include "record/perf_event.h"
#include "record/perf_record.h"
#include "record/process_table.h"
#include "record/ring.h"
#include "record/sideband.h"
#include "record/snapshot.h"
#include "record/stack_tree.h"

#define SECOND_NS   UINT64_C(1000000000)
#define PROGRESS_NS (SECOND_NS / 10)
/* Between looks at the rings; a ring half full wakes us before. */
#define POLL_NS (SECOND_NS / 50)
/*
 * While stacks are deeper than their dumps: their rest is to be read before it changes, so soon
 * after the next sample is due, and no later than this, as there may be several threads.
 */
#define POLL_DEEP_NS (SECOND_NS / 2000)
#define POLL_DUE_NS  (SECOND_NS / 60000)
/* A sample this late is not coming: its thread sleeps. */
#define POLL_LATE_NS (SECOND_NS / 8000)
#define DEEP_NS	     (SECOND_NS / 2)
/* So many samples missing, and such a part of all, make the CPUs' clocks worth their price. */
#define SHORT_LIVES_LEAST 12
#define SHORT_LIVES_PART  50
/* An event's hang-up this long before the target's end is not part of that end. */
#define HANG_UP_NS (SECOND_NS / 10)

struct recorder {
	struct recorder_options options;
	struct launch_state launch_state;
	struct control control;
	struct launch launch;
	struct capture_writer *writer;
	struct object_table *objects;
	struct process_table *processes;
	struct perf_event_set events;
	struct ring_merge merge;
	VEC(struct pollfd) polled; /* the signals, then each event still up */
	struct snapshot snapshot;
	uint64_t start_ns, progress_ns;
	uint64_t sampled_ns;	/* when the last sample was taken */
	uint64_t deep_until_ns; /* a stack was deeper than its dump, so look often until then */
	uint64_t hung_up_ns;	/* when the last event hung up; 0: some are up */
	uint64_t lost_records, lost_sideband, throttled;
	bool widen_refused;
	bool stopped; /* the file can't be written: no more samples */
	bool ended;
	int wait_status;
	struct rusage usage;
	struct stack_addresses addresses; /* once asked for */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND_NS + (uint64_t)ts.tv_nsec;
}

struct error *recorder_create(const struct recorder_options *options, struct recorder **recorder)
{
	struct recorder *r = xalloc(sizeof(*r));
	struct error *err;

	r->options = *options;
	launch_state_save(&r->launch_state);
	err = control_init(&r->control);
	if (!err)
		err = capture_writer_create(options->output, &r->writer);
	if (err) {
		control_deinit(&r->control);
		launch_state_restore(&r->launch_state);
		free(r);
		return err;
	}
	r->objects = object_table_create(r->writer);
	*recorder = r;
	return NULL;
}

static void recorder_destroy(struct recorder *r)
{
	stack_addresses_deinit(&r->addresses);
	if (r->processes)
		snapshot_deinit(&r->snapshot);
	process_table_destroy(r->processes);
	object_table_destroy(r->objects);
	ring_merge_deinit(&r->merge);
	vec_deinit(&r->polled);
	perf_event_set_close(&r->events);
	control_deinit(&r->control);
	launch_state_restore(&r->launch_state);
	free(r);
}

void recorder_abandon(struct recorder *r)
{
	capture_writer_abandon(r->writer);
	recorder_destroy(r);
}

/* ---- the facts of the recording ---- */

static void write_command(struct recorder *r)
{
	struct strbuf command = {0};

	for (size_t i = 0; r->options.command[i]; i++) {
		strbuf_add(&command, str_from(r->options.command[i]));
		strbuf_add_char(&command, '\0');
	}
	capture_writer_string(r->writer, CAPTURE_COMMAND, strbuf_str(&command));
	strbuf_deinit(&command);
}

static void write_facts(struct recorder *r)
{
	struct capture_writer *w = r->writer;
	struct utsname host;

	write_command(r);
	if (uname(&host) == 0) {
		capture_writer_string(w, CAPTURE_HOST, str_from(host.nodename));
		capture_writer_string(w, CAPTURE_KERNEL, str_from(host.release));
	}
	capture_writer_string(w, CAPTURE_ENGINE, STR("snapshot"));
	capture_writer_string(w, CAPTURE_CLOCK, STR("virtual"));
	capture_writer_string(w, CAPTURE_VERSION, STR(SONDE_VERSION));
	capture_writer_number(w, CAPTURE_START_UNIX_NS, clock_ns(CLOCK_REALTIME));
	capture_writer_number(w, CAPTURE_START_MONOTONIC_NS, r->start_ns);
	capture_writer_number(w, CAPTURE_INTERVAL_NS, r->options.interval_ns);
	capture_writer_number(w, CAPTURE_CPU_COUNT, r->events.cpus.count);
	capture_writer_metric(w, 0, STR("cpu-time"), STR("ns"));
}

/* Losses so far: the larger of what the rings told and what the events count. */
static uint64_t lost_samples(const struct recorder *r)
{
	uint64_t counted = perf_event_set_lost(&r->events);

	return counted > r->lost_records ? counted : r->lost_records;
}

static void write_counters(struct recorder *r)
{
	uint64_t *counters = r->snapshot.counters;
	struct unwind_counts walks = unwind_walker_counts(r->snapshot.walker);

	counters[CAPTURE_LOST_RING] = lost_samples(r);
	counters[CAPTURE_LOST_THROTTLED] = r->throttled;
	counters[CAPTURE_LOST_SIDEBAND] = r->lost_sideband;
	counters[CAPTURE_REUSE_CHECKED] = walks.reuse_checks;
	counters[CAPTURE_REUSE_WRONG] = walks.reuse_mismatches;
	for (uint32_t i = 0; i < CAPTURE_COUNTER_COUNT; i++)
		capture_writer_counter(r->writer, (enum capture_counter)i, counters[i]);
}

/* ---- draining ---- */

static bool is_tracker(const struct recorder *r, const struct ring *ring)
{
	for (size_t i = 0; i < r->events.cpus.count; i++)
		if (ring == &r->events.cpus.data[i].track)
			return true;
	return false;
}

static void take_loss(struct recorder *r, const struct perf_event_header *header)
{
	uint64_t count = perf_record_lost(header);

	if (is_tracker(r, r->merge.current->ring))
		r->lost_sideband += count;
	else
		r->lost_records += count;
}

/* Wide events sample everybody. */
static bool is_ours(const struct recorder *r, const struct perf_sample *sample)
{
	return !r->events.is_wide || process_table_find(r->processes, sample->pid);
}

static void take_record(struct recorder *r, const struct perf_event_header *header)
{
	struct perf_sample sample;

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		if (perf_record_sample(header, r->events.grant.kernel, &sample) &&
			is_ours(r, &sample)) {
			snapshot_take(&r->snapshot, &sample);
			r->sampled_ns = sample.time_ns;
		}
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		take_loss(r, header);
		break;
	case PERF_RECORD_THROTTLE:
		r->throttled++;
		break;
	default:
		sideband_apply(r->processes, header);
		break;
	}
}

/* Takes all that the rings hold now. */
static void drain(struct recorder *r)
{
	const struct perf_event_header *header;
	uint64_t horizon_ns = clock_ns(CLOCK_MONOTONIC);

	ring_merge_look(&r->merge);
	while ((header = ring_merge_next(&r->merge, horizon_ns)))
		take_record(r, header);
}

static void stop_sampling(struct recorder *r)
{
	perf_event_set_stop(&r->events);
	r->stopped = true;
}

static void drain_and_flush(struct recorder *r)
{
	if (r->stopped)
		return;
	drain(r);
	capture_writer_flush(r->writer, clock_ns(CLOCK_MONOTONIC));
	if (capture_writer_failed(r->writer))
		stop_sampling(r);
}

/* ---- waiting ---- */

static void poll_set(struct recorder *r)
{
	r->polled.count = r->merge.lanes.count = 0;
	vec_push(&r->polled, (struct pollfd){.fd = r->control.fd, .events = POLLIN});
	for (size_t i = 0; i < r->events.cpus.count; i++) {
		struct perf_event_cpu *cpu = &r->events.cpus.data[i];

		vec_push(&r->polled, (struct pollfd){.fd = cpu->sample_fd, .events = POLLIN});
		vec_push(&r->polled, (struct pollfd){.fd = cpu->track_fd, .events = POLLIN});
		ring_merge_add(&r->merge, &cpu->track);
		ring_merge_add(&r->merge, &cpu->samples);
	}
}

/* Events that hung up are polled no more: they would wake us for ever. */
static void drop_hung_up(struct recorder *r)
{
	size_t kept = 1;

	for (size_t i = 1; i < r->polled.count; i++)
		if (!(r->polled.data[i].revents & (POLLHUP | POLLERR)))
			r->polled.data[kept++] = r->polled.data[i];
	r->polled.count = kept;
	if (kept == 1 && r->hung_up_ns == 0)
		r->hung_up_ns = clock_ns(CLOCK_MONOTONIC);
}

/* How long to sleep while stacks are deep. */
static uint64_t deep_time_ns(const struct recorder *r, uint64_t now_ns)
{
	uint64_t due_ns = r->sampled_ns + r->options.interval_ns + POLL_DUE_NS;
	uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : POLL_DUE_NS;

	if (now_ns > due_ns + POLL_LATE_NS || wait_ns > POLL_DEEP_NS)
		return POLL_DEEP_NS;
	return wait_ns;
}

static uint64_t poll_time_ns(struct recorder *r, bool deep)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (deep)
		r->deep_until_ns = now_ns + DEEP_NS;
	return now_ns < r->deep_until_ns ? deep_time_ns(r, now_ns) : POLL_NS;
}

static void wait_for_work(struct recorder *r)
{
	uint64_t reads = r->snapshot.memory.read_count;
	size_t count = r->stopped ? 1 : r->polled.count;

	drain_and_flush(r);
	uint64_t time_ns = poll_time_ns(r, r->snapshot.memory.read_count != reads);
	struct timespec timeout = {.tv_nsec = (long)time_ns};

	if (ppoll(r->polled.data, count, &timeout, NULL) > 0)
		drop_hung_up(r);
}

/*
 * A task's clock starts with a whole interval, so of threads shorter than that it sees nothing, and
 * half a sample too little of all others.  Whether that is why many samples are missing.
 */
static bool lives_are_short(const struct recorder *r)
{
	uint64_t explained = 2 * process_table_thread_total(r->processes);

	/* Reading the clocks interrupts the target, so it is not done for the usual few threads. */
	if (explained < SHORT_LIVES_LEAST)
		return false;
	uint64_t due = perf_event_set_cpu_ns(&r->events) / r->options.interval_ns;
	uint64_t found = r->snapshot.samples + lost_samples(r);

	if (found + SHORT_LIVES_LEAST > due || found > due - due / SHORT_LIVES_PART)
		return false;
	return due - found <= explained;
}

/* Then, if it is allowed, the CPUs' clocks take over. */
static void watch_short_lives(struct recorder *r)
{
	if (r->stopped || r->events.is_wide || r->widen_refused || !lives_are_short(r))
		return;
	perf_event_set_stop(&r->events);
	drain(r);
	r->widen_refused = !perf_event_set_widen(&r->events, r->options.interval_ns);
	if (r->widen_refused)
		perf_event_set_go_on(&r->events);
	else
		poll_set(r);
}

static void look_for_end(struct recorder *r)
{
	if (wait4(r->launch.pid, &r->wait_status, WNOHANG, &r->usage) == r->launch.pid)
		r->ended = true;
}

static void tell_progress(struct recorder *r)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (now_ns < r->progress_ns)
		return;
	r->progress_ns = now_ns + PROGRESS_NS;
	write_counters(r);
	if (!r->options.progress)
		return;
	struct recorder_progress progress = {
		.samples = r->snapshot.samples,
		.lost = r->snapshot.counters[CAPTURE_LOST_RING],
		.elapsed_ns = now_ns - r->start_ns,
	};

	r->options.progress(r->options.progress_context, &progress);
}

static void record_to_the_end(struct recorder *r)
{
	while (!r->ended && r->control.detach_signal == 0) {
		wait_for_work(r);
		control_read(&r->control);
		look_for_end(r);
		watch_short_lives(r);
		tell_progress(r);
	}
	drain_and_flush(r);
}

/* ---- start and end ---- */

static void raise_limit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* Forks the child and sets up everything on it; on failure the child is gone. */
static struct error *prepare(struct recorder *r)
{
	struct error *err = launch_start(&r->launch, r->options.command, &r->launch_state);

	if (err)
		return err;
	/* A descriptor for each load object, two for each CPU; and the rings are locked memory. */
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_MEMLOCK);
	/* Where it is allowed, be quick to empty the rings on a busy machine. */
	(void)setpriority(PRIO_PROCESS, 0, -5);
	prctl(PR_SET_TIMERSLACK, 1000);
	err = perf_event_set_open(&r->events, r->launch.pid, r->options.interval_ns);
	if (err)
		launch_cancel(&r->launch);
	return err;
}

static struct error *start(struct recorder *r)
{
	struct error *err = prepare(r);

	if (err) {
		struct error *refusal = ability_refusal(err);

		error_destroy(err);
		return refusal;
	}
	r->start_ns = clock_ns(CLOCK_MONOTONIC);
	r->processes = process_table_create(r->writer, r->objects, r->start_ns);
	snapshot_init(&r->snapshot, r->writer, r->objects, r->processes, r->start_ns);
	poll_set(r);
	err = launch_release(&r->launch, r->options.command[0]);
	if (!err)
		write_facts(r);
	return err;
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

/*
 * The CPU time of the target and all its children.  The system's own account leaves out what a
 * hypervisor took for others, in which no timer could fire; but it has only children that were
 * waited for, and nobody while the target lives.  The events counted everybody.
 */
static uint64_t cpu_time_ns(const struct recorder *r)
{
	uint64_t counted_ns = perf_event_set_cpu_ns(&r->events);
	uint64_t account_ns = timeval_ns(r->usage.ru_utime) + timeval_ns(r->usage.ru_stime);

	if (r->events.is_wide)
		return account_ns;
	bool is_all = (r->ended && process_table_process_total(r->processes) == 1) ||
		      account_ns >= counted_ns - counted_ns / 20;

	return is_all && account_ns < counted_ns ? account_ns : counted_ns;
}

/*
 * The part of it that went by in the kernel where that could not be sampled.  How it divides only
 * the system's account tells.
 */
static uint64_t unsampled_kernel_ns(const struct recorder *r, uint64_t cpu_ns)
{
	double user = (double)timeval_ns(r->usage.ru_utime);
	double system = (double)timeval_ns(r->usage.ru_stime);

	if (r->events.grant.kernel || user + system <= 0)
		return 0;
	return (uint64_t)((double)cpu_ns * system / (user + system));
}

static void fill_result(struct recorder *r, struct recorder_result *result)
{
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC);
	uint64_t cpu_ns = cpu_time_ns(r);

	*result = (struct recorder_result){
		.engine = "snapshot",
		.wait_status = r->wait_status,
		.detached = !r->ended,
		.detach_signal = r->ended ? 0 : r->control.detach_signal,
		.duration_ns = end_ns - r->start_ns,
		.cpu_ns = cpu_ns,
		.interval_ns = r->options.interval_ns,
		.samples = r->snapshot.samples,
		.truncated = snapshot_truncated(&r->snapshot),
		.kernel_frames = r->events.grant.kernel,
		.kernel_cpu_ns = unsampled_kernel_ns(r, cpu_ns),
		.threads = process_table_thread_total(r->processes),
		.children_left = r->ended ? process_table_living(r->processes) : 0,
		.sampling_ended = r->hung_up_ns != 0 && end_ns > r->hung_up_ns + HANG_UP_NS,
	};
	result->expected = (cpu_ns - result->kernel_cpu_ns) / r->options.interval_ns;
	memcpy(result->counters, r->snapshot.counters, sizeof(result->counters));
}

static void write_end(struct recorder *r, const struct recorder_result *result)
{
	capture_writer_number(r->writer, CAPTURE_DURATION_NS, result->duration_ns);
	capture_writer_number(r->writer, CAPTURE_CPU_NS, result->cpu_ns - result->kernel_cpu_ns);
	if (!result->detached)
		capture_writer_number(
			r->writer, CAPTURE_EXIT_STATUS, (uint32_t)result->wait_status);
}

struct error *recorder_run(struct recorder *r, struct recorder_result *result)
{
	struct error *err = start(r);

	if (err)
		return err;
	record_to_the_end(r);
	write_counters(r);
	fill_result(r, result);
	write_end(r, result);
	perf_event_set_stop(&r->events);
	return NULL;
}

/* ---- what was sampled ---- */

size_t recorder_object_count(const struct recorder *r)
{
	return object_table_count(r->objects);
}

void recorder_object(struct recorder *r, uint32_t object, struct recorder_object *out)
{
	struct object_info info = object_table_info(r->objects, object);

	if (!r->addresses.start)
		stack_tree_addresses(
			&r->snapshot.tree, object_table_count(r->objects), &r->addresses);
	size_t begin = r->addresses.start[object];

	*out = (struct recorder_object){
		.path = info.path,
		.open_path = info.open_path,
		.build_id = info.build_id,
		.kind = info.kind,
		.pid = info.pid,
		.addresses = r->addresses.addresses + begin,
		.address_count = r->addresses.start[object + 1] - begin,
	};
}

struct capture_writer *recorder_writer(struct recorder *r)
{
	return r->writer;
}

struct error *recorder_finish(struct recorder *r, uint64_t *size_bytes)
{
	struct error *err = capture_writer_finish(r->writer, size_bytes);

	recorder_destroy(r);
	return err;
}
