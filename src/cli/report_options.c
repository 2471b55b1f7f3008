/* Options for input, output and appearance; all others are the question's. */
#include "cli/report_options.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/escape.h"
#include "cli/input_options.h"
#include "session/values.h"
#include "view/views.h"

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

const struct option_row report_output_rows[] = {
	{OPTION_OUTPUT, 'o', "output", VALUE_FILE, "FILE", {0}, "write to FILE"},
	{0},
};

const struct option_row report_one_view_rows[] = {
	QUESTION_FORMAT_ROW("default text; folded and svg have trees only"), {0}};

const struct option_row report_page_rows[] = {
	{OPTION_EMBED, 0, "embed", VALUE_TEXT, "WHAT", {0},
		"with --format html: the code of heavy functions that the page carries: source, "
		"asm, source,asm or none (default)"},
	{OPTION_DEBUGINFOD, 0, "debuginfod", VALUE_NONE, NULL, {0},
		"with --embed source: fetch missing source files from the servers in "
		"DEBUGINFOD_URLS"},
	{OPTION_ANONYMIZE, 0, "anonymize", VALUE_NONE, NULL, {0},
		"with --format html: numbers in place of names, for a page that others get"},
	{0},
};

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
	store_options_deinit(&options->store);
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
	static const char *const words[] = {"source", "asm", "none", NULL};
	bool is_more = true, chosen[3] = {false};

	for (const char *at = value; is_more;) {
		size_t size = strcspn(at, ",");
		char *item = xstrndup(at, size);
		bool several;
		const char *word = choice_named((struct choices)CHOICES(words), item, &several);

		free(item);
		is_more = at[size] == ',';
		/* "none" stands alone. */
		if (word == NULL || (word == words[2] && (is_more || at != value)))
			return error_new(ERROR_USAGE,
				"expected source, asm, source,asm or none, not '%s'", value);
		chosen[CHOICE_OF(word, words)] = true;
		at += size + 1;
	}
	o->has_embed = true;
	o->embed_source = chosen[0];
	o->embed_asm = chosen[1];
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
	case STORE_OPTION_STORE:
	case STORE_OPTION_CREDENTIALS:
	case STORE_OPTION_CA:
	case STORE_OPTION_SERVICE:
	case STORE_OPTION_HOST:
	case STORE_OPTION_LAST:
	case STORE_OPTION_SINCE:
	case STORE_OPTION_UNTIL:
		return store_options_set(&o->store, id, value);
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

char *report_options_subject(const struct report_options *options, const char *path)
{
	struct strbuf out = {0};

	if (options)
		store_options_put(&options->store, &out);
	strbuf_add(&out, path ? STR(" ") : STR(""));
	if (path && path[0] == '-' && path[1])
		strbuf_add(&out, STR("./"));
	if (path)
		quote_shell(&out, str_from(path));
	return out.data ? out.data : xstrdup("");
}

#define DEFAULT_FILE "sonde.prof"

/*
 * A pattern that is the first filter lets the store leave out most stacks: those without any of its
 * names.  What it leaves in is matched here.
 */
static void choose_stacks(struct report_options *o)
{
	const struct question *q = &o->question;
	struct store_query *query = &o->store.query;
	const struct str *names;
	size_t count;

	if (o->is_browsed || q->filters.filters.count == 0 ||
		q->filters.filters.data[0].kind != FILTER_WHEN || q->filters.same.count ||
		formats[q->format].is_page)
		return;
	for (size_t i = 0; i < q->query_count; i++) {
		/* It counts what is left out, too. */
		if (q->queries[i].view == &view_stats)
			return;
	}
	if (!when_needs_one_of(q->filters.filters.data[0].when, &names, &count))
		return;
	/* "[no stack]" and the like stand for what the store would leave out. */
	for (size_t i = 0; i < count; i++) {
		if (str_starts_with(names[i], STR("[")))
			return;
	}
	for (size_t i = 0; i < count; i++)
		vec_push(&query->names, names[i]);
}

/* Labels and times are read only where they are asked for: most answers are sums over both. */
static void choose_detail(struct report_options *o)
{
	const struct question *q = &o->question;
	struct store_query *query = &o->store.query;

	/* Services are known without reading labels, which many hosts have many of. */
	query->by_service |= q->roots == ROOTS_LABEL && strcmp(q->root_label, "service") == 0;
	query->by_label |= q->roots == ROOTS_LABEL && !query->by_service;
	for (size_t i = 0; i < q->filters.requests.count; i++) {
		query->by_label |= q->filters.requests.data[i].kind == FILTER_LABEL;
		query->by_time |= q->filters.requests.data[i].kind == FILTER_TIME;
	}
	for (size_t i = 0; i < q->query_count; i++)
		query->by_time |= q->queries[i].view->needs_times;
	query->by_time |= formats[q->format].is_page;
	choose_stacks(o);
}

struct error *report_options_read_from(struct report_options *options)
{
	choose_detail(options);
	return store_options_read_from(&options->store, &options->input);
}

struct error *report_options_open(
	struct report_options *options, const char *path, struct session **session)
{
	struct error *err = report_options_read_from(options);

	if (err)
		return err;
	if (options->store.address)
		return session_open(path ? path : STORE_SELECT_ALL, &options->input, session);
	err = session_open(path ? path : DEFAULT_FILE, &options->input, session);

	if (err && path == NULL && access(DEFAULT_FILE, F_OK) != 0) {
		error_destroy(err);
		return error_new(ERROR_INPUT,
			"no %s here; name a file, or record one: sonde record COMMAND",
			DEFAULT_FILE);
	}
	return err;
}
