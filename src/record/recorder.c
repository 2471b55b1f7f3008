/*
 * The recorder: has an engine take samples of the target until that ends, and keeps the file
 * flowing.
 */
#include "record/recorder.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "record/control.h"
#include "record/engine.h"
#include "record/proc_stat.h"
#include "record/recording.h"
#include "record/stack_tree.h"
#include "record/target.h"

#define PROGRESS_NS (SECOND_NS / 10)
/* At first we look sooner: a short run is over by then.  It doubles until it is that. */
#define PROGRESS_FIRST_NS (PROGRESS_NS / 32)
#define LOOK_NS		  (SECOND_NS / 50)

struct recorder {
	struct recorder_options options;
	struct launch_state launch_state;
	struct control control;
	struct capture_writer *writer;
	struct target target;
	struct recording recording;
	struct engine *engine;
	pollfd_vec polled;		 /* the signals, then the engine's */
	uint64_t progress_ns, target_ns; /* when to do these next */
	uint64_t progress_step_ns;
	struct budget budget;
	uint32_t rate_changes;
	bool stopped;			  /* the file can't be written: no more samples */
	struct stack_addresses addresses; /* once asked for */
};

struct error *recorder_create(const struct recorder_options *options, struct recorder **recorder)
{
	struct recorder *r = xalloc(sizeof(*r));
	struct error *err;

	r->options = *options;
	r->progress_step_ns = PROGRESS_FIRST_NS;
	if (options->clock == RECORDER_CLOCK_DEFAULT)
		r->options.clock = options->kind == TARGET_MACHINE ? RECORDER_CLOCK_VIRTUAL
								   : RECORDER_CLOCK_BOTH;
	launch_state_save(&r->launch_state);
	r->target = (struct target){.kind = options->kind,
		.command = options->command,
		.state = &r->launch_state,
		.pids = options->pids,
		.pid_count = options->pid_count};
	err = control_init(&r->control);
	r->control.is_alone = !options->command;
	if (!err)
		err = capture_writer_create(options->output, &r->writer);
	if (err) {
		control_deinit(&r->control);
		launch_state_restore(&r->launch_state);
		free(r);
		return err;
	}
	*recorder = r;
	return NULL;
}

