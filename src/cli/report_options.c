/* Options for input, output and appearance; all others are the question's. */
#include "cli/report_options.h"

#include <unistd.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "cli/input_options.h"
#include "session/values.h"

enum {
	OPTION_OUTPUT = REPORT_OPTION_FIRST,
	OPTION_NOTES,
	OPTION_COLOR,
	OPTION_WIDTH,
	OPTION_NO_PAGER,
	OPTION_EMBED,
	OPTION_DEBUGINFOD,
	OPTION_ANONYMIZE,
};

static const char *const color_names[] = {"auto", "always", "never", NULL};

#define ROW_OUTPUT                                                                                 \
	{                                                                                          \
		OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", {0}, "write to FILE"             \
	}
const struct option_row report_file_rows[] = {QUESTION_FORMAT_ROW("default text"), ROW_OUTPUT,
	INPUT_ROW_FROM, INPUT_ROW_EXE, INPUT_ROW_JOBS, QUESTION_MODULES_ROW, {0}};

const struct option_row report_page_rows[] = {
	{OPTION_EMBED, 0, "embed", VALUE_TEXT, "WHAT", {0},
		"with --format html: the code of heavy functions that the page carries: source, "
		"asm, source,asm or none (default)"},
	{OPTION_DEBUGINFOD, 0, "debuginfod", VALUE_NONE, NULL, {0},
		"with --embed source: fetch missing source files from the servers in "
		"DEBUGINFOD_URLS"},
	{OPTION_ANONYMIZE, 0, "anonymize", VALUE_NONE, NULL, {0},
		"with --format html: numbers in place of names, for a page that leaves the house"},
	{0},
};

const struct option_row report_output_rows[] = {
	QUESTION_FORMAT_ROW("default text"), ROW_OUTPUT, QUESTION_MODULES_ROW, {0}};

const struct option_row report_one_view_rows[] = {
	QUESTION_FORMAT_ROW("default text; folded and svg have trees only"), ROW_OUTPUT,
	INPUT_ROW_FROM, INPUT_ROW_EXE, INPUT_ROW_JOBS, {0}};

const struct option_row report_look_rows[] = {
	{OPTION_NOTES, 0, "notes", VALUE_NONE, NULL, {0},
		"show all notes, not only those on losses"},
	{OPTION_COLOR, 0, "color", VALUE_CHOICE, "WHEN", CHOICES(color_names),
		"default auto: on a terminal"},
	{OPTION_WIDTH, 0, "width", VALUE_NUMBER, "COLUMNS", {0},
		"shorten names to fit; 0 for never (default: the terminal's width)"},
	{OPTION_NO_PAGER, 0, "no-pager", VALUE_NONE, NULL, {0}, "do not use a pager"},
	{0},
};

struct report_options report_options_default(void)
{
	struct report_options options = {.question = question_default(), .width = -1};

	options.question.takes_pages = true;
	return options;
}

void report_options_deinit(struct report_options *options)
{
	question_deinit(&options->question);
}

static struct error *set_width(struct report_options *o, const char *value)
{
	uint64_t width;
	struct error *err = value_count(value, 0, INT32_MAX, &width);

	if (err == NULL)
		o->width = (int64_t)width;
	return err;
}

/* A list of what a page carries. */
static struct error *set_embed(struct report_options *o, const char *value)
{
	bool is_more = strcmp(value, "none") != 0;

	o->has_embed = true;
	o->embed_source = o->embed_asm = false;
	for (const char *at = value; is_more;) {
		struct str item = {at, strcspn(at, ",")};

		if (str_equal(item, STR("source")))
			o->embed_source = true;
		else if (str_equal(item, STR("asm")))
			o->embed_asm = true;
		else
			return error_new(ERROR_USAGE,
				"expected source, asm, source,asm or none, not '%s'", value);
		is_more = at[item.size] == ',';
		at += item.size + 1;
	}
	return NULL;
}

struct error *report_options_set(void *context, int id, const char *value)
{
	struct report_options *o = context;

	switch (id) {
	case OPTION_OUTPUT:
		o->output = value;
		break;
	case INPUT_OPTION_FROM:
	case INPUT_OPTION_EXE:
	case INPUT_OPTION_JOBS:
		return input_options_set(&o->input, id, value);
	case OPTION_NOTES:
		o->all_notes = true;
		break;
	case OPTION_COLOR:
		o->color = (enum color)CHOICE_OF(value, color_names);
		break;
	case OPTION_WIDTH:
		return set_width(o, value);
	case OPTION_NO_PAGER:
		o->no_pager = true;
		break;
	case OPTION_EMBED:
		return set_embed(o, value);
	case OPTION_DEBUGINFOD:
		o->debuginfod = true;
		break;
	case OPTION_ANONYMIZE:
		o->anonymize = true;
		break;
	default:
		return question_set(&o->question, id, value);
	}
	return NULL;
}

char *report_options_subject(const char *path)
{
	struct strbuf out = {0};

	strbuf_add(&out, path ? STR(" ") : STR(""));
	if (path && path[0] == '-' && path[1])
		strbuf_add(&out, STR("./"));
	if (path)
		quote_shell(&out, str_from(path));
	return out.data ? out.data : xstrdup("");
}

#define DEFAULT_FILE "sonde.prof"

struct error *report_options_open(
	const struct report_options *options, const char *path, struct session **session)
{
	struct error *err = session_open(path ? path : DEFAULT_FILE, &options->input, session);

	if (err && path == NULL && access(DEFAULT_FILE, F_OK) != 0) {
		error_destroy(err);
		return error_new(ERROR_INPUT,
			"no %s here; name a file, or record one: sonde record COMMAND",
			DEFAULT_FILE);
	}
	return err;
}
