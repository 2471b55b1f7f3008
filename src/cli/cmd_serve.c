/* sonde serve FILE...: answers questions about recordings until it is stopped (serve/). */

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/options.h"
#include "cli/store_options.h"
#include "serve/http.h"
#include "serve/mcp.h"
#include "session/values.h"
#include "symbolize/build_source.h"

enum {
	OPTION_MCP,
	OPTION_SOURCE_ROOT,
	OPTION_DEBUGINFOD,
	OPTION_PORT,
	OPTION_SOCKET,
	OPTION_NO_BROWSER,
};

static const struct option_row serve_rows[] = {
	{OPTION_PORT, 0, "port", VALUE_NUMBER, "N", {0},
		"listen at this port of 127.0.0.1 (default: a free one)"},
	{OPTION_SOCKET, 0, "socket", VALUE_FILE, "PATH", {0},
		"listen at a Unix socket instead, which only you can reach"},
	{OPTION_NO_BROWSER, 0, "no-browser", VALUE_NONE, NULL, {0}, "do not open a browser"},
	{OPTION_MCP, 0, "mcp", VALUE_NONE, NULL, {0},
		"serve coding agents: the Model Context Protocol on standard input"},
	{OPTION_SOURCE_ROOT, 0, "source-root", VALUE_FILE, "DIR", {0},
		"show sources and code below DIR only (default: this folder)"},
	{OPTION_DEBUGINFOD, 0, "debuginfod", VALUE_NONE, NULL, {0},
		"fetch sources that DIR lacks from the servers in DEBUGINFOD_URLS"},
	{0},
};

struct serve_options {
	bool debuginfod;
	bool mcp, is_http; /* is_http: an option of that was given */
	struct http_options http;
	const char *source_root;
	struct read_options input;
	struct store_options store; /* in place of files */
};

static struct error *set_port(struct serve_options *o, const char *value)
{
	uint64_t port;
	struct error *err = value_count(value, 1, UINT16_MAX, &port);

	if (err == NULL)
		o->http.port = (uint16_t)port;
	o->is_http = true;
	return err;
}

static struct error *serve_set(void *context, int id, const char *value)
{
	struct serve_options *o = context;

	switch (id) {
	case OPTION_MCP:
		o->mcp = true;
		return NULL;
	case OPTION_SOURCE_ROOT:
		o->source_root = value;
		return NULL;
	case OPTION_DEBUGINFOD:
		o->debuginfod = true;
		return NULL;
	case OPTION_PORT:
		return set_port(o, value);
	case OPTION_SOCKET:
		o->http.socket = value;
		o->is_http = true;
		return NULL;
	case OPTION_NO_BROWSER:
		o->http.opens_browser = false;
		o->is_http = true;
		return NULL;
	case INPUT_OPTION_FROM:
	case INPUT_OPTION_EXE:
	case INPUT_OPTION_JOBS:
		return input_options_set(&o->input, id, value);
	default:
		return store_options_set(&o->store, id, value);
	}
}

/* Each answer asks for itself; what none could use is an error at once. */
static struct error *allow_debuginfod(struct served *served)
{
	struct build_source *source;
	struct error *err = build_source_debuginfod(0, &source);

	if (err)
		return err;
	build_source_destroy(source);
	served->open_source = build_source_debuginfod;
	return NULL;
}

static struct error *serve(struct serve_options *options, const struct operands *operands)
{
	const char *const default_paths[] = {
		options->store.address ? STORE_SELECT_ALL : "sonde.prof"};
	bool is_named = operands->count > 0;
	struct served served;
	struct error *err;

	/* Any question may come. */
	options->store.query.by_label = options->store.query.by_time = true;
	err = store_options_read_from(&options->store, &options->input);
	if (err)
		return err;
	err = served_init(&served, is_named ? (const char *const *)operands->items : default_paths,
		is_named ? (size_t)operands->count : 1, options->source_root);

	served.input = options->input;
	if (err == NULL && options->debuginfod)
		err = allow_debuginfod(&served);
	if (err == NULL && options->mcp)
		err = mcp_serve(&served, STDIN_FILENO, STDOUT_FILENO);
	else if (err == NULL)
		err = http_serve(&served, &options->http);
	served_deinit(&served);
	return err;
}

static int serve_run(const struct command *self, int argc, char **argv)
{
	struct serve_options options = {.http.opens_browser = true};
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, serve_set, &options, &operands, &status))
		return status;
	if (options.mcp && options.is_http)
		return options_usage_error(self, "--mcp is in place of a port, socket or browser");
	if (options.http.port && options.http.socket)
		return options_usage_error(self, "--port and --socket both say where to listen");
	struct error *err = serve(&options, &operands);

	store_options_deinit(&options.store);
	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {
	{"Serving", serve_rows},
	{"Input", input_rows},
	STORE_QUERY_GROUPS,
	{0},
};

const struct command cmd_serve = {
	.name = "serve",
	.summary = "answer questions on recordings, in a browser or from coding agents",
	.usage = "[FILE...] [OPTIONS]",
	.details = "FILE is sonde.prof by default. Each is read when it is first asked for, and "
		   "kept.\n\nsonde prints a URL and opens it in a browser. Only this machine can "
		   "reach it, with the token in the URL; when you are logged in from elsewhere, "
		   "sonde also prints the ssh command for a tunnel.\n\nWith --mcp, sonde speaks "
		   "the Model Context Protocol on standard input "
		   "and output, as coding agents start it: tools that report where the time goes, "
		   "who calls a function, which lines are slow, and what changed. Answers are "
		   "short, as with --brief. An agent or "
		   "a browser reaches only the files named here, and sources "
		   "and programs below DIR that they name. The page of a store compares "
		   "any two selections of the store.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.run = serve_run,
};
