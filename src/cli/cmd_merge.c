/*
 * sonde merge -o OUT FILE...: several profiles as one.
 */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "cli/command.h"
#include "cli/convert_options.h"
#include "cli/input_options.h"
#include "cli/options.h"
#include "model/merge.h"

/* Profiles to be added up. */
struct inputs {
	VEC(struct profile *) profiles;
};

static void inputs_deinit(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->profiles.count; i++)
		profile_destroy(inputs->profiles.data[i]);
	vec_deinit(&inputs->profiles);
}

static struct error *inputs_read(struct inputs *inputs, const struct convert_options *options,
	const struct operands *operands)
{
	struct error *err = NULL;

	for (int i = 0; i < operands->count && err == NULL; i++) {
		struct profile *profile;

		err = convert_options_read(options, operands->items[i], &profile);
		if (err == NULL)
			vec_push(&inputs->profiles, profile);
	}
	return err;
}

static struct error *merge(const struct convert_options *options, const struct operands *operands)
{
	const struct writer *writer;
	struct inputs inputs = {0};
	struct profile *merged;
	struct error *err = convert_options_writer(options, &writer_sonde, &writer);

	if (err)
		return err;
	alloc_keep_freed();
	err = inputs_read(&inputs, options, operands);
	if (err == NULL)
		err = profile_merge((const struct profile *const *)inputs.profiles.data,
			inputs.profiles.count, &merged);
	inputs_deinit(&inputs);
	if (err)
		return err;
	err = convert_options_write(options, writer, merged);
	profile_destroy(merged);
	return err;
}

static bool takes_stdin_twice(const struct operands *operands)
{
	size_t count = 0;

	for (int i = 0; i < operands->count; i++)
		count += strcmp(operands->items[i], "-") == 0;
	return count > 1;
}

static int merge_run(const struct command *self, int argc, char **argv)
{
	struct convert_options options = {0};
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, convert_options_set, &options, &operands, &status))
		return status;
	if (options.output == NULL)
		return options_usage_error(self, "name the file to write with -o");
	if (operands.count == 0)
		return options_usage_error(self, "name the files to merge");
	if (takes_stdin_twice(&operands))
		return options_usage_error(self, "standard input, '-', can be read once only");
	struct error *err = merge(&options, &operands);

	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {
	{"Options", convert_rows}, {"Options", input_rows}, {0}};

const struct command cmd_merge = {
	.name = "merge",
	.summary = "add several profiles into one",
	.usage = "-o OUT FILE... [OPTIONS]",
	.details = "Adds the weights of all profiles. Functions with the same name, module, file "
		   "and line become one; processes and threads stay separate. OUT is a recording "
		   "unless its name selects another format. - is standard input or output; each "
		   "FILE can be in any format that sonde reads.",
	.groups = groups,
	.run = merge_run,
};
