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
	{"Recording options", record_option_rows},
	{"Which samples", record_alone_rows},
	{0},
};

const struct command cmd_record = {
	.name = "record",
	.summary = "run a program and record where its time goes",
	.usage = "[OPTIONS] [-p PID|NAME | -a] [--] [COMMAND [ARG...]]",
	.details =
		"Runs COMMAND and samples the stacks of all its threads and child processes, each "
		"time\nthat one of them has used so much CPU time. Nothing needs to be compiled "
		"anew, and no\nprivileges are needed; with them, kernel code is seen too.\n\n"
		"-p attaches to processes that run already, with all their threads, their children "
		"and\nthose that they still make, until they have ended, -a to all there are; with "
		"COMMAND, as\nlong as that runs. Ctrl-C or --duration end it before; those that "
		"are "
		"recorded go on.\n\n"
		"The recording goes to sonde.prof, an older one is kept as sonde.prof.old. It is "
		"good at\nany time: after Ctrl-C, which goes to COMMAND (a second one leaves "
		"COMMAND running and\nends the recording), after a crash, on a full disk.\n\n"
		"The exit status is COMMAND's; 125 is a failure of sonde's own, 126 a COMMAND that "
		"can't\nbe run, 127 a COMMAND that was not found.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.stops_at_operand = true,
	.run = record_run,
};
