/*
 * sonde annotate [FILE] FUNCTION: one function's source lines and instructions, each with its
 * figures.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/command.h"
#include "cli/input_options.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "cli/report_print.h"
#include "code/annotate_session.h"
#include "code/machine_code.h"
#include "symbolize/build_source.h"

enum { OPTION_SOURCE_MAP, OPTION_SOURCE, OPTION_ASM, OPTION_SYNTAX, OPTION_DEBUGINFOD };

static const struct option_row annotate_rows[] = {
	{OPTION_SOURCE, 0, "source", VALUE_NONE, NULL, {0}, "source lines only"},
	{OPTION_ASM, 0, "asm", VALUE_NONE, NULL, {0}, "instructions only"},
	{OPTION_SOURCE_MAP, 0, "source-map", VALUE_TEXT, "OLD=NEW", {0},
		"replace the prefix OLD of source paths with NEW; can be repeated"},
	{OPTION_DEBUGINFOD, 0, "debuginfod", VALUE_NONE, NULL, {0},
		"fetch missing source files from the servers in DEBUGINFOD_URLS"},
	{OPTION_SYNTAX, 0, "syntax", VALUE_CHOICE, "SYNTAX", CHOICES(disassemble_syntax_names),
		"syntax of x86 instructions; default att"},
	{0},
};

struct annotate_options {
	struct report_options report;
	struct machine_code machine;
	struct annotate_wanted wanted;
	bool source, instructions; /* requested explicitly */
	bool debuginfod;
};

static struct error *annotate_set(void *context, int id, const char *value)
{
	struct annotate_options *o = context;

	switch (id) {
	case OPTION_SOURCE_MAP:
		return source_map_add(&o->machine.map, value);
	case OPTION_SOURCE:
		o->source = true;
		return NULL;
	case OPTION_ASM:
		o->instructions = true;
		return NULL;
	case OPTION_DEBUGINFOD:
		o->debuginfod = true;
		return NULL;
	case OPTION_SYNTAX:
		o->machine.syntax =
			(enum disassemble_syntax)CHOICE_OF(value, disassemble_syntax_names);
		return NULL;
	default:
		return report_options_set(&o->report, id, value);
	}
}

static struct error *annotate_file(
	struct annotate_options *options, const char *path, const char *name)
{
	struct question *question = &options->report.question;
	struct annotated *annotated = NULL;
	struct session *session;
	struct error *err;

	alloc_keep_freed();
	err = report_options_open(&options->report, path, &session);
	if (err)
		return err;
	char *subject = report_options_subject(&options->report, path);

	question->subject = subject;
	err = annotate_ask(session, question, &options->wanted, str_from(name), &annotated);
	build_source_heed_interrupt(options->machine.source);
	if (err == NULL)
		err = report_print(&options->report, annotated->answer, NULL);
	annotated_destroy(annotated);
	session_close(session);
	free(subject);
	return err;
}

static struct error *annotate_question(struct annotate_options *options)
{
	options->wanted.code = &machine_code_provider;
	options->wanted.data = &options->machine;
	/* Both options together mean neither. */
	options->wanted.without_source = options->instructions && !options->source;
	options->wanted.without_instructions = options->source && !options->instructions;
	return annotate_settle(&options->report.question);
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
	err = annotate_question(options);
	if (err == NULL && options->debuginfod)
		err = build_source_debuginfod(0, &options->machine.source);
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
	build_source_destroy(options.machine.source);
	source_map_deinit(&options.machine.map);
	report_options_deinit(&options.report);
	return status;
}

static const struct option_group groups[] = {
	{"Code", annotate_rows},
	{"Figures", question_figure_rows},
	{"Filters, applied in the order given", filter_rows},
	{"Clock", question_clock_rows},
	STORE_QUERY_GROUPS,
	{"Input and output", report_one_view_rows},
	{"Input and output", report_output_rows},
	{"Input and output", input_rows},
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
