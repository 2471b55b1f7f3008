/*
 * sonde convert IN -o OUT: every reader to every writer.
 *
 * What is lost on the way, in the input or for want of room in the output's format, is said on
 * standard error.
 */

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/convert_options.h"
#include "cli/options.h"

static struct error *convert(const struct convert_options *options, const char *input)
{
	const struct writer *writer;
	struct profile *profile;
	struct error *err = convert_options_writer(options, NULL, &writer);

	if (err)
		return err;
	alloc_keep_freed();
	err = convert_options_read(options, input, &profile);
	if (err)
		return err;
	err = convert_options_write(options, writer, profile);
	profile_destroy(profile);
	return err;
}

static int convert_run(const struct command *self, int argc, char **argv)
{
	struct convert_options options = {0};
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, convert_options_set, &options, &operands, &status))
		return status;
	if (operands.count != 1)
		return options_usage_error(self, "name one file to convert");
	struct error *err = convert(&options, operands.items[0]);

	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {{"Options", convert_rows}, {0}};

const struct command cmd_convert = {
	.name = "convert",
	.summary = "turn a profile of one format into one of another",
	.usage = "IN -o OUT [OPTIONS]",
	.details = "The format of IN is told by its contents, that of OUT by its name; `sonde "
		   "formats` lists\nthem. - is standard input or output; input may be packed by "
		   "gzip or zstd.",
	.groups = groups,
	.run = convert_run,
};
