/*
 * sonde convert IN -o OUT: every reader to every writer.
 *
 * Messages on standard error report what is lost, in the input or because the output format cannot
 * hold it.  Sample filters write a profile of part of the samples.
 */

#include <stdlib.h>
#include <string.h>

#include "analysis/calltree.h"
#include "analysis/selection.h"
#include "analysis/ticks.h"
#include "base/alloc.h"
#include "cli/command.h"
#include "cli/convert_drawing.h"
#include "cli/convert_options.h"
#include "cli/input_options.h"
#include "cli/options.h"
#include "model/anonymous.h"
#include "model/part.h"
#include "session/filter_options.h"
#include "session/values.h"
#include "view/formats.h"

enum { OPTION_COLLAPSE = 100, OPTION_ANONYMIZE };

static const struct option_row drawing_rows[] = {
	{OPTION_COLLAPSE, 0, "collapse", VALUE_CHOICE, "DEGREE", CHOICES(collapse_names),
		"which recursive calls are collapsed; default none"},
	{0},
};

static const struct option_row names_rows[] = {
	{OPTION_ANONYMIZE, 0, "anonymize", VALUE_NONE, NULL, {0},
		"numbers in place of names, for a profile that others get"},
	{0},
};

struct convert_arguments {
	struct convert_options options;
	bool anonymize;
	struct filter_options filters;
};

static struct error *convert_set(void *context, int id, const char *value)
{
	struct convert_arguments *a = context;

	if (id >= FILTER_OPTION_FIRST)
		return filter_options_set(&a->filters, id, value);
	if (id == OPTION_COLLAPSE) {
		a->options.collapse = CHOICE_OF(value, collapse_names);
		return NULL;
	}
	if (id == OPTION_ANONYMIZE) {
		a->anonymize = true;
		return NULL;
	}
	return convert_options_set(&a->options, id, value);
}

/* Returns "a part: --thread worker --tick-over 20ms". */
static char *part_note(const struct filter_options *filters)
{
	struct strbuf text = {0};

	strbuf_add(&text, STR("this is a part of the profile:"));
	for (size_t i = 0; i < filters->filters.count; i++) {
		const struct filter *f = &filters->filters.data[i];

		strbuf_printf(&text, " --%s %s", filter_names[f->kind], f->text);
	}
	char *note = xstrndup(text.data, text.size);

	strbuf_deinit(&text);
	return note;
}

/*
 * Streams other than the one filtered by no longer have complete ticks, so their ticks are dropped.
 */
static struct error *keep_ticks(
	const struct selection *selection, struct arena *arena, const bool **tick_kept)
{
	const struct profile *p = selection->profile;
	bool *kept = ARENA_ARRAY(arena, bool, p->tick_count), is_by_tick = false;
	struct tick_runs runs;

	*tick_kept = selection->tick_kept;
	for (size_t i = 0; i < selection->step_count; i++)
		is_by_tick |= selection->steps[i].outside != NULL;
	if (!is_by_tick)
		return NULL;
	struct error *err = tick_runs_init(&runs, p, selection->tick_stream, arena);

	if (err)
		return err;
	for (size_t process = 0; process < p->process_count; process++)
		for (uint32_t i = runs.first[process]; i < runs.end[process]; i++)
			kept[i] = selection->tick_kept[i];
	*tick_kept = kept;
	return NULL;
}

/* Replaces the profile by the part that the filters keep. */
static struct error *keep_part(const struct filter_options *filters, struct profile **profile)
{
	struct selection *selection;
	struct profile *part;

	if (filters->filters.count == 0)
		return NULL;
	struct arena *arena = arena_create();
	struct error *err = selection_create(
		*profile, filters->filters.data, filters->filters.count, arena, &selection);

	const bool *tick_kept = NULL;

	if (err == NULL)
		err = keep_ticks(selection, arena, &tick_kept);
	if (err == NULL) {
		char *note = part_note(filters);

		err = profile_part(*profile, selection->sample_kept, tick_kept, note, &part);
		free(note);
	}
	arena_destroy(arena);
	if (err)
		return err;
	profile_destroy(*profile);
	*profile = part;
	return NULL;
}

/* The index in formats[] of a writer's name; -1: none. */
static int drawing_of(const struct writer *writer)
{
	for (int i = 0; formats[i].name; i++)
		if (strcmp(formats[i].name, writer->name) == 0)
			return i;
	return -1;
}

/* Folded text is also drawn as a report if calls are to be collapsed. */
static struct error *choose_output(
	const struct convert_options *options, const struct writer **writer, int *drawing)
{
	*writer = NULL;
	*drawing = convert_drawing(options);
	if (*drawing >= 0)
		return NULL;
	struct error *err = convert_options_writer(options, NULL, writer);
	if (err || options->collapse < 0)
		return err;
	if (*writer != &writer_folded)
		return error_new(ERROR_USAGE,
			"--collapse is for folded stacks and flame graphs, not for %s",
			(*writer)->name);
	*drawing = drawing_of(*writer);
	*writer = NULL;
	return NULL;
}

/* The profile as it is, or without names. */
static struct error *write_out(const struct convert_arguments *arguments,
	const struct writer *writer, int drawing, const struct profile *profile)
{
	struct profile *anonymous = arguments->anonymize ? profile_anonymous(profile) : NULL;
	const struct profile *written = anonymous ? anonymous : profile;
	struct error *err = writer ? convert_options_write(&arguments->options, writer, written)
				   : convert_draw(&arguments->options, drawing, written);

	profile_destroy(anonymous);
	return err;
}

static struct error *convert(struct convert_arguments *arguments, const char *input)
{
	const struct convert_options *options = &arguments->options;
	struct filter_options *filters = &arguments->filters;
	int drawing;
	const struct writer *writer;
	struct profile *profile;
	struct error *err = choose_output(options, &writer, &drawing);

	if (err == NULL)
		err = filter_options_compile(filters);
	if (err)
		return err;
	alloc_keep_freed();
	err = convert_options_read(options, input, &profile);
	if (err)
		return err;
	err = keep_part(filters, &profile);
	if (err == NULL)
		err = write_out(arguments, writer, drawing, profile);
	profile_destroy(profile);
	return err;
}

static int convert_run(const struct command *self, int argc, char **argv)
{
	struct convert_arguments arguments = {.options = {.collapse = -1, .takes_drawings = true}};
	struct operands operands;
	int status;

	if (!options_parse(self, argc, argv, convert_set, &arguments, &operands, &status))
		return status;
	if (operands.count != 1)
		return options_usage_error(self, "name one file to convert");
	struct error *err = convert(&arguments, operands.items[0]);

	filter_options_deinit(&arguments.filters);

	return err ? options_failure(self, err) : EXIT_SUCCESS;
}

static const struct option_group groups[] = {{"Options", convert_rows}, {"Options", input_rows},
	{"Folded stacks and flame graphs", drawing_rows}, {"Names", names_rows},
	{"Filters", filter_sample_rows}, {0}};

const struct command cmd_convert = {
	.name = "convert",
	.summary = "convert a profile to another format",
	.usage = "IN -o OUT [OPTIONS]",
	.details =
		"sonde recognizes the format of IN by its contents, and that of OUT by its name; "
		"`sonde formats` lists them. - is standard input or output. Input can be "
		"compressed with gzip or zstd; output is compressed if its name ends in .gz or "
		".zst.",
	.groups = groups,
	.run = convert_run,
};