static void recorder_destroy(struct recorder *r)
{
	stack_addresses_deinit(&r->addresses);
	if (r->engine)
		r->engine->ops->close(r->engine);
	recording_end(&r->recording);
	target_deinit(&r->target);
	vec_deinit(&r->polled);
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

static void add_command(struct strbuf *out, char *const *command)
{
	for (size_t i = 0; command[i]; i++) {
		strbuf_add(out, str_from(command[i]));
		strbuf_add_char(out, '\0');
	}
}

/* The command lines of the attached processes, with a "+" between them. */
static void add_processes(struct strbuf *out, const struct target *t)
{
	for (size_t i = 0; i < t->pid_count; i++) {
		if (i > 0)
			strbuf_add(out, (struct str){"+", 2});
		proc_command_line(t->pids[i], out);
	}
}

static void write_command(struct recorder *r)
{
	struct strbuf command = {0};

	switch (r->options.kind) {
	case TARGET_COMMAND:
		add_command(&command, r->options.command);
		break;
	case TARGET_PROCESSES:
		add_processes(&command, &r->target);
		break;
	case TARGET_MACHINE:
		strbuf_add(&command, STR("[whole machine]"));
		break;
	}
	capture_writer_string(r->writer, CAPTURE_COMMAND, strbuf_str(&command));
	strbuf_deinit(&command);
}

static const char *const clock_names[] = {
	[RECORDER_CLOCK_BOTH] = "both",
	[RECORDER_CLOCK_VIRTUAL] = "virtual",
	[RECORDER_CLOCK_REAL] = "real",
};

static void write_facts(struct recorder *r)
{
	struct capture_writer *w = r->writer;
	struct utsname host;

	write_command(r);
	if (uname(&host) == 0) {
		capture_writer_string(w, CAPTURE_HOST, str_from(host.nodename));
		capture_writer_string(w, CAPTURE_KERNEL, str_from(host.release));
	}
	capture_writer_string(w, CAPTURE_ENGINE, str_from(r->engine->ops->name));
	capture_writer_string(w, CAPTURE_CLOCK,
		str_from(r->engine->has_real_clock ? clock_names[r->options.clock] : "virtual"));
	capture_writer_string(w, CAPTURE_VERSION, STR(SONDE_VERSION));
	capture_writer_number(w, CAPTURE_START_UNIX_NS, clock_unix_ns());
	capture_writer_number(w, CAPTURE_START_MONOTONIC_NS, r->recording.start_ns);
	capture_writer_number(w, CAPTURE_INTERVAL_NS, r->options.interval_ns);
	capture_writer_number(w, CAPTURE_CPU_COUNT, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
}

static void write_counters(struct recorder *r)
{
	uint64_t *counters = r->recording.snapshot.counters;
	struct unwind_counts walks = unwind_walker_counts(r->recording.snapshot.walker);
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	counters[CAPTURE_LOST_RING] = counts.lost;
	counters[CAPTURE_LOST_RESTS] = counts.lost_rests;
	counters[CAPTURE_LOST_THROTTLED] = r->recording.throttled;
	counters[CAPTURE_LOST_SIDEBAND] = r->recording.lost_sideband;
	counters[CAPTURE_BROKEN_RECORDS] = counts.broken_records;
	counters[CAPTURE_REFUSED_THREADS] = counts.refused_threads;
	counters[CAPTURE_LEFT_OUT_THREADS] = counts.left_out;
	counters[CAPTURE_REUSE_CHECKED] = walks.reuse_checks;
	counters[CAPTURE_REUSE_WRONG] = walks.reuse_mismatches;
	for (uint32_t i = 0; i < CAPTURE_COUNTER_COUNT; i++)
		capture_writer_counter(r->writer, (enum capture_counter)i, counters[i]);
	for (uint32_t i = 0; i < r->options.counter_count; i++)
		capture_writer_metric_counts(r->writer, r->recording.metrics.counters + i,
			counts.counters[i].lost, counts.counters[i].events);
}

/* ---- the loop ---- */

static void drain_and_flush(struct recorder *r)
{
	if (r->stopped)
		return;
	r->engine->ops->drain(r->engine);
	capture_writer_flush(r->writer, clock_monotonic_ns());
	if (capture_writer_failed(r->writer)) {
		r->engine->ops->stop(r->engine);
		r->stopped = true;
	}
}

static void poll_set(struct recorder *r)
{
	vec_push(&r->polled, (struct pollfd){.fd = r->control.fd, .events = POLLIN});
	r->engine->ops->poll_fds(r->engine, &r->polled);
}

/* Descriptors that hung up are polled no more: they would wake us for ever. */
static void drop_hung_up(struct recorder *r)
{
	size_t kept = 1;

	for (size_t i = 1; i < r->polled.count; i++)
		if (!(r->polled.data[i].revents & (POLLHUP | POLLERR)))
			r->polled.data[kept++] = r->polled.data[i];
	r->polled.count = kept;
}

/* True: a signal has come. */
static bool wait_for_work(struct recorder *r)
{
	drain_and_flush(r);
	uint64_t wait_ns = r->engine->ops->wait_ns(r->engine);
	struct timespec timeout = {.tv_nsec = (long)wait_ns};

	if (ppoll(r->polled.data, r->stopped ? 1 : r->polled.count, &timeout, NULL) <= 0)
		return false;
	bool is_signal = r->polled.data[0].revents != 0;

	drop_hung_up(r);
	return is_signal;
}

static void tell_progress(struct recorder *r, uint64_t now_ns)
{
	struct recorder_progress progress = {
		.samples = r->recording.samples,
		.lost = r->recording.snapshot.counters[CAPTURE_LOST_RING],
		.elapsed_ns = now_ns - r->recording.start_ns,
	};

	if (r->options.progress)
		r->options.progress(r->options.progress_context, &progress);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * SECOND_NS + (uint64_t)t.tv_usec * 1000;
}

static struct budget_use use_so_far(struct recorder *r)
{
	struct rusage own;
	struct engine_counts counts;

	getrusage(RUSAGE_SELF, &own);
	r->engine->ops->counts(r->engine, &counts);
	return (struct budget_use){
		.time_ns = clock_monotonic_ns(),
		.own_cpu_ns = timeval_ns(own.ru_utime) + timeval_ns(own.ru_stime),
		.stolen_ns = counts.stolen_ns,
		.target_cpu_ns = r->recording.sampled_ns,
	};
}

static void watch_budget(struct recorder *r)
{
	if (r->options.overhead_most <= 0)
		return;
	struct budget_use use = use_so_far(r);

	if (!budget_look(&r->budget, &use))
		return;
	r->rate_changes++;
	r->engine->ops->slow_down(r->engine, r->budget.halvings);
}

/* What need not be done at every turn. */
static void look_around(struct recorder *r)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < r->progress_ns)
		return;
	r->progress_ns = now_ns + r->progress_step_ns;
	if (!r->stopped)
		r->engine->ops->watch(r->engine);
	watch_budget(r);
	write_counters(r);
	if (r->progress_step_ns == PROGRESS_NS)
		tell_progress(r, now_ns);
	else
		r->progress_step_ns *= 2;
}

