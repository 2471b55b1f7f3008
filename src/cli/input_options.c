/* Options of how a profile is read. */
#include "cli/input_options.h"

#include "session/values.h"

const struct option_row input_rows[] = {
	{INPUT_OPTION_FROM, 0, "from", VALUE_READER, "FORMAT", {0},
		"input format, if the contents do not show it"},
	{INPUT_OPTION_EXE, 0, "exe", VALUE_FILE, "PROGRAM", {0},
		"the program that was profiled, for gmon.out"},
	{INPUT_OPTION_JOBS, 0, "jobs", VALUE_NUMBER, "N", {0},
		"threads that read the input (default: one for each processor)"},
	{0},
};

static struct error *set_jobs(struct read_options *options, const char *value)
{
	uint64_t jobs;
	struct error *err = value_count(value, 1, INT32_MAX, &jobs);

	if (err == NULL)
		options->jobs = (size_t)jobs;
	return err;
}

struct error *input_options_set(struct read_options *options, int id, const char *value)
{
	switch (id) {
	case INPUT_OPTION_FROM:
		options->from = value;
		break;
	case INPUT_OPTION_EXE:
		options->exe = value;
		break;
	case INPUT_OPTION_JOBS:
		return set_jobs(options, value);
	default:
		break;
	}
	return NULL;
}
