/*
 * Drawings made by `sonde convert`.  See convert_drawing.h.
 */
#include "cli/convert_drawing.h"

#include <string.h>

#include "cli/report_options.h"
#include "cli/report_print.h"

int convert_drawing(const struct convert_options *options)
{
	struct str name = str_from(options->output), stem = name;

	if (options->output)
		(void)packing_of_name(name, &stem);
	for (int i = 0; formats[i].name; i++) {
		const struct format *format = &formats[i];

		if (format->extension == NULL)
			continue;
		if (options->to ? strcmp(options->to, format->name) == 0
				: str_ends_with(name, str_from(format->extension)) ||
					  str_ends_with(stem, str_from(format->extension)))
			return i;
	}
	return -1;
}

struct error *convert_draw(
	const struct convert_options *options, int format, const struct profile *profile)
{
	struct report_options report = report_options_default();
	struct question *question = &report.question;
	struct metric_list metrics = {0};
	struct answer *answer = NULL;

	report.output = options->output;
	question->format = format;
	question->metric = options->metric;
	question->with_modules = options->with_modules;
	question->collapse = options->collapse;
	struct error *err = question_settle(question);
	if (err == NULL)
		err = question_metrics(question, profile, &metrics);
	if (err == NULL)
		err = answer_create(question, profile, &answer);
	if (err == NULL)
		err = report_print(&report, answer, NULL);
	answer_destroy(answer);
	vec_deinit(&metrics.ids);
	report_options_deinit(&report);
	return err;
}
