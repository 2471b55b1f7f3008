/*
 * Options of a recording.
 */
#include "cli/record_options.h"

#include <string.h>

#include "analysis/when.h"
#include "record/events/event_ability.h"
#include "record/processes/proc.h"
#include "record/recorder.h"
#include "session/values.h"

enum {
	OPTION_OUTPUT = 1,
	OPTION_FREQUENCY,
	OPTION_INTERVAL,
	OPTION_CLOCK,
	OPTION_ENGINE,
	OPTION_MAX_OVERHEAD,
	OPTION_PID,
	OPTION_CGROUP,
	OPTION_ALL,
	OPTION_DURATION,
	OPTION_DELAY,
	OPTION_CONTROL,
	OPTION_KEEP,
	OPTION_TICK_OVER,
	OPTION_EVENT,
	OPTION_WAKERS,
	OPTION_LOCKS,
	OPTION_QUIET,
	OPTION_WHEN,
	OPTION_ZONES,
	OPTION_NO_SYMBOLS,
	OPTION_TAIL_CALLS,
};

static const char *const clock_choices[] = {"virtual", "real", "both", NULL};
/* Indexed by enum recorder_engine. */
static const char *const engine_choices[] = {"auto", "snapshot", "preload", "exact", NULL};

/* Indexed by enum recorder_zones. */
static const char *const zones_choices[] = {"auto", "none", "events", "functions", NULL};

const struct option_row record_sample_rows[] = {
	{OPTION_FREQUENCY, 'F', "frequency", VALUE_NUMBER, "HZ", {0},
		"take HZ samples a second of CPU time (about 1000)"},
	{OPTION_INTERVAL, 0, "interval", VALUE_TEXT, "TIME", {0},
		"take a sample every TIME of CPU time, such as 500us or 10ms"},
	{OPTION_CLOCK, 0, "clock", VALUE_CHOICE, "CLOCK", CHOICES(clock_choices),
		"the clock: CPU time, CPU and blocked time, or both; default both, virtual with "
		"-a"},
	{OPTION_ENGINE, 0, "engine", VALUE_CHOICE, "ENGINE", CHOICES(engine_choices),
		"the sampling engine: perf events, a preloaded library, or perf events and BPF; "
		"default auto"},
	{OPTION_EVENT, 'e', "event", VALUE_TEXT, "LIST", {0},
		"also count and sample these events, such as page-faults,cycles; list prints all"},
	{OPTION_WAKERS, 0, "wakers", VALUE_NONE, NULL, {0},
		"record which thread wakes a waiting thread, and how long that then waits for a "
		"CPU; needs privileges"},
	{OPTION_LOCKS, 0, "locks", VALUE_NONE, NULL, {0},
		"record which locks threads wait for, and which threads hold them"},
	{OPTION_ZONES, 0, "zones", VALUE_CHOICE, "WHAT", CHOICES(zones_choices),
		"what to record of programs with zones (prof.h): zones and frames, nothing, also "
		"each event, or functions as zones; default auto"},
	{OPTION_MAX_OVERHEAD, 0, "max-overhead", VALUE_TEXT, "PERCENT", {0},
		"sample less often if recording costs more than PERCENT of the program's CPU time"},
	{OPTION_PID, 'p', "pid", VALUE_TEXT, "LIST", {0},
		"attach to running processes, by id or name, and their descendants"},
	{OPTION_CGROUP, 0, "cgroup", VALUE_TEXT, "LIST", {0},
		"attach to the processes in these control groups, units or containers"},
	{0},
};

const struct option_row record_option_rows[] = {
	{OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", {0},
		"write the recording to FILE instead of sonde.prof; - is standard output"},
	{OPTION_ALL, 'a', "all", VALUE_NONE, NULL, {0},
		"record all processes on the machine; needs privileges"},
	{OPTION_DURATION, 0, "duration", VALUE_TEXT, "TIME", {0},
		"end the recording after TIME, such as 10s; the recorded programs continue"},
	{OPTION_DELAY, 0, "delay", VALUE_TEXT, "TIME", {0},
		"leave out the first TIME, such as a program's start"},
	{OPTION_CONTROL, 0, "control", VALUE_FILE, "FIFO", {0},
		"execute commands from FIFO: disable, enable, dump, stop"},
	{OPTION_TAIL_CALLS, 0, "tail-calls", VALUE_NONE, NULL, {0},
		"also show callers that left no frame, as they jumped to what they called"},
	{OPTION_QUIET, 'q', "quiet", VALUE_NONE, NULL, {0},
		"print no progress and no summary; problems are still reported"},
	{0},
};

