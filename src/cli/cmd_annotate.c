/*
 * sonde annotate [FILE] FUNCTION: one function's source lines and instructions, each with its
 * figures.
 */
#include <stdlib.h>
#include <unistd.h>

#include "analysis/function_find.h"
#include "base/alloc.h"
#include "cli/annotate_code.h"
#include "cli/command.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "session/values.h"
#include "view/margins.h"
#include "view/views.h"

/* Maximum number of lines, and of instructions. */
#define TEXT_LIMIT 100

enum { OPTION_SOURCE_MAP, OPTION_SOURCE, OPTION_ASM, OPTION_SYNTAX };

static const struct option_row annotate_rows[] = {
	{OPTION_SOURCE, 0, "source", VALUE_NONE, NULL, {0}, "source lines only"},
	{OPTION_ASM, 0, "asm", VALUE_NONE, NULL, {0}, "instructions only"},
	{OPTION_SOURCE_MAP, 0, "source-map", VALUE_TEXT, "OLD=NEW", {0},
		"replace the prefix OLD of source paths with NEW; can be repeated"},
	{OPTION_SYNTAX, 0, "syntax", VALUE_CHOICE, "SYNTAX", CHOICES(disassemble_syntax_names),
		"syntax of x86 instructions; default att"},
	{0},
};

struct annotate_options {
	struct report_options report;
	struct annotate_wanted wanted;
	bool source, instructions; /* requested explicitly */
};

static struct error *annotate_set(void *context, int id, const char *value)
{
	struct annotate_options *o = context;

	switch (id) {
	case OPTION_SOURCE_MAP:
		return source_map_add(&o->wanted.map, value);
	case OPTION_SOURCE:
		o->source = true;
		return NULL;
	case OPTION_ASM:
		o->instructions = true;
		return NULL;
	case OPTION_SYNTAX:
		o->wanted.syntax =
			(enum disassemble_syntax)CHOICE_OF(value, disassemble_syntax_names);
		return NULL;
	default:
		return report_options_set(&o->report, id, value);
	}
}

static struct error *no_function(struct str name, const struct function_matches *matches)
{
	if (matches->nearest.size)
		return error_new(ERROR_INPUT,
			"no function '%.*s' in this profile; did you mean '%.*s'?", STR_ARG(name),
			STR_ARG(matches->nearest));
	return error_new(ERROR_INPUT,
		"no function '%.*s' in this profile; sonde report --view functions lists them",
		STR_ARG(name));
}

#define OTHERS_NAMED 3

/* A name may belong to several functions; the heaviest one is shown, and the others are named. */
static void remark_others(const struct profile *p, const struct function_matches *matches,
	struct arena *arena, struct remarks *remarks)
{
	struct strbuf list = {0};

	for (size_t i = 1; i < matches->count && i <= OTHERS_NAMED; i++) {
		const struct function *f = &p->functions[matches->items[i].function.i];
		struct str module = profile_module(p, f->object);

		strbuf_printf(&list, "%s'%.*s%s%.*s'", i > 1 ? ", " : "", STR_ARG(module),
			module.size ? "`" : "", STR_ARG(profile_string(p, f->name)));
		if (profile_string(p, f->file).size)
			strbuf_printf(&list, " (%.*s:%u)",
				STR_ARG(str_base_name(profile_string(p, f->file))), f->line);
	}
	if (list.size)
		remark(remarks, arena,
			"%zu functions have this name, and this is the heaviest; also "
			"%s%s: module`name or file`name distinguishes them",
			matches->count, list.data, matches->count > OTHERS_NAMED + 1 ? ", …" : "");
	strbuf_deinit(&list);
}

/* The metrics, and with --confidence each stretch of time as one more. */
static struct error *weigh_selection(struct report_query *query, const struct selection *selection,
	const struct metric_list *metrics, struct arena *arena, struct stack_weights *stacks)
{
	const struct profile *profile = selection->profile;
	size_t count = metrics->ids.count;
	struct confidence c;

	if (!query->confidence) {
		*stacks = stack_weights_of(selection, metrics->ids.data, count, arena);
		return NULL;
	}
	struct error *err = confidence_check(profile, query->metric);
	if (err)
		return err;
	confidence_init(&c, selection, query->metric, margins_stretches_max(profile->stack_count));
	selection = confidence_selection(&c, 0, c.stretches, false, arena);
	margins_ask(query, profile->metric_count, c.stretches, arena);
	metric_id *all = ARENA_ARRAY(arena, metric_id, count + c.stretches);

	for (size_t i = 0; i < count + c.stretches; i++)
		all[i] = i < count ? metrics->ids.data[i] : query->others[i - 1];
	*stacks = stack_weights_of(selection, all, count + c.stretches, arena);
	confidence_deinit(&c);
	return NULL;
}

static struct error *weigh(struct annotate_options *options, const struct profile *profile,
	const struct metric_list *metrics, struct arena *arena, struct stack_weights *stacks)
{
	struct filter_list list;
	struct selection *selection;
	struct error *err =
		filter_list_init(&list, &options->report.question.filters, profile, NULL);

	if (err)
		return err;
	err = selection_create(profile, list.filters.data, list.filters.count, arena, &selection);
	if (err == NULL)
		err = weigh_selection(
			&options->report.question.queries[0], selection, metrics, arena, stacks);
	filter_list_deinit(&list);
	return err;
}

static bool is_zone(const struct profile *profile, function_id function)
{
	object_id object = profile->functions[function.i].object;

	return object.i != NO_ID && profile->objects[object.i].kind == OBJECT_ZONE;
}

/*
 * A zone is a part of some function and has no code of its own, so zones with that name are left
 * out.
 */
