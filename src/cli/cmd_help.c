/*
 * sonde help [COMMAND]: the same text as `sonde COMMAND --help`; or a topic.
 */

#include <stdlib.h>

#include "cli/command.h"
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/options.h"

static int help_run(const struct command *self, int argc, char **argv)
{
	const struct command *command;
	const struct help_topic *topic;
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, NULL, NULL, &operands, &status))
		return status;
	if (operands.count > 1)
		return options_usage_error(self, "one command at most");
	if (operands.count == 0) {
		help_overview();
		return EXIT_SUCCESS;
	}
	topic = help_topic_find(operands.items[0]);
	if (topic) {
		help_topic_print(topic);
		return EXIT_SUCCESS;
	}
	command = command_find(operands.items[0]);
	if (!command)
		return command_unknown(operands.items[0]);
	help_command(command);
	return EXIT_SUCCESS;
}

const struct command cmd_help = {
	.name = "help",
	.summary = "describe a command and its options",
	.usage = "[COMMAND|TOPIC]",
	.operand = OPERAND_COMMAND,
	.run = help_run,
};
