#ifndef SONDE_CLI_INPUT_OPTIONS_H
#define SONDE_CLI_INPUT_OPTIONS_H

/* How a profile is read, shared by the commands that read one: --from, --exe and --jobs. */

#include "cli/command.h"
#include "formats/readers.h"

enum { INPUT_OPTION_FROM = 500, INPUT_OPTION_EXE, INPUT_OPTION_JOBS };

/* The rows, separated by commas. */
#define INPUT_ROW_FROM                                                                             \
	{                                                                                          \
		INPUT_OPTION_FROM, 0, "from", VALUE_READER, "FORMAT", {0},                         \
			"input format, if the contents do not show it"                             \
	}
#define INPUT_ROW_EXE                                                                              \
	{                                                                                          \
		INPUT_OPTION_EXE, 0, "exe", VALUE_FILE, "PROGRAM", {0},                            \
			"the program that was profiled, for gmon.out"                              \
	}
#define INPUT_ROW_JOBS                                                                             \
	{                                                                                          \
		INPUT_OPTION_JOBS, 0, "jobs", VALUE_NUMBER, "N", {0},                              \
			"threads that read the input (default: one for each processor)"            \
	}

/* Sets the option with one of the ids above. */
must_use struct error *input_options_set(struct read_options *options, int id, const char *value);

#endif