static struct error *leave_out_zones(
	const struct profile *profile, struct function_matches *matches, struct arena *arena)
{
	struct function_match *items = ARENA_ARRAY(arena, struct function_match, matches->count);
	size_t count = 0;

	for (size_t i = 0; i < matches->count; i++)
		if (!is_zone(profile, matches->items[i].function))
			items[count++] = matches->items[i];
	if (matches->count > 0 && count == 0) {
		const struct function *f = &profile->functions[matches->items[0].function.i];

		return error_new(ERROR_INPUT,
			"%s is a zone and has no code of its own; 'sonde report --view zones' "
			"shows it, and 'sonde report --zone %s' what ran in it",
			profile_string(profile, f->name).data,
			profile_string(profile, f->name).data);
	}
	matches->items = items;
	matches->count = count;
	return NULL;
}

static struct error *annotate_function(struct annotate_options *options,
	const struct profile *profile, const struct stack_weights *stacks, struct str name,
	struct arena *arena)
{
	struct question *question = &options->report.question;
	struct report_query *query = &question->queries[0];
	struct answer *answer = NULL;
	struct function_matches matches = function_find(profile, stacks, name, arena);
	struct remarks remarks = {0};
	struct error *err;

	if (matches.count == 0)
		return no_function(name, &matches);
	err = leave_out_zones(profile, &matches, arena);
	if (err)
		return err;
	query->listing = annotate_listing(
		profile, stacks, matches.items[0].function, &options->wanted, arena, &remarks);
	remark_others(profile, &matches, arena, &remarks);
	query->remarks = remarks.items.data;
	query->remark_count = remarks.items.count;
	err = answer_create(question, profile, &answer);
	if (err == NULL)
		err = report_print(&options->report, answer, NULL);
	answer_destroy(answer);
	vec_deinit(&remarks.items);
	return err;
}

static struct error *annotate_file(
	struct annotate_options *options, const char *path, const char *name)
{
	struct metric_list metrics = {0};
	const struct profile *profile;
	struct session *session;
	struct error *err;

	alloc_keep_freed();
	err = report_options_open(&options->report, path, &session);
	if (err)
		return err;
	char *subject = report_options_subject(path);

	options->report.question.subject = subject;
	profile = session_profile(session);
	err = question_metrics(&options->report.question, profile, &metrics);
	if (err == NULL) {
		struct arena *arena = arena_create();
		struct stack_weights stacks;

		err = weigh(options, profile, &metrics, arena, &stacks);
		if (err == NULL)
			err = annotate_function(options, profile, &stacks, str_from(name), arena);
		arena_destroy(arena);
	}
	vec_deinit(&metrics.ids);
	session_close(session);
	free(subject);
	return err;
}

static struct error *annotate_question(struct annotate_options *options)
{
	struct question *question = &options->report.question;
	bool is_text = formats[question->format].draw == text_draw;

	if (question->columns && is_text)
		return error_new(ERROR_USAGE, "--columns is for --format json and csv");
	question->views[0] = &view_annotate;
	question->view_count = 1;
	if (question->limit < 0 && is_text && !question->brief)
		question->limit = TEXT_LIMIT;
	/* Both options together mean neither. */
	options->wanted.without_source = options->instructions && !options->source;
	options->wanted.without_instructions = options->source && !options->instructions;
	return question_settle(question);
}

static struct error *annotate_operands(
	struct annotate_options *options, const struct operands *operands)
{
	struct error *err;

	if (operands->count == 0)
		return error_new(ERROR_USAGE, "which function?");
	if (operands->count > 2)
		return error_new(ERROR_USAGE, "one function at a time; '%s' is one too many",
			operands->items[2]);
	if (options->report.question.filters.same_texts.count)
		return error_new(ERROR_USAGE, "--same is for reports: this is about one function");
	err = annotate_question(options);
	if (err)
		return err;
	err = annotate_file(options, operands->count == 2 ? operands->items[0] : NULL,
		operands->items[operands->count - 1]);
	/* Only then, because a function may have the same name as a file. */
	if (err && err->kind == ERROR_INPUT && operands->count == 1 &&
		access(operands->items[0], F_OK) == 0) {
		error_destroy(err);
		return error_new(ERROR_USAGE, "which function of %s?", operands->items[0]);
	}
	return err;
}

static int annotate_run(const struct command *self, int argc, char **argv)
{
	struct annotate_options options = {.report = report_options_default()};
	struct operands operands;
	int status;

	if (options_parse(self, argc, argv, annotate_set, &options, &operands, &status)) {
		struct error *err = annotate_operands(&options, &operands);

		status = err ? options_failure(self, err) : EXIT_SUCCESS;
	}
	source_map_deinit(&options.wanted.map);
	report_options_deinit(&options.report);
	return status;
}

static const struct option_group groups[] = {
	{"Code", annotate_rows},
	{"Figures", question_figure_rows},
	{"Filters, applied in the order given", filter_rows},
	{"Clock", question_clock_rows},
	{"Input and output", report_one_view_rows},
	{"Appearance", report_look_rows},
	{0},
};

const struct command cmd_annotate = {
	.name = "annotate",
	.summary = "show one function's lines and instructions",
	.usage = "[FILE] FUNCTION [OPTIONS]",
	.details = "FILE is sonde.prof by default. FUNCTION is a name as `sonde report` shows it, "
		   "or its last part; module`name and file`name select one of several functions of "
		   "the same name.\n\nEach line and each instruction shows what was spent at it "
		   "(exclusive), and at it and in everything called from it (inclusive). Inlined "
		   "code is shown below the line of the call, with its own figures; the figures of "
		   "instructions include it.",
	.groups = groups,
	.operand = OPERAND_FILE,
	.run = annotate_run,
};
