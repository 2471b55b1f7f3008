#ifndef SONDE_SESSION_QUESTION_H
#define SONDE_SESSION_QUESTION_H

/*
 * What is asked of a profile: views, metrics, filters, and how the answer is to be put.  Each part
 * is a row of a table, with a name and what it takes, so that an option of a command line and a
 * field of a request mean the same.
 *
 *	struct question question = question_default();
 *
 *	err = question_put(&question, "view", "tree");  (or question_set, by a row's id)
 *	err = question_settle(&question);
 *	… session_ask(session, &question, &answer), as often as wanted …
 *	question_deinit(&question);
 *
 * To add an option: an id and a row in question.c, a case in question_set, a field here, and what
 * it does to a query in make_query.
 */

#include "model/profile.h"
#include "model/roots.h"
#include "session/filter_options.h"
#include "session/metric.h"
#include "session/option.h"
#include "view/formats.h"
#include "view/report.h"

#define QUESTION_VIEWS_MAX 8

/* What "clock" can be given. */
enum question_clock { QUESTION_CLOCK_VIRTUAL, QUESTION_CLOCK_REAL };

/* As given; -1 and NULL: not given.  Texts are borrowed. */
struct question {
	const struct view *views[QUESTION_VIEWS_MAX];
	size_t view_count;
	int level, collapse, order, percent, clock;
	enum profile_roots roots;
	const char *root_label; /* the key, of ROOTS_LABEL */
	bool spread, confidence, invert, brief, with_modules;
	bool is_difference; /* set by who asks: columns of differences may be asked for */
	const char *metric, *sort, *columns, *center;
	int64_t limit;
	int format; /* of formats[] */
	struct filter_options filters;

	/* By question_settle: one for each view, all but their metrics. */
	struct report_query queries[QUESTION_VIEWS_MAX];
	size_t query_count;
};

/* Ids of the rows below; smaller ones are free for who has rows of its own. */
#define QUESTION_OPTION_FIRST 1500
enum { QUESTION_OPTION_FORMAT = QUESTION_OPTION_FIRST + 100, QUESTION_OPTION_MODULES };

/* What to show, and which clock; together with question_drawing_rows and filter_rows all there are.
 */
extern const struct option_row question_view_rows[], question_clock_rows[];
/* Those of question_view_rows that are for any view, for commands with one. */
extern const struct option_row question_figure_rows[];
/* How the answer is drawn; the rows also apart, for tables in which they stand beside others. */
extern const struct option_row question_drawing_rows[];
#define QUESTION_FORMAT_ROW(help)                                                                  \
	{                                                                                          \
		QUESTION_OPTION_FORMAT, 'f', "format", VALUE_CHOICE, "FORMAT", CHOICES(formats),   \
			help                                                                       \
	}
#define QUESTION_MODULES_ROW                                                                       \
	{                                                                                          \
		QUESTION_OPTION_MODULES, 0, "modules", VALUE_NONE, NULL, {0},                      \
			"folded: write frames as module`function"                                  \
	}

struct question question_default(void);
void question_deinit(struct question *question);
/*
 * Sets what a row of the tables above, or of filter_rows, is about.  value: NULL for flags, one of
 * the row's choices where it has some; else any text, which is checked here (ERROR_USAGE).
 */
must_use struct error *question_set(struct question *question, int id, const char *value);
/*
 * The same by the option's name, without dashes.  ERROR_USAGE, which begins with the name, where
 * there is no such option, where value is none of its choices, or is missing; the question is then
 * as it was.
 */
must_use struct error *question_put(struct question *question, const char *name, const char *value);
/*
 * Makes queries of all that is set: compiles filters, chooses the view where none is named.
 * ERROR_USAGE where options contradict each other.  More may be set afterwards, and it be called
 * again.
 */
must_use struct error *question_settle(struct question *question);

/*
 * The name of the metric that a settled question is about: what it asks for, or else the first
 * view's own, or the profile's default one; lives as long as both.
 */
struct str question_metric_name(const struct question *question, const struct profile *profile);
/* The profile as "roots" asks for it, another than the one given: that must not be ROOTS_NONE. */
must_use struct error *question_roots(
	const struct question *question, const struct profile *profile, struct profile **rooted);
/*
 * Sets the metrics of the question's queries, which live in *metrics: to be freed with vec_deinit,
 * also on failure.
 */
must_use struct error *question_metrics(
	struct question *question, const struct profile *profile, struct metric_list *metrics);

#endif
