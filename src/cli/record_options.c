/*
 * Options of a recording.
 */
#include "cli/record_options.h"

#include "cli/values.h"

enum {
	OPTION_OUTPUT = 1,
	OPTION_FREQUENCY,
	OPTION_INTERVAL,
	OPTION_CLOCK,
	OPTION_MAX_OVERHEAD,
	OPTION_QUIET,
};

static const char *const clock_choices[] = {"virtual", NULL};

const struct option_row record_option_rows[] = {
	{OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", NULL,
		"write the recording to FILE instead of sonde.prof; - is standard output"},
	{OPTION_FREQUENCY, 'F', "frequency", VALUE_NUMBER, "HZ", NULL,
		"take HZ samples a second of CPU time (about 1000)"},
	{OPTION_INTERVAL, 0, "interval", VALUE_TEXT, "TIME", NULL,
		"take a sample each TIME of CPU time, such as 500us or 10ms"},
	{OPTION_CLOCK, 0, "clock", VALUE_CHOICE, "CLOCK", clock_choices,
		"what is counted; virtual is CPU time"},
	{OPTION_MAX_OVERHEAD, 0, "max-overhead", VALUE_TEXT, "PERCENT", NULL,
		"sample less often if recording costs more than PERCENT of the program's CPU time"},
	{OPTION_QUIET, 'q', "quiet", VALUE_NONE, NULL, NULL,
		"no progress and no last lines; trouble is told all the same"},
	{0},
};

struct record_request record_request_default(void)
{
	return (struct record_request){
		.output = RECORD_OUTPUT_DEFAULT,
		.interval_ns = RECORD_INTERVAL_DEFAULT,
		.hint = true,
	};
}

/* Even periods become odd: a program that does something each millisecond must not be in step. */
static struct error *set_interval(struct record_request *request, uint64_t interval_ns)
{
	if (interval_ns < RECORD_INTERVAL_LEAST)
		return error_new(ERROR_USAGE,
			"more often than the kernel can; 100 kHz, or 10 us, is the most");
	request->interval_ns = interval_ns | 1;
	return NULL;
}

struct error *record_options_set(void *context, int id, const char *value)
{
	struct record_request *request = context;
	struct error *err = NULL;
	uint64_t interval_ns = 0;

	switch (id) {
	case OPTION_OUTPUT:
		request->output = value;
		break;
	case OPTION_FREQUENCY:
		err = value_frequency(value, &interval_ns);
		if (!err)
			err = set_interval(request, interval_ns);
		break;
	case OPTION_INTERVAL:
		err = value_time(value, &interval_ns);
		if (!err)
			err = set_interval(request, interval_ns);
		break;
	case OPTION_MAX_OVERHEAD:
		err = value_percent(value, &request->overhead_most);
		break;
	case OPTION_QUIET:
		request->quiet = true;
		break;
	default: /* OPTION_CLOCK has one choice yet */
		break;
	}
	return err;
}
