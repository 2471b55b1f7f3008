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
	for (int i = 0; format_names[i]; i++) {
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
	struct report_query queries[REPORT_VIEWS_MAX];
	struct metric_list metrics = {0};
	size_t count = 0;

	report.format = format;
	report.output = options->output;
	report.metric = options->metric;
	report.with_modules = options->with_modules;
	report.collapse = options->collapse;
	struct error *err = report_options_queries(&report, queries, &count);
	if (err == NULL)
		err = report_options_metrics(&report, profile, queries, count, &metrics);
	if (err == NULL)
		err = report_print(&report, queries, count, profile, NULL);
	vec_deinit(&metrics.ids);
	report_options_deinit(&report);
	return err;
}
