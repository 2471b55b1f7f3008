/*
 * Tools for coding agents: few, each an option table of a command with a description that says when
 * to use it.  Every answer is a brief report.
 */
#include "serve/mcp_tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "serve/explain.h"

/* Characters of an answer at most, whatever --budget asks for. */
#define BUDGET_MAX 20000

/* ---- tools that answer at once ---- */

static bool answer_profiles(const struct served *served, const char *argument, struct strbuf *out)
{
	(void)argument;
	served_put_text(served, out);
	strbuf_printf(
		out, "sources are shown below: %.*s\n", STR_ARG(source_root_path(served->root)));
	return true;
}

static bool answer_explain(const struct served *served, const char *argument, struct strbuf *out)
{
	(void)served;
	return explain_term(str_from(argument), 2 * BRIEF_BUDGET, out);
}

/* ---- the table ---- */

#define PROFILE                                                                                    \
	{                                                                                          \
		"profile",                                                                         \
			"one of the files that `profiles` lists; may be left out if there is one"  \
	}
#define FUNCTION                                                                                   \
	{                                                                                          \
		"function", "its name, module`name, or an id as other answers have it: "           \
			    "@3f29ac01d7"                                                          \
	}

static const char *const no_arguments[][2] = {{NULL}};
static const char *const of_profile[][2] = {PROFILE, {NULL}};
static const char *const of_function[][2] = {FUNCTION, PROFILE, {NULL}};
static const char *const of_annotate[][2] = {
	FUNCTION, PROFILE, {"source", "source lines only"}, {"asm", "instructions only"}, {NULL}};
static const char *const of_diff[][2] = {{"old", "the profile before the change"},
	{"new", "the profile after it"},
	{"normalize", "compare shares of the totals, for runs of unequal length"}, {NULL}};
static const char *const of_explain[][2] = {
	{"term", "a word of a report or option: exclusive, inclusive, cycle, blocked, stub …"},
	{NULL}};

static const struct option_row *const report_tables[] = {
	question_view_rows, question_clock_rows, filter_rows, NULL};
static const struct option_row *const figure_tables[] = {
	question_figure_rows, question_clock_rows, filter_rows, NULL};

const struct mcp_tool mcp_tools[] = {
	{.name = "profiles",
		.title = "List the profiles",
		.description = "List the CPU profiles that can be asked about: program, what was "
			       "measured, and how good each recording is. "
			       "Begin here.",
		.arguments = no_arguments,
		.answer = answer_profiles},
	{.name = "report",
		.title = "Where the time goes",
		.description =
			"Report where a program spent its time. "
			"The default view, functions, lists the heaviest functions: exclusive is "
			"time in the function itself, inclusive also in what it called; ± is the "
			"margin of error from sampling. "
			"Other views: tree (call tree, recursion collapsed), graph, modules, "
			"lines, threads, zones, heat (when), stats (how good the recording is). "
			"Filters (focus, ignore, thread, time …) select samples; a list applies a "
			"filter several times. "
			"Rows have ids (@…) that callers and annotate take.",
		.kind = REQUEST_REPORT,
		.arguments = of_profile,
		.options = report_tables},
	{.name = "callers",
		.title = "Who calls a function, and what it calls",
		.description =
			"Show the callers and callees of one function, and how much of its time is "
			"on whose behalf: who makes all these calls, and what they cost.",
		.kind = REQUEST_REPORT,
		.arguments = of_function,
		.required = 1,
		.options = figure_tables,
		.view = "callers",
		.function_option = "center"},
	{.name = "annotate",
		.title = "The lines and instructions of a function",
		.description = "Show one function's source lines, and instructions, with the time "
			       "spent at each: which line is slow, and why.",
		.kind = REQUEST_ANNOTATE,
		.arguments = of_annotate,
		.required = 1,
		.options = figure_tables,
		.function_option = "function"},
	{.name = "diff",
		.title = "What changed between two profiles",
		.description = "Compare two profiles, function by function or in any other view: "
			       "what became slower or faster. "
			       "A * marks changes beyond sampling noise.",
		.kind = REQUEST_DIFF,
		.arguments = of_diff,
		.required = 2,
		.options = report_tables},
	{.name = "explain",
		.title = "What a term means",
		.description = "Define a term of the reports, from sonde's own documentation.",
		.arguments = of_explain,
		.required = 1,
		.answer = answer_explain},
	{0},
};

