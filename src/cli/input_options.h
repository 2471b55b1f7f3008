#ifndef SONDE_CLI_INPUT_OPTIONS_H
#define SONDE_CLI_INPUT_OPTIONS_H

/* How a profile is read, shared by the commands that read one: --from, --exe and --jobs. */

#include "cli/command.h"
#include "formats/readers.h"

enum { INPUT_OPTION_FROM = 500, INPUT_OPTION_EXE, INPUT_OPTION_JOBS };

extern const struct option_row input_rows[];

/* Sets the option with one of the ids above. */
must_use struct error *input_options_set(struct read_options *options, int id, const char *value);

#endif