const struct option_row record_alone_rows[] = {
	{OPTION_KEEP, 0, "keep", VALUE_TEXT, "TIME", {0},
		"keep only the last TIME; dump or SIGUSR2 writes it to FILE with a number and "
		"continues"},
	{OPTION_TICK_OVER, 0, "tick-over", VALUE_TEXT, "[STREAM=]TIME", {0},
		"with --keep: also write it when a frame of a program with zones takes TIME or "
		"more"},
	{OPTION_WHEN, 0, "when", VALUE_TEXT, "PATTERN", {0},
		"keep only the stacks that match, count the others; see 'sonde help when'"},
	{OPTION_NO_SYMBOLS, 0, "no-symbols", VALUE_NONE, NULL, {0},
		"leave the names of programs and libraries to 'sonde symbolize'"},
	{0},
};

struct record_request record_request_default(void)
{
	return (struct record_request){
		.output = RECORD_OUTPUT_DEFAULT,
		.interval_ns = RECORD_INTERVAL_DEFAULT,
		.hint = true,
	};
}

/*
 * Even periods become odd, to avoid running in step with a program that does something every
 * millisecond.
 */
static struct error *set_interval(struct record_request *request, uint64_t interval_ns)
{
	if (interval_ns < RECORD_INTERVAL_MIN)
		return error_new(ERROR_USAGE,
			"more often than the kernel can sample; the maximum is 100 kHz, or 10 us");
	request->interval_ns = interval_ns | 1;
	return NULL;
}

static struct error *check_keep(const struct record_request *request)
{
	if (request->tick_over_ns > 0 && request->keep_ns == 0)
		return error_new(ERROR_USAGE, "--tick-over is for --keep");
	if (request->keep_ns > 0 && request->zones == RECORDER_ZONES_EVENTS)
		return error_new(ERROR_USAGE, "--keep cannot record each zone event; "
					      "--zones=auto records their times");
	return NULL;
}

/* Checks the requirements of an option about waits. */
static struct error *check_waits(const struct record_request *request, const char *option)
{
	if (request->clock == RECORDER_CLOCK_VIRTUAL)
		return error_new(ERROR_USAGE,
			"%s is about time off the CPU, which --clock virtual leaves out", option);
	if (request->engine == RECORDER_ENGINE_PRELOAD)
		return error_new(ERROR_USAGE,
			"%s needs perf events, which --engine preload does not use", option);
	return NULL;
}

struct error *record_request_target(struct record_request *request, const struct operands *operands)
{
	bool others = request->everybody || request->pid_count > 0;

	if (request->everybody && request->pid_count > 0)
		return error_new(ERROR_USAGE, "-p and --cgroup are for some processes, -a for all");
	if (operands->count == 0 && !others)
		return error_new(
			ERROR_USAGE, "nothing to record: give a command, -p, --cgroup or -a");
	if (request->events.specs.count > 0 && request->engine == RECORDER_ENGINE_PRELOAD)
		return error_new(
			ERROR_USAGE, "-e takes perf events, which --engine preload is without");
	request->command = operands->count > 0 ? operands->items : NULL;
	struct error *err = check_keep(request);

	if (!err && request->no_symbols && request->when.size)
		err = error_new(ERROR_USAGE, "--when needs names, which --no-symbols leaves out");
	if (!err && request->wakers)
		err = check_waits(request, "--wakers");
	return !err && request->locks ? check_waits(request, "--locks") : err;
}

static struct error *add_pid(struct record_request *request, pid_t pid)
{
	for (size_t i = 0; i < request->pid_count; i++)
		if (request->pids[i] == pid)
			return NULL;
	if (request->pid_count == RECORD_PIDS_MAX)
		return error_new(
			ERROR_USAGE, "more than %d processes; -a takes all", RECORD_PIDS_MAX);
	request->pids[request->pid_count++] = pid;
	return NULL;
}

/* Adds all processes with that name; they are listed when recording begins. */
static struct error *add_named(struct record_request *request, struct str name)
{
	pid_vec found = {0};
	struct error *err = NULL;

	task_scan_named(name, &found);
	if (found.count == 0)
		err = error_new(ERROR_USAGE,
			"no running process is called '%.*s'; 'pgrep -l' lists those that are "
			"called so in part",
			STR_ARG(name));
	for (size_t i = 0; i < found.count && err == NULL; i++)
		err = add_pid(request, found.data[i]);
	vec_deinit(&found);
	request->by_name = true;
	return err;
}

/* Adds those of a control group, in the same way. */
static struct error *add_cgroup(struct record_request *request, const char *text, size_t size)
{
	pid_vec found = {0};
	struct error *err = NULL;

	if (size == 0)
		return error_new(
			ERROR_USAGE, "expected the name of a control group, found nothing");
	task_scan_cgroup((struct str){text, size}, &found);
	if (found.count == 0)
		err = error_new(ERROR_USAGE,
			"no process is in a control group '%.*s'; 'systemd-cgls' shows them, or "
			"/proc/PID/cgroup",
			(int)size, text);
	for (size_t i = 0; i < found.count && err == NULL; i++)
		err = add_pid(request, found.data[i]);
	vec_deinit(&found);
	request->by_name = true;
	return err;
}

/* Adds a process by id or name. */
static struct error *add_process(struct record_request *request, const char *text, size_t size)
{
	char number[16];
	uint64_t pid;