const struct mcp_tool *mcp_tool_named(const char *name)
{
	for (const struct mcp_tool *tool = mcp_tools; tool->name; tool++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

/* ---- descriptions ---- */

/* Options that make no sense in a call, or that the tool sets itself. */
static bool is_left_out(const struct mcp_tool *tool, const struct option_row *row)
{
	return strcmp(row->long_name, "brief") == 0 ||
	       (tool->view && (strcmp(row->long_name, "view") == 0 ||
				      strcmp(row->long_name, "center") == 0)) ||
	       (tool->kind == REQUEST_ANNOTATE && strcmp(row->long_name, "same") == 0);
}

static bool takes_text_after_colon(struct choices choices)
{
	const char *name;

	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++)
		if (name[strlen(name) - 1] == ':')
			return true;
	return false;
}

static void put_enum(struct json_writer *w, struct choices choices)
{
	const char *name;

	json_put_key(w, "enum"), json_put_array(w);
	for (size_t i = 0; (name = choice_name(choices, i)) != NULL; i++)
		json_put_string(w, str_from(name));
	json_put_end(w);
}

static void put_type(struct json_writer *w, const struct option_row *row)
{
	bool is_filter = row->id >= FILTER_OPTION_FIRST && row->value == VALUE_TEXT;

	json_put_key(w, "type");
	if (row->value == VALUE_NONE) {
		json_put_string(w, STR("boolean"));
	} else if (row->value == VALUE_NUMBER) {
		json_put_string(w, STR("integer"));
	} else if (is_filter) {
		json_put_array(w);
		json_put_string(w, STR("string")), json_put_string(w, STR("array"));
		json_put_end(w);
		json_put_key(w, "items"), json_put_object(w);
		json_put_key(w, "type"), json_put_string(w, STR("string"));
		json_put_end(w);
	} else {
		json_put_string(w, STR("string"));
		if (row->value == VALUE_CHOICE && !takes_text_after_colon(row->choices))
			put_enum(w, row->choices);
	}
}

static void put_option(struct json_writer *w, const struct option_row *row)
{
	json_put_key(w, row->long_name), json_put_object(w);
	put_type(w, row);
	json_put_key(w, "description"), json_put_string(w, str_from(row->help));
	json_put_end(w);
}

static bool is_flag(const char *argument)
{
	return strcmp(argument, "source") == 0 || strcmp(argument, "asm") == 0 ||
	       strcmp(argument, "normalize") == 0;
}

static void put_properties(const struct mcp_tool *tool, struct json_writer *w)
{
	for (size_t i = 0; tool->arguments[i][0]; i++) {
		json_put_key(w, tool->arguments[i][0]), json_put_object(w);
		json_put_key(w, "type"),
			json_put_string(
				w, is_flag(tool->arguments[i][0]) ? STR("boolean") : STR("string"));
		json_put_key(w, "description"), json_put_string(w, str_from(tool->arguments[i][1]));
		json_put_end(w);
	}
	for (size_t t = 0; tool->options && tool->options[t]; t++)
		for (const struct option_row *row = tool->options[t]; option_row_exists(row); row++)
			if (!is_left_out(tool, row))
				put_option(w, row);
	if (tool->answer)
		return;
	json_put_key(w, "format"), json_put_object(w);
	json_put_key(w, "type"), json_put_string(w, STR("string"));
	json_put_key(w, "enum"), json_put_array(w);
	json_put_string(w, STR("text")), json_put_string(w, STR("json"));
	json_put_end(w);
	json_put_key(w, "description"), json_put_string(w, STR("default text"));
	json_put_end(w);
}

static void put_schema(const struct mcp_tool *tool, struct json_writer *w)
{
	json_put_object(w);
	json_put_key(w, "type"), json_put_string(w, STR("object"));
	json_put_key(w, "properties"), json_put_object(w);
	put_properties(tool, w);
	json_put_end(w);
	if (tool->required) {
		json_put_key(w, "required"), json_put_array(w);
		for (size_t i = 0; i < tool->required; i++)
			json_put_string(w, str_from(tool->arguments[i][0]));
		json_put_end(w);
	}
	json_put_key(w, "additionalProperties"), json_put_bool(w, false);
	json_put_end(w);
}

void mcp_tool_put(const struct mcp_tool *tool, struct json_writer *w)
{
	json_put_object(w);
	json_put_key(w, "name"), json_put_string(w, str_from(tool->name));
	json_put_key(w, "title"), json_put_string(w, str_from(tool->title));
	json_put_key(w, "description"), json_put_string(w, str_from(tool->description));
	json_put_key(w, "inputSchema");
	put_schema(tool, w);
	json_put_key(w, "annotations"), json_put_object(w);
	json_put_key(w, "readOnlyHint"), json_put_bool(w, true);
	json_put_key(w, "idempotentHint"), json_put_bool(w, true);
	json_put_key(w, "openWorldHint"), json_put_bool(w, false);
	json_put_end(w);
	json_put_end(w);
}

/* ---- arguments ---- */

static bool is_argument(const struct mcp_tool *tool, const char *name)
{
	if (strcmp(name, "format") == 0 && tool->answer == NULL)
		return true;
	for (size_t i = 0; tool->arguments[i][0]; i++)
		if (strcmp(tool->arguments[i][0], name) == 0)
			return true;
	for (size_t t = 0; tool->options && tool->options[t]; t++)
		for (const struct option_row *row = tool->options[t]; option_row_exists(row); row++)
			if (!is_left_out(tool, row) && strcmp(row->long_name, name) == 0)
				return true;
	return false;
}

static struct error *check_name(const struct mcp_tool *tool, const char *name)
{
	if (strcmp(name, "brief") == 0 || is_argument(tool, name))
		return NULL;
	return error_new(ERROR_USAGE, "%s: %s has no such argument", name, tool->name);
}

static struct error *check_format(const char *value)
{
	if (value && (strcmp(value, "text") == 0 || strcmp(value, "json") == 0))
		return NULL;
	return error_new(ERROR_USAGE, "format: expected text or json");
}

static struct error *put(
	const struct mcp_tool *tool, struct request *request, const char *name, const char *value)
{
	struct error *err = check_name(tool, name);

	if (err == NULL && strcmp(name, "format") == 0)
		err = check_format(value);
	if (err)
		return err;
	if (tool->function_option && strcmp(name, "function") == 0)
		name = tool->function_option;
	return request_put(request, name, value);
}

/* A string without NUL, which options cannot have. */
static struct error *put_string(const struct mcp_tool *tool, struct request *request,
	struct json_reader *r, const char *name)
{
	struct strbuf copy = {0};
	struct error *err;
	struct str value;

	if (!json_string(r, &value))
		return NULL; /* a fault, which the caller finds */
	strbuf_add(&copy, value);
	err = memchr(copy.data, '\0', copy.size)
		      ? error_new(ERROR_USAGE, "%s: a text with a NUL character", name)
		      : put(tool, request, name, copy.data);
	strbuf_deinit(&copy);
	return err;
}

static struct error *put_number(const struct mcp_tool *tool, struct request *request,
	struct json_reader *r, const char *name)
{
	double value;
	int64_t integer;
	char text[32];
	struct json_mark mark = json_mark(r);

	if (!json_double(r, &value))
		return NULL;
	json_return(r, &mark);
	(void)json_int(r, &integer);
	if (value != (double)integer)
		return error_new(ERROR_USAGE, "%s: expected an integer", name);
	snprintf(text, sizeof(text), "%" PRId64, integer);
	return put(tool, request, name, text);
}

static struct error *put_value(const struct mcp_tool *tool, struct request *request,
	struct json_reader *r, const char *name);

static struct error *put_list(const struct mcp_tool *tool, struct request *request,
	struct json_reader *r, const char *name)
{
	struct error *err = NULL;

	(void)json_array(r);
	while (json_element(r) && err == NULL) {
		if (json_peek(r) == JSON_STRING || json_peek(r) == JSON_NUMBER)
			err = put_value(tool, request, r, name);
		else
			err = error_new(ERROR_USAGE, "%s: expected a list of texts", name);
	}
	return err;
}

static struct error *put_value(const struct mcp_tool *tool, struct request *request,
	struct json_reader *r, const char *name)
{
	bool flag;

	switch (json_peek(r)) {
	case JSON_STRING:
		return put_string(tool, request, r, name);
	case JSON_NUMBER:
		return put_number(tool, request, r, name);
	case JSON_BOOL:
		return json_bool(r, &flag) && flag ? put(tool, request, name, NULL)
						   : check_name(tool, name);
	case JSON_NULL:
		json_skip(r);
		return check_name(tool, name);
	case JSON_ARRAY:
		return put_list(tool, request, r, name);
	case JSON_OBJECT:
		return error_new(ERROR_USAGE, "%s: expected a text, a number or a list", name);
	case JSON_NONE:
		break;
	}
	return NULL;
}

static struct error *put_arguments(
	const struct mcp_tool *tool, struct json_reader *r, struct request *request)
{
	struct error *err = NULL;
	struct str key;

	if (!json_object(r))
		return error_new(ERROR_USAGE, "arguments: expected an object");
	while (err == NULL && json_key(r, &key)) {
		struct strbuf name = {0};

		strbuf_add(&name, key);
		err = memchr(name.data, '\0', name.size)
			      ? error_new(ERROR_USAGE, "an argument's name has a NUL character")
			      : put_value(tool, request, r, name.data);
		strbuf_deinit(&name);
	}
	return err ? err : json_error(r);
}

/* Answers are brief, whatever was asked for. */
static struct error *make_brief(struct question *question)
{
	question->brief = true;
	if (question->budget == 0 || question->budget > BUDGET_MAX)
		return error_new(ERROR_USAGE, "budget: at most %d characters", BUDGET_MAX);
	return NULL;
}

struct error *mcp_tool_request(
	const struct mcp_tool *tool, struct json_reader *r, struct request *request)
{
	struct error *err = NULL;

	if (tool->view)
		err = request_put(request, "view", tool->view);
	if (err == NULL && r)
		err = put_arguments(tool, r, request);
	if (err == NULL && tool->view && request->question.center == NULL)
		err = error_new(ERROR_USAGE, "function: which one?");
	if (err == NULL)
		err = make_brief(&request->question);
	return err ? err : request_settle(request);
}

const char *mcp_tool_argument(
	const struct mcp_tool *tool, struct json_reader *r, struct strbuf *scratch)
{
	struct str key, value;

	strbuf_clear(scratch);
	if (tool->required == 0)
		return "";
	if (r == NULL || !json_object(r))
		return NULL;
	while (json_key(r, &key))
		if (str_equal(key, str_from(tool->arguments[0][0])) && json_string(r, &value) &&
			value.size && memchr(value.data, '\0', value.size) == NULL) {
			strbuf_clear(scratch);
			strbuf_add(scratch, value);
		}
	return scratch->size ? scratch->data : NULL;
}
