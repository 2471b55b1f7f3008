/*
 * sonde agent: samples the whole machine for as long as it runs (agent/).
 *
 * Options come from the command line and from a file; those on the command line win.  They are kept
 * as they were given, so that SIGHUP can apply both again.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/config.h"
#include "base/alloc.h"
#include "base/arena.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/message.h"
#include "cli/options.h"
#include "cli/record_names.h"
#include "cli/store_options.h"
#include "session/values.h"

#define INTERVAL_DEFAULT_NS 52631579 /* 19 Hz */
#define EVERY_DEFAULT_NS    UINT64_C(60000000000)
#define SPOOL_DEFAULT_BYTES ((uint64_t)256 << 20)
/* A segment costs some tens of milliseconds of CPU time, and its name counts seconds. */
#define EVERY_MIN_NS	UINT64_C(1000000000)
#define EVERY_MAX_NS	UINT64_C(3600000000000)
#define INTERVAL_MIN_NS UINT64_C(1000000)

enum {
	OPTION_FREQUENCY,
	OPTION_CLOCK,
	OPTION_EVERY,
	OPTION_NO_SYMBOLS,
	OPTION_STORE,
	OPTION_HOST,
	OPTION_SPOOL,
	OPTION_SPOOL_MAX,
	OPTION_KEEP,
	OPTION_CPU_MAX,
	OPTION_MEMORY_MAX,
	OPTION_CONFIG,
	OPTION_METRICS,
	OPTION_LISTEN,
	OPTION_TOKEN,
};

static const char *const clock_choices[] = {"virtual", "real", NULL};

static const struct option_row sampling_rows[] = {
	{OPTION_FREQUENCY, 'F', "frequency", VALUE_NUMBER, "HZ", {0},
		"take HZ samples a second of CPU time (19), at most 1000"},
	{OPTION_CLOCK, 0, "clock", VALUE_CHOICE, "CLOCK", CHOICES(clock_choices),
		"CPU time, or also time off the CPU, which costs by the switch; default virtual"},
	{OPTION_EVERY, 0, "every", VALUE_TEXT, "TIME", {0},
		"write a segment each TIME (60s), from 1s to 1h"},
	{OPTION_NO_SYMBOLS, 0, "no-symbols", VALUE_NONE, NULL, {0},
		"leave the names of programs and libraries to 'sonde symbolize'"},
	{0},
};

static const struct option_row store_rows[] = {
	{OPTION_STORE, 0, "store", VALUE_TEXT, "URL|DIR", {0},
		"send segments to clickhouse://HOST[,HOST]/DATABASE, or write them to a folder "
		"(" AGENT_STORE_DEFAULT ")"},
	{0},
};

static const struct option_row segment_rows[] = {
	{OPTION_HOST, 0, "host", VALUE_TEXT, "NAME", {0},
		"what this machine is called in the store (default: its name)"},
	{OPTION_SPOOL, 0, "spool", VALUE_FILE, "DIR", {0},
		"let segments wait in this folder until the store has them"},
	{OPTION_SPOOL_MAX, 0, "spool-max", VALUE_TEXT, "SIZE", {0},
		"drop the oldest segments beyond SIZE (256M)"},
	{OPTION_KEEP, 0, "keep", VALUE_TEXT, "TIME", {0},
		"drop segments older than TIME, such as 48h"},
	{0},
};

static const struct option_row limit_rows[] = {
	{OPTION_CPU_MAX, 0, "cpu-max", VALUE_TEXT, "PERCENT", {0},
		"cost at most PERCENT of one CPU (1 for each 32 CPUs)"},
	{OPTION_MEMORY_MAX, 0, "memory-max", VALUE_TEXT, "SIZE", {0},
		"use at most SIZE of memory (64M, and 1M for each CPU)"},
	{0},
};