	if (size == 0)
		return error_new(ERROR_USAGE, "expected a process id or a name, found nothing");
	if (strspn(text, "0123456789") < size)
		return add_named(request, (struct str){text, size});
	if (size >= sizeof(number))
		return error_new(ERROR_USAGE, "'%.*s' is not a process id", (int)size, text);
	memcpy(number, text, size);
	number[size] = '\0';
	struct error *err = value_count(number, 1, INT32_MAX, &pid);

	return err ? err : add_pid(request, (pid_t)pid);
}

typedef struct error *add_fn(struct record_request *request, const char *text, size_t size);

/* Adds each item of a comma-separated list. */
static struct error *add_list(struct record_request *request, const char *list, add_fn *add)
{
	for (bool more = true; more;) {
		size_t size = strcspn(list, ",");
		struct error *err = add(request, list, size);

		if (err)
			return err;
		more = list[size] == ',';
		list += size + more;
	}
	return NULL;
}

/* The index of a choice, which must be valid. */
static size_t choice_of(const char *const *choices, const char *name)
{
	size_t i = 0;

	while (strcmp(choices[i], name) != 0)
		i++;
	return i;
}

static enum recorder_clock clock_of(const char *name)
{
	if (strcmp(name, "virtual") == 0)
		return RECORDER_CLOCK_VIRTUAL;
	return strcmp(name, "real") == 0 ? RECORDER_CLOCK_REAL : RECORDER_CLOCK_BOTH;
}

/* Checks that each can be counted here, so that a recording never has a metric without counts. */
static struct error *check_events(const struct record_request *request, size_t first)
{
	struct error *err = NULL;

	for (size_t i = first; i < request->events.specs.count && err == NULL; i++)
		err = event_refusal(&request->events.specs.data[i]);
	if (err == NULL && request->events.specs.count > RECORDER_COUNTERS_MAX)
		err = error_new(ERROR_USAGE, "%zu events are too many; %d go into one recording",
			request->events.specs.count, RECORDER_COUNTERS_MAX);
	return err;
}

static struct error *add_events(struct record_request *request, const char *names)
{
	size_t before = request->events.specs.count;
	struct error *err;

	if (strcmp(names, "list") == 0 || strcmp(names, "help") == 0) {
		request->lists_events = true;
		return NULL;
	}
	err = event_list_add(&request->events, names);
	return err ? err : check_events(request, before);
}

static struct error *add_when(struct record_request *request, const char *pattern)
{
	struct when *when;
	struct error *err = value_when_error(when_compile(str_from(pattern), WHEN_OBJECTS, &when));

	if (err)
		return err;
	when_destroy(when);
	strbuf_add(&request->when, (struct str){pattern, strlen(pattern) + 1});
	return NULL;
}

struct error *record_options_set(void *context, int id, const char *value)
{
	struct record_request *request = context;
	struct error *err = NULL;
	uint64_t interval_ns = 0;

	switch (id) {
	case OPTION_OUTPUT:
		request->output = value;
		break;
	case OPTION_FREQUENCY:
		err = value_frequency(value, &interval_ns);
		if (!err)
			err = set_interval(request, interval_ns);
		break;
	case OPTION_INTERVAL:
		err = value_time(value, &interval_ns);
		if (!err)
			err = set_interval(request, interval_ns);
		break;
	case OPTION_MAX_OVERHEAD:
		err = value_percent(value, &request->overhead_most);
		break;
	case OPTION_PID:
		err = add_list(request, value, add_process);
		break;
	case OPTION_CGROUP:
		err = add_list(request, value, add_cgroup);
		break;
	case OPTION_ALL:
		request->everybody = true;
		break;
	case OPTION_DURATION:
		err = value_time(value, &request->duration_ns);
		break;
	case OPTION_DELAY:
		err = value_time(value, &request->delay_ns);
		break;
	case OPTION_CONTROL:
		request->control = value;
		break;
	case OPTION_KEEP:
		err = value_time(value, &request->keep_ns);
		break;
	case OPTION_TICK_OVER:
		request->tick_stream = value_stream(&value);
		err = value_time(value, &request->tick_over_ns);
		break;
	case OPTION_ENGINE:
		request->engine = (enum recorder_engine)choice_of(engine_choices, value);
		break;
	case OPTION_EVENT:
		return add_events(request, value);
	case OPTION_WAKERS:
		request->wakers = true;
		break;
	case OPTION_LOCKS:
		request->locks = true;
		break;
	case OPTION_WHEN:
		return add_when(request, value);
	case OPTION_TAIL_CALLS:
		request->tail_calls = true;
		break;
	case OPTION_NO_SYMBOLS:
		request->no_symbols = true;
		break;
	case OPTION_QUIET:
		request->quiet = true;
		break;
	case OPTION_CLOCK:
		request->clock = clock_of(value);
		break;
	case OPTION_ZONES:
		request->zones = (enum recorder_zones)choice_of(zones_choices, value);
		break;
	default:
		break;
	}
	return err;
}