static bool is_over(const struct recorder *r)
{
	if (r->target.ended || r->control.detach_signal != 0)
		return true;
	return r->options.duration_ns > 0 &&
	       clock_monotonic_ns() >= r->recording.start_ns + r->options.duration_ns;
}

/* A command's end comes with a signal; the others', and what may have been missed, by asking. */
static void look_for_end(struct recorder *r, bool is_signal)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!is_signal && now_ns < r->target_ns)
		return;
	r->target_ns = now_ns + LOOK_NS;
	target_look(&r->target);
}

static void record_to_the_end(struct recorder *r)
{
	while (!is_over(r)) {
		bool is_signal = wait_for_work(r);

		if (is_signal)
			control_read(&r->control);
		look_for_end(r, is_signal);
		look_around(r);
	}
	/* First, so that what is counted then is what was taken. */
	r->engine->ops->stop(r->engine);
	target_close_accounts(&r->target);
	drain_and_flush(r);
}

/* ---- start and end ---- */

static struct error *start(struct recorder *r)
{
	struct engine_setup setup = {&r->options, &r->recording, &r->target, {0}};
	struct error *err;

	launch_raise_ourselves();
	budget_init(&r->budget, r->options.overhead_most, ENGINE_HALVINGS);
	if (r->options.overhead_most > 0)
		(void)budget_measure_price(&setup.price);
	recording_begin(&r->recording, r->writer);
	err = engine_open(&setup, &r->engine);
	if (err)
		return err;
	recording_measure(&r->recording, r->engine->has_real_clock, r->options.counters,
		r->options.counter_count);
	poll_set(r);
	err = target_release(&r->target);
	if (!err)
		write_facts(r);
	return err;
}

/*
 * The CPU time of a command and all its children.  The system's own account leaves out what a
 * hypervisor took for others, in which no timer could fire; but it has only children that were
 * waited for, and nobody while the target lives.  The engine's clocks counted everybody.
 */
static uint64_t command_cpu_ns(const struct recorder *r, uint64_t account_ns, uint64_t counted_ns)
{
	const struct target *t = &r->target;

	/* A stopped clock counts no more. */
	if (counted_ns == UINT64_MAX || (r->stopped && t->ended))
		return account_ns;
	bool is_all = (t->ended && process_table_process_total(r->recording.processes) == 1) ||
		      account_ns >= counted_ns - counted_ns / 20;

	return is_all && account_ns < counted_ns ? account_ns : counted_ns;
}

/* The CPU time of what was recorded; UINT64_MAX: not known. */
static uint64_t cpu_time_ns(
	const struct recorder *r, struct target_cpu account, uint64_t counted_ns)
{
	const struct target *t = &r->target;

	switch (t->kind) {
	case TARGET_PROCESSES:
		/* Of descendants that have ended the system has no account. */
		if (counted_ns == UINT64_MAX &&
			process_table_process_total(r->recording.processes) <= t->processes.count)
			return target_processes_cpu_ns(t);
		return counted_ns;
	case TARGET_MACHINE:
		return account.user_ns + account.system_ns;
	case TARGET_COMMAND:
		break;
	}
	return command_cpu_ns(r, account.user_ns + account.system_ns, counted_ns);
}

/*
 * The part of it that went by in the kernel where that could not be sampled.  How it divides only
 * the system's account tells.
 */
static uint64_t unsampled_kernel_ns(
	const struct engine_counts *counts, struct target_cpu account, uint64_t cpu_ns)
{
	double user = (double)account.user_ns, system = (double)account.system_ns;

	if (counts->kernel || user + system <= 0 || cpu_ns == UINT64_MAX)
		return 0;
	return (uint64_t)((double)cpu_ns * system / (user + system));
}

/* Of that CPU time. Where the rate changed, samples of the mean weight that they had. */
static uint64_t expected_samples(const struct recorder *r, bool rate_changed, uint64_t cpu_ns)
{
	if (cpu_ns == UINT64_MAX)
		return UINT64_MAX;
	if (!rate_changed || r->recording.sampled_ns == 0)
		return cpu_ns / r->options.interval_ns;
	return (uint64_t)((double)cpu_ns * (double)r->recording.samples /
			  (double)r->recording.sampled_ns);
}

static double overhead(const struct budget_use *use, uint64_t cpu_ns)
{
	if (cpu_ns == 0 || cpu_ns == UINT64_MAX)
		return 0;
	return (double)(use->own_cpu_ns + use->stolen_ns) / (double)cpu_ns;
}

/* Whether the kernel has ended the sampling of a target that goes on. */
static bool sampling_has_ended(const struct recorder *r)
{
	const struct target *t = &r->target;
	bool any_lives = t->kind != TARGET_PROCESSES;

	for (size_t i = 0; i < t->processes.count; i++)
		any_lives |= t->processes.data[i].fd >= 0;
	return any_lives && r->engine->ops->has_ended(r->engine);
}