static const struct option_row listen_rows[] = {
	{OPTION_LISTEN, 0, "listen", VALUE_TEXT, "ADDRESS", {0},
		"take OTLP and Pyroscope's pushes over HTTP, and answer /metrics, at HOST:PORT, "
		":PORT or a socket's path"},
	{OPTION_TOKEN, 0, "token", VALUE_FILE, "FILE", {0},
		"accept only clients that send the token in FILE; needed except at 127.0.0.1"},
	{0},
};

static const struct option_row other_rows[] = {
	{OPTION_CONFIG, 0, "config", VALUE_FILE, "FILE", {0},
		"read options from FILE, as 'name = value' lines, again at SIGHUP"},
	{OPTION_METRICS, 0, "metrics", VALUE_FILE, "FILE", {0},
		"write the agent's health to FILE, in Prometheus's text format"},
	{0},
};

static const struct option_group groups[] = {
	{"Sampling", sampling_rows},
	{"Segments", store_rows},
	{"Segments", store_access_rows},
	{"Segments", segment_rows},
	{"Limits", limit_rows},
	{"Other programs' profiles", listen_rows},
	{"Operation", other_rows},
	{0},
};

/* An option as given. */
struct given {
	int id;
	const char *value;
};

struct agent_request {
	VEC(struct given) given; /* on the command line */
	const char *config;	 /* NULL: none */
	struct arena *arena; /* of values from the file; they stay for ever, as reloads are rare */
};

/* What a file's lines are applied to. */
struct config_target {
	struct agent_request *request;
	struct agent_settings *settings;
};

static struct error *set_interval(struct agent_settings *s, const char *value)
{
	uint64_t interval_ns;
	struct error *err = value_frequency(value, &interval_ns);

	if (!err && interval_ns < INTERVAL_MIN_NS)
		err = error_new(ERROR_USAGE,
			"an agent samples at most 1000 times a second; sonde record -a samples "
			"more often");
	if (!err)
		s->interval_ns = interval_ns;
	return err;
}

static struct error *set_every(struct agent_settings *s, const char *value)
{
	uint64_t every_ns;
	struct error *err = value_time(value, &every_ns);

	if (!err && (every_ns < EVERY_MIN_NS || every_ns > EVERY_MAX_NS))
		err = error_new(ERROR_USAGE, "expected 1s to 1h, found '%s'", value);
	if (!err)
		s->every_ns = every_ns;
	return err;
}

static struct error *set_path(const char **path, const char *value)
{
	if (!*value)
		return error_new(ERROR_USAGE, "expected a path, found nothing");
	*path = value;
	return NULL;
}

static struct error *apply(struct agent_settings *s, int id, const char *value)
{
	switch (id) {
	case OPTION_FREQUENCY:
		return set_interval(s, value);
	case OPTION_CLOCK:
		s->real = strcmp(value, "real") == 0;
		return NULL;
	case OPTION_EVERY:
		return set_every(s, value);
	case OPTION_NO_SYMBOLS:
		s->no_symbols = true;
		return NULL;
	case OPTION_STORE:
		return set_path(&s->store, value);
	case STORE_OPTION_CREDENTIALS:
		return set_path(&s->credentials, value);
	case STORE_OPTION_CA:
		return set_path(&s->ca_file, value);
	case OPTION_HOST:
		return set_path(&s->host, value);
	case OPTION_SPOOL:
		return set_path(&s->spool, value);
	case OPTION_SPOOL_MAX:
		return value_size(value, &s->spool_bytes);
	case OPTION_KEEP:
		return value_time(value, &s->keep_ns);
	case OPTION_CPU_MAX:
		return value_percent(value, &s->cpu_share);
	case OPTION_MEMORY_MAX:
		return value_size(value, &s->memory_bytes);
	case OPTION_LISTEN:
		return set_path(&s->listen, value);
	case OPTION_TOKEN:
		return set_path(&s->token, value);
	case OPTION_METRICS:
		return set_path(&s->metrics, value);
	default:
		return NULL;
	}
}

/* ---- the file ---- */

