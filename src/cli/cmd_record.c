/*
 * sonde record COMMAND: runs a program and records where its time goes.
 */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/event_help.h"
#include "cli/options.h"
#include "cli/record_options.h"
#include "cli/record_session.h"

static int record(
	const struct command *self, struct record_request *request, const struct operands *operands)
{
	struct record_outcome outcome;

	if (request->lists_events) {
		event_help_print();
		return EXIT_SUCCESS;
	}
	struct error *err = record_request_target(request, operands);

	if (err) {
		int status = options_usage_error(self, "%s", err->message);

		error_destroy(err);
		return status;
	}
	record_session_run(request, &outcome);
	return record_session_exit(&outcome);
}

static int record_run(const struct command *self, int argc, char **argv)
{
	struct record_request request = record_request_default();
	struct operands operands;
	int status;

	if (options_parse(self, argc, argv, record_options_set, &request, &operands, &status))
		status = record(self, &request, &operands);
	record_request_deinit(&request);
	return status;
}

static const struct option_group groups[] = {
	{"What to record", record_sample_rows},
	{"Recording options", record_option_rows},
	{"Which samples", record_alone_rows},
	{0},
};

const struct command cmd_record = {
	.name = "record",
	.summary = "run a program and record where its time goes",
	.usage = "[OPTIONS] [-p PID|NAME | -a] [--] [COMMAND [ARG...]]",
	.details =
		"Runs COMMAND and samples the stacks of all its threads and child processes, "
		"each time one of them has used a given amount of CPU time. Programs need not be "
		"recompiled. No privileges are needed; with privileges, sonde also records "
		"kernel code.\n\n-p attaches to running processes, with all their threads and "
		"descendants, until they end; -a records all processes on the machine. With "
		"COMMAND, either lasts as long as COMMAND runs. Ctrl-C or --duration end the "
		"recording earlier; the recorded processes continue.\n\nThe recording goes to "
		"sonde.prof; an existing one is kept as sonde.prof.old. It is valid at any time: "
		"after Ctrl-C, which goes to COMMAND (a second one leaves COMMAND running and "
		"ends the recording), after a crash, and on a full disk.\n\nThe exit status is "
		"COMMAND's own; 125 if sonde failed, 126 if COMMAND cannot be run, 127 if it was "
		"not found.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.stops_at_operand = true,
	.run = record_run,
};
