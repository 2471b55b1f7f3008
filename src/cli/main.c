/*
 * sonde: finds the command and runs it.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/help.h"
#include "cli/message.h"
#include "cli/options.h"

/*
 * If a standard stream were closed, the next file opened would get its number and its text.  The
 * replacements fail on use as a closed one does, and are closed again in a program that we start.
 */
static void reserve_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) == -1 && errno == EBADF &&
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC) ==
				-1)
			_exit(EXIT_OWN_FAILURE);
	}
}

/* Output only counts once it is written: a full disk turns success into failure. */
static int flush_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	message_error(error_system(errno, "standard output"));
	return status == EXIT_SUCCESS ? EXIT_FAILURE : status;
}

static int run(int argc, char **argv)
{
	const struct command *command;

	if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		help_overview();
		return EXIT_SUCCESS;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("sonde " SONDE_VERSION "\n");
		return EXIT_SUCCESS;
	}
	if (argv[1][0] == '-') {
		message_print("unknown option '%s'; 'sonde help' lists the commands", argv[1]);
		return EXIT_USAGE;
	}
	command = command_find(argv[1]);
	if (!command)
		return command_unknown(argv[1]);
	return command->run(command, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	reserve_standard_streams();
	return flush_output(run(argc, argv));
}
