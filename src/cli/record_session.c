/*
 * A recording session: a recorder, its progress on the terminal, names, and the summary.
 */
#include "cli/record_session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/command_path.h"
#include "cli/message.h"
#include "cli/record_names.h"
#include "cli/record_summary.h"
#include "cli/record_when.h"
#include "record/recorder.h"
#include "view/text/units.h"

/* ---- progress ---- */

/* The cursor returns to the line's start, so that the target's own output overwrites it. */
static void show_progress(void *context, const struct recorder_progress *progress)
{
	struct strbuf line = {0};

	(void)context;
	strbuf_add(&line, STR("\033[Ksonde: "));
	number_put(&line, progress->samples);
	strbuf_add(&line, STR(" samples, "));
	number_put(&line, progress->lost);
	strbuf_add(&line, STR(" lost, "));
	strbuf_printf(&line, "%.1f s\r", (double)progress->elapsed_ns / 1e9);
	if (write(STDERR_FILENO, line.data, line.size) < 0)
		errno = 0; /* nobody can see the error */
	strbuf_deinit(&line);
}

static bool progress_is_wanted(const struct record_request *request)
{
	const char *terminal = getenv("TERM");

	return !request->quiet && isatty(STDERR_FILENO) && terminal &&
	       strcmp(terminal, "dumb") != 0;
}

static void clear_progress(void)
{
	if (write(STDERR_FILENO, "\033[K", 3) < 0)
		errno = 0;
}

/* ---- the session ---- */

static int exec_failure_status(int code)
{
	return code == ENOENT || code == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static void fail(struct record_outcome *outcome, int status, struct error *err)
{
	*outcome = (struct record_outcome){.status = status};
	message_error(err);
}

static void set_outcome(struct record_outcome *outcome, const struct recorder_result *result)
{
	*outcome = (struct record_outcome){.recorded = true};
	if (result->detached)
		outcome->raise_signal = result->detach_signal;
	else if (WIFSIGNALED(result->wait_status))
		outcome->raise_signal = WTERMSIG(result->wait_status);
	else
		outcome->status = WEXITSTATUS(result->wait_status);
}

static void note_nameless(void *context, struct str path, bool is_replaced)
{
	record_summary_nameless(context, path, is_replaced);
}

/* Resolves names, finishes the file and prints messages; false: the file is incomplete. */
static bool finish(const struct record_request *request, struct recorder *recorder,
	const struct recorder_result *result, const char *path)
{
	struct record_summary summary = {.result = result,
		.output = path,
		.overhead_most = request->overhead_most,
		.leaves_names = request->no_symbols};
	struct error *err;

	const struct record_names_options names = {.later = request->no_symbols,
		.tail_calls = request->tail_calls,
		.nameless = note_nameless,
		.context = &summary};

	if (!capture_writer_failed(recorder_writer(recorder)))
		(void)record_names(recorder, &names);
	err = result->is_dump
		      ? capture_writer_finish(recorder_writer(recorder), &summary.size_bytes)
		      : recorder_finish(recorder, &summary.size_bytes);
	bool is_good = err == NULL;
	if (err)
		message_error(err);
	else if (request->when.size > 0)
		record_when(path, strbuf_str(&request->when), &summary);
	record_summary_print(&summary, request->quiet, request->hint && is_good);
	record_summary_deinit(&summary);
	if (request->written)
		request->written(request->written_data, is_good ? path : NULL);
	return is_good;
}

static void finish_dump(
	void *context, struct recorder *recorder, struct recorder_result *result, const char *path)
{
	const struct record_request *request = context;

	if (progress_is_wanted(request))
		clear_progress();
	(void)finish(request, recorder, result, path);
}

static void say_line(const char *line)
{
	message_print("%s", line);
}

void record_request_deinit(struct record_request *request)
{
	event_list_deinit(&request->events);
	strbuf_deinit(&request->when);
}

/* Borrows the request's texts. */
static struct recorder_options recorder_options_of(
	const struct record_request *request, bool progress)
{
	return (struct recorder_options){
		.kind = request->everybody	 ? TARGET_MACHINE
			: request->pid_count > 0 ? TARGET_PROCESSES
						 : TARGET_COMMAND,
		.command = request->command,
		.pids = request->pids,
		.pid_count = request->pid_count,
		.delay_ns = request->delay_ns,
		.duration_ns = request->duration_ns,
		.control = request->control,
		.keep_ns = request->keep_ns,
		.tick_over_ns = request->tick_over_ns,
		.tick_stream = request->tick_stream,
		.dump = finish_dump,
		.dump_context = (void *)request,
		.when = strbuf_str(&request->when),
		.output = request->output,
		.interval_ns = request->interval_ns,
		.overhead_most = request->overhead_most,
		.clock = request->clock,
		.wakers = request->wakers,
		.locks = request->locks,
		.zones = request->zones,
		.counters = event_list_counters(&request->events),
		.counter_count = request->events.specs.count,
		.progress = progress ? show_progress : NULL,
		.engine = request->engine,
		.say = say_line,
	};
}

/* Prints the processes selected by name. */
static void print_processes(const struct record_request *request)
{
	struct strbuf list = {0};

	for (size_t i = 0; i < request->pid_count; i++)
		strbuf_printf(&list, "%s%d", i ? ", " : "", (int)request->pids[i]);
	message_print("recording process%s %s", request->pid_count == 1 ? "" : "es", list.data);
	strbuf_deinit(&list);
}

void record_session_run(const struct record_request *request, struct record_outcome *outcome)
{
	bool progress = progress_is_wanted(request);
	struct recorder_options options = recorder_options_of(request, progress);
	struct recorder_result result;
	struct recorder *recorder;
	struct error *err = request->command ? command_path_check(request->command[0]) : NULL;

	if (err) {
		fail(outcome, exec_failure_status(err->code), err);
		return;
	}
	err = recorder_create(&options, &recorder);
	if (err) {
		fail(outcome, EXIT_OWN_FAILURE, err);
		return;
	}
	if (request->by_name && !request->quiet)
		print_processes(request);
	err = recorder_run(recorder, &result);
	if (err) {
		recorder_abandon(recorder);
		fail(outcome,
			err->kind == ERROR_SYSTEM ? exec_failure_status(err->code)
						  : EXIT_OWN_FAILURE,
			err);
		return;
	}
	if (progress)
		clear_progress();
	set_outcome(outcome, &result);
	outcome->recorded = finish(request, recorder, &result, request->output);
}

int record_session_exit(const struct record_outcome *outcome)
{
	struct rlimit no_core = {0};
	struct sigaction usual = {.sa_handler = SIG_DFL};
	sigset_t one;

	if (outcome->raise_signal == 0)
		return outcome->status;
	fflush(NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	sigaction(outcome->raise_signal, &usual, NULL);
	sigemptyset(&one);
	sigaddset(&one, outcome->raise_signal);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(outcome->raise_signal);
	return 128 + outcome->raise_signal;
}