static const struct option_row *find_row(const char *name)
{
	for (const struct option_group *g = groups; g->rows; g++)
		for (const struct option_row *row = g->rows; option_row_exists(row); row++)
			if (strcmp(row->long_name, name) == 0)
				return row;
	return NULL;
}

static struct error *set_from_file(void *context, const char *name, const char *value)
{
	struct config_target *target = context;
	const struct option_row *row = find_row(name);
	struct error *err = NULL;

	if (!row || row->id == OPTION_CONFIG)
		return error_new(ERROR_USAGE,
			"'%s' is not an option; 'sonde help agent' lists them, and the file has "
			"them without '--'",
			name);
	if ((row->value == VALUE_NONE) != (value == NULL))
		return error_new(ERROR_USAGE, "%s %s", name,
			value ? "has no value" : "needs a value: name = value");
	if (row->value == VALUE_CHOICE)
		err = option_check(row, &value);
	if (!err && value)
		value = arena_str(target->request->arena, str_from(value)).data;
	if (!err)
		err = apply(target->settings, row->id, value);
	return err ? error_prefix(err, "%s", name) : NULL;
}

/* Defaults, then the file, then the command line. */
static struct error *load(void *context, struct agent_settings *settings)
{
	struct agent_request *request = context;
	struct config_target target = {request, settings};
	struct error *err = NULL;

	*settings = (struct agent_settings){
		.interval_ns = INTERVAL_DEFAULT_NS,
		.every_ns = EVERY_DEFAULT_NS,
		.store = AGENT_STORE_DEFAULT,
		.spool_bytes = SPOOL_DEFAULT_BYTES,
	};
	if (request->config)
		err = config_read(request->config, set_from_file, &target);
	for (size_t i = 0; i < request->given.count && !err; i++)
		err = apply(settings, request->given.data[i].id, request->given.data[i].value);
	return err;
}

/* ---- the command ---- */

static struct error *agent_set(void *context, int id, const char *value)
{
	struct agent_request *request = context;
	struct agent_settings ignored = {0};

	if (id == OPTION_CONFIG)
		return set_path(&request->config, value);
	vec_push(&request->given, (struct given){id, value});
	return apply(&ignored, id, value);
}

static size_t names(struct recorder *recorder, bool later, uint64_t memory_max)
{
	const struct record_names_options options = {.later = later, .memory_max = memory_max};

	return record_names(recorder, &options);
}

static void say(const char *line)
{
	message_print("%s", line);
}

static int agent_run_command(const struct command *self, int argc, char **argv)
{
	struct agent_request request = {.arena = arena_create()};
	const struct agent_hooks hooks = {{names, say}, load, &request};
	struct agent_settings settings;
	struct operands operands;
	int status;

	if (options_parse(self, argc, argv, agent_set, &request, &operands, &status)) {
		struct error *err = operands.count > 0
					    ? error_new(ERROR_USAGE,
						      "unexpected '%s': an agent samples the whole "
						      "machine",
						      operands.items[0])
					    : load(&request, &settings);

		if (!err)
			err = agent_run(&settings, &hooks);
		status = err ? options_failure(self, err) : EXIT_SUCCESS;
	}
	vec_deinit(&request.given);
	arena_destroy(request.arena);
	return status;
}

const struct command cmd_agent = {
	.name = "agent",
	.summary = "sample the whole machine all the time, at a bounded cost",
	.usage = "[OPTIONS]",
	.details =
		"Samples all processes until it is stopped, and writes a recording each minute, "
		"a segment, which every command reads. Samples have the labels service, unit, "
		"container and command.\n\nThe agent keeps to a budget of CPU time and memory: it "
		"halves its rate, and then pauses. A sample weighs its interval, so totals stay "
		"right.\n\nSIGTERM and SIGINT end it, with a last segment; SIGHUP reads the file "
		"of --config again.",
	.groups = groups,
	.operand = OPERAND_NONE,
	.run = agent_run_command,
};
