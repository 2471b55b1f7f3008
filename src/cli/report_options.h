#ifndef SONDE_CLI_REPORT_OPTIONS_H
#define SONDE_CLI_REPORT_OPTIONS_H

/*
 * The options with which a report is asked for, shared by the commands that print one, and what
 * they amount to: queries.
 *
 * To add a view option: an id and a row in report_options.c, a case in report_options_set, a field
 * here, and what it does to a query in report_options_queries.
 */

#include "cli/command.h"
#include "cli/filter_options.h"
#include "cli/metric.h"
#include "model/profile.h"
#include "model/roots.h"
#include "view/formats.h"
#include "view/report.h"

#define REPORT_VIEWS_MAX 8

enum color {
	COLOR_AUTO,
	COLOR_ALWAYS,
	COLOR_NEVER,
};

/* What --clock can be given. */
enum report_clock { REPORT_CLOCK_VIRTUAL, REPORT_CLOCK_REAL };

/* As given; -1 and NULL: not given. */
struct report_options {
	const struct view *views[REPORT_VIEWS_MAX];
	size_t view_count;
	int level, collapse, order, percent, clock;
	enum profile_roots roots;
	const char *root_label; /* the key, of ROOTS_LABEL */
	bool spread, confidence, invert, brief, with_modules;
	bool is_difference; /* set by the command: columns of differences may be asked for */
	const char *metric, *sort, *columns, *center;
	int64_t limit;

	int format;	    /* of formats[] */
	const char *from;   /* format of the input */
	const char *exe;    /* the program that the input is a profile of */
	const char *output; /* file */
	bool all_notes;
	enum color color;
	int64_t width;
	bool no_pager;
	struct fail_over
		*fail_over; /* set by the command: a bound that reports must keep, or NULL */

	struct filter_options filters;
};

/* Ids of the rows below; smaller ones are free for a command's own rows. */
#define REPORT_OPTION_FIRST 1000

/* What to show; where from and where to; how it looks. */
extern const struct option_row report_view_rows[], report_file_rows[], report_look_rows[];
/* Those of report_view_rows and report_file_rows that are for any view, for commands with one. */
extern const struct option_row report_figure_rows[], report_one_view_rows[];
/* Which clock, for commands that have no option of that name themselves. */
extern const struct option_row report_clock_rows[];

/* All of these, with the filters: the options of commands that do nothing but report. */
extern const struct option_group report_option_groups[];

struct report_options report_options_default(void);
void report_options_deinit(struct report_options *options);
/* An option_set's work for the ids of the rows above and of filter_rows; context is the struct
 * report_options. */
must_use struct error *report_options_set(void *context, int id, const char *value);

/*
 * Reads the profile that a command is about: path, or sonde.prof in the current folder where path
 * is NULL.
 */
must_use struct error *report_options_read(
	const struct report_options *options, const char *path, struct profile **profile);
/* Puts another in the place of *profile, as --roots asks. */
must_use struct error *report_options_roots(
	const struct report_options *options, struct profile **profile);
/*
 * The queries, one for each view, *count ≤ REPORT_VIEWS_MAX, all but their metric; compiles the
 * filters, too.  Fails with
 * ERROR_USAGE where options contradict each other.  May fill in the options' views.
 */
must_use struct error *report_options_queries(
	struct report_options *options, struct report_query *queries, size_t *count);

/*
 * The name of the metric that --clock or --metric asks for, or, where neither does, of the first
 * view's own or the profile's default one; lives as long as both.
 */
struct str report_options_metric_name(
	const struct report_options *options, const struct profile *profile);
/*
 * Sets the queries' metrics, which live in *metrics: to be freed with vec_deinit, also on failure.
 */
must_use struct error *report_options_metrics(const struct report_options *options,
	const struct profile *profile, struct report_query *queries, size_t count,
	struct metric_list *metrics);

#endif
