#ifndef SONDE_CLI_CONVERT_OPTIONS_H
#define SONDE_CLI_CONVERT_OPTIONS_H

/* The options of commands that read profiles and write one: convert and merge. */

#include "cli/command.h"
#include "model/profile.h"
#include "formats/readers.h"
#include "formats/writers.h"

struct convert_options {
	const char *output; /* NULL: not given; "-": standard output */
	struct read_options input;
	const char *to, *metric;
	bool with_modules;
	bool takes_drawings; /* set by the command: it also writes the formats of
			        cli/convert_drawing.h */
	int collapse;	     /* enum collapse; -1: not given */
};

extern const struct option_row convert_rows[];
/* For options_parse; context is a struct convert_options, zeroed at first. */
struct error *convert_options_set(void *context, int id, const char *value);

/*
 * The writer named by --to, else by the output's name, else `otherwise`.  ERROR_USAGE if there is
 * none.
 */
must_use struct error *convert_options_writer(const struct convert_options *options,
	const struct writer *otherwise, const struct writer **writer);
/* The caller owns the profile. */
must_use struct error *convert_options_read(
	const struct convert_options *options, const char *path, struct profile **profile);
/* Writes the output; reports on standard error what the format could not hold. */
must_use struct error *convert_options_write(const struct convert_options *options,
	const struct writer *writer, const struct profile *profile);

#endif
