#ifndef SONDE_CLI_REPORT_OPTIONS_H
#define SONDE_CLI_REPORT_OPTIONS_H

/*
 * The options of a report, shared by the commands that print one: the question
 * (session/question.h), and on the command line also input, output and appearance.
 */

#include "cli/command.h"
#include "cli/store_options.h"
#include "session/session.h"

enum color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

/* As given; -1 and NULL: not given. */
struct report_options {
	struct question question;
	struct read_options input;
	struct store_options store; /* in place of files */
	bool is_browsed;	    /* set by the command: filters of the question may be removed */
	const char *output;	    /* file */
	bool all_notes;
	enum color color;
	int64_t width;
	bool no_pager;
	/* What code a page carries; has_embed: given. */
	bool embed_source, embed_asm, has_embed;
	bool debuginfod;	     /* fetch sources that the page should carry */
	bool anonymize;		     /* a page without names */
	struct fail_over *fail_over; /* set by the command: a limit to check, or NULL */
};

/*
 * Ids of the rows below, then those of questions and filters; a command's own rows can use smaller
 * ones.
 */
#define REPORT_OPTION_FIRST 1000

/* Where the report is written, and how it looks; question_drawing_rows have its format. */
extern const struct option_row report_output_rows[], report_look_rows[];
/* What a page holds, for commands that write one. */
extern const struct option_row report_page_rows[];
/* In place of question_drawing_rows, for commands with a single view. */
extern const struct option_row report_one_view_rows[];

struct report_options report_options_default(void);
void report_options_deinit(struct report_options *options);
/*
 * The set function for ids of the rows above and of the question's; context is the struct
 * report_options.
 */
must_use struct error *report_options_set(void *context, int id, const char *value);

/*
 * With --store, makes it what options->input reads from, for a settled question.  options must stay
 * where they are.
 */
must_use struct error *report_options_read_from(struct report_options *options);
/*
 * Opens the file that a command reads: path, or if that is NULL, sonde.prof in the current folder;
 * with --store, the selection path, or if that is NULL, all that the options choose.
 */
must_use struct error *report_options_open(
	struct report_options *options, const char *path, struct session **session);

/*
 * How a brief answer's next questions name a file, as in struct brief_subject, after the options of
 * a store if there are any; path NULL: the default file.  options NULL: just the file.  The caller
 * frees the result.
 */
returns_owned char *report_options_subject(const struct report_options *options, const char *path);

#endif
