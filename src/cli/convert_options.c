/*
 * Reading profiles and writing one: see convert_options.h.
 */
#include "cli/convert_options.h"

#include <stdlib.h>
#include <string.h>

#include "cli/input_options.h"
#include "cli/message.h"
#include "cli/note_messages.h"
#include "cli/output.h"
#include "formats/readers.h"
#include "session/metric.h"
#include "view/formats.h"

enum {
	OPTION_OUTPUT,
	OPTION_TO,
	OPTION_METRIC,
	OPTION_MODULES,
};

const struct option_row convert_rows[] = {
	{OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", {0}, "write to FILE"},
	{OPTION_TO, 't', "to", VALUE_WRITER, "FORMAT", {0},
		"output format, if FILE's name does not show it"},
	{OPTION_METRIC, 'm', "metric", VALUE_TEXT, "NAME", {0},
		"the metric to write, for formats that hold only one"},
	{OPTION_MODULES, 0, "modules", VALUE_NONE, NULL, {0},
		"folded: write frames as module`function"},
	{0},
};

struct error *convert_options_set(void *context, int id, const char *value)
{
	struct convert_options *options = context;

	switch (id) {
	case OPTION_OUTPUT:
		options->output = value;
		break;
	case INPUT_OPTION_FROM:
	case INPUT_OPTION_EXE:
	case INPUT_OPTION_JOBS:
		return input_options_set(&options->input, id, value);
	case OPTION_TO:
		options->to = value;
		break;
	case OPTION_METRIC:
		options->metric = value;
		break;
	case OPTION_MODULES:
		options->with_modules = true;
		break;
	default:
		break;
	}
	return NULL;
}

static struct error *no_writer(const struct convert_options *options)
{
	struct strbuf names = {0};
	struct error *err;

	for (size_t i = 0; writers[i]; i++)
		strbuf_printf(&names, "%s%s", i ? ", " : "", writers[i]->name);
	for (size_t i = 0; options->takes_drawings && formats[i].name; i++)
		if (formats[i].extension)
			strbuf_printf(&names, ", %s", formats[i].name);
	if (options->to)
		err = error_new(ERROR_USAGE, "unknown output format '%s'; known formats: %s",
			options->to, names.data);
	else if (options->output && strcmp(options->output, "-") != 0)
		err = error_new(ERROR_USAGE,
			"no format known for the name '%s'; choose one with --to: %s",
			options->output, names.data);
	else
		err = error_new(ERROR_USAGE, "choose a format with --to: %s", names.data);
	strbuf_deinit(&names);
	return err;
}

struct error *convert_options_writer(const struct convert_options *options,
	const struct writer *otherwise, const struct writer **writer)
{
	const struct writer *found;

	if (options->to) {
		found = writer_find(options->to);
	} else {
		found = options->output ? writer_for_file(options->output) : NULL;
		if (found == NULL)
			found = otherwise;
	}
	if (found == NULL)
		return no_writer(options);
	*writer = found;
	return NULL;
}

struct error *convert_options_read(
	const struct convert_options *options, const char *path, struct profile **profile)
{
	return profile_read_with(path, &options->input, profile);
}

/* Reports what the writer leaves out of the profile. */
static void tell_loss(
	const struct profile *p, const struct writer *writer, const struct convert_options *options)
{
	if (writer->holds_all)
		return;
	if (!writer->holds_notes)
		note_messages_profile(p, false);
	if (profile_string(p, p->when).size > 0)
		message_print(
			"note: %s has no place for the --when patterns of the recording; they "
			"are not applied to what is in it",
			writer->name);
	if (p->metric_count > 1 && options->metric == NULL && !writer->holds_metrics)
		message_print("note: %s holds one of the %zu metrics, here '%s'; --metric chooses",
			writer->name, p->metric_count,
			profile_string(p, p->metrics[p->default_metric.i].name).data);
	if (writer->is_of_times && p->samples.time_ns == NULL && p->stats.counted != 0 &&
		p->stats.counted != UINT64_MAX)
		message_print("note: %s needs times: %llu samples without a time are left out",
			writer->name, (unsigned long long)p->stats.counted);
	if (p->arc_count > 0 && !writer->holds_arcs)
		message_print("note: %s has no place for counts of calls, which are left out",
			writer->name);
}

static struct error *write_profile(const struct profile *p, const struct writer *writer,
	const struct writer_options *options, const char *path)
{
	struct output output;
	struct sink sink;
	struct error *err = output_open(&output, path);

	if (err)
		return err;
	output_sink(&output, writer->packing, &sink);
	err = writer->write(&sink, p, options);
	if (err && err->kind == ERROR_UNSUPPORTED)
		err = error_prefix(err, "%.*s", STR_ARG(profile_string(p, p->source)));
	struct error *sink_err = sink_finish(&sink);
	if (err)
		error_destroy(sink_err);
	else
		err = sink_err;
	if (err == NULL)
		return output_commit(&output);
	output_abandon(&output);
	return err;
}

struct error *convert_options_write(const struct convert_options *options,
	const struct writer *writer, const struct profile *profile)
{
	struct writer_options how = {.with_modules = options->with_modules};
	struct error *err = metric_choose(profile, options->metric, &how.metric);

	if (err == NULL)
		err = write_profile(profile, writer, &how, options->output);
	if (err == NULL)
		tell_loss(profile, writer, options);
	return err;
}
