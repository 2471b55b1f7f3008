/* sonde serve FILE...: answers questions about recordings until it is stopped (serve/). */

#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/options.h"
#include "serve/mcp.h"

enum { OPTION_MCP, OPTION_SOURCE_ROOT };

static const struct option_row serve_rows[] = {
	{OPTION_MCP, 0, "mcp", VALUE_NONE, NULL, {0},
		"serve coding agents: the Model Context Protocol on standard input"},
	{OPTION_SOURCE_ROOT, 0, "source-root", VALUE_FILE, "DIR", {0},
		"show sources and code below DIR only (default: this folder)"},
	{0},
};

static const struct option_row input_rows[] = {INPUT_ROW_FROM, INPUT_ROW_EXE, INPUT_ROW_JOBS, {0}};

struct serve_options {
	bool mcp;
	const char *source_root;
	struct read_options input;
};

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
	default:
		return input_options_set(&o->input, id, value);
	}
}

static struct error *serve(const struct serve_options *options, const struct operands *operands)
{
	static const char *const default_paths[] = {"sonde.prof"};
	bool is_named = operands->count > 0;
	struct served served;
	struct error *err = served_init(&served,
		is_named ? (const char *const *)operands->items : default_paths,
		is_named ? (size_t)operands->count : 1, options->source_root);

	served.input = options->input;
	if (err == NULL)
		err = mcp_serve(&served, STDIN_FILENO, STDOUT_FILENO);
	served_deinit(&served);
	return err;
}

static int serve_run(const struct command *self, int argc, char **argv)
{
	struct serve_options options = {0};
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, serve_set, &options, &operands, &status))
		return status;
	if (!options.mcp)
		return options_usage_error(self, "--mcp is expected");
	struct error *err = serve(&options, &operands);

	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {
	{"Serving", serve_rows},
	{"Input", input_rows},
	{0},
};

const struct command cmd_serve = {
	.name = "serve",
	.summary = "answer questions about recordings, for coding agents",
	.usage = "--mcp [FILE...] [OPTIONS]",
	.details =
		"FILE is sonde.prof by default. Each is read when it is first asked for, and "
		"kept.\n\nWith --mcp, sonde speaks the Model Context Protocol on standard input "
		"and output, as coding agents start it: tools that report where the time goes, "
		"who calls a function, which lines are slow, and what changed. Answers are "
		"short, as with --brief. An agent reaches only the files named here, and sources "
		"and programs below DIR that they name.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.run = serve_run,
};