static void fill_counted(const struct recorder *r, const struct engine_counts *counts,
	struct recorder_result *result)
{
	result->counted_count = r->options.counter_count;
	for (size_t i = 0; i < r->options.counter_count; i++)
		result->counted[i] = (struct recorder_counted){
			.name = r->options.counters[i].name,
			.events = counts->counters[i].events,
			.weight = r->recording.counter_weight[i],
			.samples = r->recording.counter_samples[i],
			.lost = counts->counters[i].lost,
		};
}

static void fill_result(struct recorder *r, struct recorder_result *result)
{
	const struct recording *recording = &r->recording;
	const struct target *t = &r->target;
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	struct target_cpu account = target_cpu(t);
	uint64_t cpu_ns = cpu_time_ns(r, account, counts.cpu_ns);

	/* The account has programs too that the engine can't reach. */
	if (counts.by_use && account.user_ns + account.system_ns > cpu_ns)
		cpu_ns = account.user_ns + account.system_ns;
	struct budget_use use = use_so_far(r);

	*result = (struct recorder_result){
		.engine = r->engine->ops->name,
		.wait_status = t->wait_status,
		.detached = t->command && !t->ended,
		.detach_signal = t->command && !t->ended ? r->control.detach_signal : 0,
		.duration_ns = clock_monotonic_ns() - recording->start_ns,
		.cpu_ns = cpu_ns,
		.interval_ns = r->options.interval_ns,
		.samples = recording->samples,
		.truncated = snapshot_truncated(&recording->snapshot),
		.overhead = overhead(&use, cpu_ns),
		.halvings = r->budget.halvings,
		.rate_changes = r->rate_changes,
		.rate_changed = counts.rate_changed,
		.kernel_frames = counts.kernel,
		.by_use = counts.by_use,
		.unreached_cpu_ns =
			counts.by_use && cpu_ns > counts.cpu_ns ? cpu_ns - counts.cpu_ns : 0,
		.left_out = counts.left_out,
		.kernel_cpu_ns = unsampled_kernel_ns(&counts, account, cpu_ns),
		.threads = process_table_thread_total(recording->processes),
		.stopped = r->stopped,
		/* Once stopped, we are not told of ends. */
		.children_left = t->ended && !r->stopped && t->kind != TARGET_MACHINE
					 ? process_table_living(recording->processes)
					 : 0,
		.sampling_ended = sampling_has_ended(r),
	};
	result->expected = expected_samples(r, counts.rate_changed, cpu_ns - result->kernel_cpu_ns);
	memcpy(result->counters, recording->snapshot.counters, sizeof(result->counters));
	fill_counted(r, &counts, result);
}

static void write_end(struct recorder *r, const struct recorder_result *result)
{
	capture_writer_number(r->writer, CAPTURE_DURATION_NS, result->duration_ns);
	capture_writer_counter(r->writer, CAPTURE_UNSAMPLED_KERNEL_NS, result->kernel_cpu_ns);
	capture_writer_counter(r->writer, CAPTURE_UNREACHED_NS, result->unreached_cpu_ns);
	if (result->cpu_ns != UINT64_MAX)
		capture_writer_number(
			r->writer, CAPTURE_CPU_NS, result->cpu_ns - result->kernel_cpu_ns);
	if (result->rate_changed && result->expected != UINT64_MAX)
		capture_writer_number(r->writer, CAPTURE_EXPECTED, result->expected);
	if (!result->detached && r->options.kind == TARGET_COMMAND)
		capture_writer_number(
			r->writer, CAPTURE_EXIT_STATUS, (uint32_t)result->wait_status);
}

struct error *recorder_run(struct recorder *r, struct recorder_result *result)
{
	struct error *err = start(r);

	if (err)
		return err;
	record_to_the_end(r);
	r->engine->ops->stop(r->engine);
	write_counters(r);
	fill_result(r, result);
	write_end(r, result);
	return NULL;
}

/* ---- what was sampled ---- */

size_t recorder_object_count(const struct recorder *r)
{
	return object_table_count(r->recording.objects);
}

void recorder_object(struct recorder *r, uint32_t object, struct recorder_object *out)
{
	struct object_info info = object_table_info(r->recording.objects, object);

	if (!r->addresses.start)
		stack_tree_addresses(&r->recording.snapshot.tree,
			object_table_count(r->recording.objects), &r->addresses);
	size_t begin = r->addresses.start[object];

	*out = (struct recorder_object){
		.path = info.path,
		.open_path = info.open_path,
		.build_id = info.build_id,
		.kind = info.kind,
		.pid = info.pid,
		.begin_ns = info.begin_ns,
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
