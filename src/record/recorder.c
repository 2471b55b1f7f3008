/*
 * The recorder: has an engine take samples of the target until that ends, and keeps the file
 * flowing.
 */
#include "record/recorder.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "record/recorder_state.h"
#include "record/zones/zones.h"

#define PROGRESS_NS (SECOND_NS / 10)
/* At first we look sooner: a short run is over by then.  It doubles until it is that. */
#define PROGRESS_FIRST_NS (PROGRESS_NS / 32)
#define LOOK_NS		  (SECOND_NS / 50)

struct error *recorder_create(const struct recorder_options *options, struct recorder **recorder)
{
	struct recorder *r = xalloc(sizeof(*r));
	struct error *err;

	r->options = *options;
	r->progress_step_ns = PROGRESS_FIRST_NS;
	if (options->clock == RECORDER_CLOCK_DEFAULT)
		r->options.clock =
			options->kind == TARGET_MACHINE && !options->wakers && !options->locks
				? RECORDER_CLOCK_VIRTUAL
				: RECORDER_CLOCK_BOTH;
	launch_state_save(&r->launch_state);
	r->target = (struct target){.kind = options->kind,
		.command = options->command,
		.state = &r->launch_state,
		.pids = options->pids,
		.pid_count = options->pid_count};
	err = control_init(&r->control, options->keep_ns > 0);
	r->control.is_alone = !options->command;
	if (!err && options->control)
		err = command_pipe_open(&r->commands, options->control);
	if (!err)
		err = capture_writer_create(options->output, &r->writer);
	if (err) {
		command_pipe_close(&r->commands);
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
	flight_deinit(&r->flight);
	zones_destroy(r->recording.zones);
	recording_end(&r->recording);
	target_deinit(&r->target);
	vec_deinit(&r->polled);
	command_pipe_close(&r->commands);
	control_deinit(&r->control);
	launch_state_restore(&r->launch_state);
	free(r);
}

void recorder_abandon(struct recorder *r)
{
	capture_writer_abandon(r->writer);
	recorder_destroy(r);
}

/* ---- the loop ---- */

void recorder_drain(struct recorder *r)
{
	if (r->stopped)
		return;
	if (r->recording.zones)
		zones_expect_samples(r->recording.zones);
	r->engine->ops->drain(r->engine);
	if (r->recording.zones)
		zones_look(r->recording.zones, &r->target);
	capture_writer_flush(r->writer, clock_monotonic_ns());
	if (capture_writer_failed(r->writer)) {
		r->engine->ops->stop(r->engine);
		r->stopped = true;
	}
}

static void poll_set(struct recorder *r)
{
	vec_push(&r->polled, (struct pollfd){.fd = r->control.fd, .events = POLLIN});
	if (r->recording.zones && zones_fd(r->recording.zones) >= 0)
		vec_push(&r->polled,
			(struct pollfd){.fd = zones_fd(r->recording.zones), .events = POLLIN});
	if (r->commands.path)
		vec_push(&r->polled, (struct pollfd){.fd = r->commands.fd, .events = POLLIN});
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

/* When the recording is to end; UINT64_MAX: at no certain time. */
static uint64_t end_time_ns(const struct recorder *r)
{
	return r->options.duration_ns > 0
		       ? r->recording.start_ns + r->options.delay_ns + r->options.duration_ns
		       : UINT64_MAX;
}

static uint64_t time_to_wait_ns(const struct recorder *r)
{
	uint64_t wait_ns = r->engine->ops->wait_ns(r->engine);
	uint64_t now_ns = clock_monotonic_ns(), end_ns = end_time_ns(r);

	if (now_ns >= end_ns)
		return 0;
	return wait_ns < end_ns - now_ns ? wait_ns : end_ns - now_ns;
}

/* True: a signal has come. */
static bool wait_for_work(struct recorder *r)
{
	recorder_drain(r);
	uint64_t wait_ns = time_to_wait_ns(r);
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

static void watch_budget(struct recorder *r)
{
	if (r->options.overhead_most <= 0)
		return;
	struct budget_use use = recorder_use(r);

	if (!budget_look(&r->budget, &use))
		return;
	r->rate_changes++;
	r->engine->ops->slow_down(r->engine, r->budget.halvings);
}

/* What samples weigh is to follow the system's account. */
static void watch_account(struct recorder *r)
{
	struct engine_counts counts;

	if (r->stopped)
		return;
	r->engine->ops->counts(r->engine, &counts);
	account_watch_look(&r->account_watch, &r->recording, &r->target, &counts);
}

/* The clocks and the system's accounts are at their end, while samples may be left in the rings. */
static void close_accounts(struct recorder *r)
{
	struct engine_counts counts;

	target_close_accounts(&r->target);
	if (r->stopped)
		return;
	r->engine->ops->counts(r->engine, &counts);
	account_watch_end(&r->recording, &r->target, &counts);
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
	watch_account(r);
	flight_look(r, now_ns);
	recorder_write_counters(r);
	if (r->progress_step_ns == PROGRESS_NS)
		tell_progress(r, now_ns);
	else
		r->progress_step_ns *= 2;
}

static void say_unknown(const struct recorder *r)
{
	char *line = xasprintf(
		"--control: unknown command '%.200s': expected enable, disable, dump, stop",
		strbuf_str(&r->commands.unknown).data);

	if (r->options.say)
		r->options.say(line);
	free(line);
}

static void ask_for_dump(struct recorder *r)
{
	if (r->options.keep_ns == 0 && r->options.say)
		r->options.say("--control: dump is for recordings with --keep");
	r->flight.is_asked = true;
	r->progress_ns = 0; /* now */
}

static void obey(struct recorder *r)
{
	struct pauses *pauses = &r->recording.pauses;
	enum pipe_command command;

	while ((command = command_pipe_next(&r->commands)) != PIPE_NOTHING) {
		if (command == PIPE_UNKNOWN)
			say_unknown(r);
		else if (command == PIPE_STOP)
			r->commanded_stop = true;
		else if (command == PIPE_DUMP)
			ask_for_dump(r);
		else
			pauses_set(pauses, clock_monotonic_ns(), command == PIPE_DISABLE);
	}
}

static bool is_over(const struct recorder *r)
{
	return r->target.ended || r->control.detach_signal != 0 || r->commanded_stop ||
	       clock_monotonic_ns() >= end_time_ns(r);
}

/* A command's end comes with a signal; the others', and what may have been missed, by asking. */
static void look_for_end(struct recorder *r, bool is_signal)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (!is_signal && now_ns < r->target_ns)
		return;
	r->target_ns = now_ns + LOOK_NS;
	target_look(&r->target);
	if (!r->target.ended)
		r->alive_ns = now_ns;
}

/* Sampling has just been stopped, perhaps not for the first time. */
static uint64_t sampling_end_ns(const struct recorder *r)
{
	uint64_t now_ns = clock_monotonic_ns(), end_ns = end_time_ns(r);

	return r->engine->ops->stop_at && end_ns < now_ns ? end_ns : now_ns;
}

static void record_to_the_end(struct recorder *r)
{
	while (!is_over(r)) {
		bool is_signal = wait_for_work(r);

		if (is_signal)
			control_read(&r->control);
		if (r->control.wants_dump)
			ask_for_dump(r);
		r->control.wants_dump = false;
		obey(r);
		look_for_end(r, is_signal);
		look_around(r);
	}
	/* First, so that what is counted then is what was taken. */
	r->engine->ops->stop(r->engine);
	r->end_ns = sampling_end_ns(r);
	close_accounts(r);
	recorder_drain(r);
}

/* ---- start and end ---- */

static void init_weights(struct recorder *r)
{
	struct engine_counts counts;

	r->engine->ops->counts(r->engine, &counts);
	weights_init(&r->recording.weights, r->options.interval_ns, counts.by_use);
	r->recording.is_machine = r->options.kind == TARGET_MACHINE;
}

static struct error *start(struct recorder *r)
{
	struct engine_setup setup = {&r->options, &r->recording, &r->target, {0}, NULL};
	struct error *err;

	if (r->options.zones == RECORDER_ZONES_FUNCTIONS) {
		err = zones_check_functions();
		if (err)
			return err;
	}
	launch_raise_ourselves();
	budget_init(&r->budget, r->options.overhead_most, ENGINE_HALVINGS);
	if (r->options.overhead_most > 0)
		(void)budget_measure_price(&setup.price);
	recording_begin(&r->recording, r->writer);
	flight_begin(r);
	if (r->options.delay_ns > 0) {
		pauses_set(&r->recording.pauses, r->recording.start_ns, true);
		pauses_set(
			&r->recording.pauses, r->recording.start_ns + r->options.delay_ns, false);
	}
	if (r->options.kind != TARGET_COMMAND)
		process_table_read_groups(r->recording.processes, &r->recording.labels);
	r->recording.zones = zones_create(&r->recording, r->options.zones);
	if (r->recording.zones) {
		r->target.variable = zones_variable(r->recording.zones);
		r->target.preload = zones_preload(r->recording.zones);
	}
	err = engine_open(&setup, &r->engine);
	if (err)
		return err;
	init_weights(r);
	recording_measure(&r->recording, r->engine->has_real_clock, r->options.wakers,
		r->options.counters, r->options.counter_count);
	poll_set(r);
	if (r->options.duration_ns > 0 && r->engine->ops->stop_at)
		r->engine->ops->stop_at(r->engine, end_time_ns(r));
	err = target_release(&r->target);
	if (!err)
		recorder_write_facts(r);
	return err;
}

struct error *recorder_run(struct recorder *r, struct recorder_result *result)
{
	struct error *err = start(r);

	if (err)
		return err;
	record_to_the_end(r);
	/* Again: a short program's exec may have been in the last drain. */
	r->engine->ops->stop(r->engine);
	if (r->recording.zones)
		zones_end(r->recording.zones);
	recorder_write_counters(r);
	recorder_sum_up(r, result);
	recorder_settle(r, result);
	return NULL;
}

void recorder_settle(struct recorder *r, struct recorder_result *result)
{
	flight_end(r, result);
	recording_take_unsampled(
		&r->recording, STR("[kernel, not permitted]"), result->kernel_cpu_ns);
	recording_take_unsampled(&r->recording, STR("[lost]"), result->lost_cpu_ns);
	recorder_write_end(r, result);
	flight_keep_nodes(r);
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
		stack_tree_addresses(&r->recording.snapshot.tree, r->fates,
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
