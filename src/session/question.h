#ifndef SONDE_SESSION_QUESTION_H
#define SONDE_SESSION_QUESTION_H

/*
 * A question to a profile: views, metrics, filters, and the form of the answer.  Each part is a
 * table row, with a name and a value type, so that a command line option and a field of a request
 * mean the same.
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
#include "view/brief.h"
#include "view/formats.h"
#include "view/report.h"

#define QUESTION_VIEWS_MAX 8

/* The values of "clock". */
enum question_clock { QUESTION_CLOCK_VIRTUAL, QUESTION_CLOCK_REAL };

/* The settings as given; -1 and NULL: not given.  Texts are borrowed. */
struct question {
	const struct view *views[QUESTION_VIEWS_MAX];
	size_t view_count;
	int level, collapse, order, percent, clock;
	enum profile_roots roots;
	const char *root_label; /* the key, for ROOTS_LABEL */
	bool spread, confidence, invert, brief, with_modules;
	bool is_difference; /* set by the caller: allows columns of differences */
	bool takes_pages;   /* the same: it writes a page (src/page) where the format is one */
	bool has_widths;    /* set by the caller: the tree's rows have widths (struct calltree) */
	size_t part_rows;   /* the same: rows of each part of an entry at most; 0: all */
	const char *metric, *sort, *columns, *center;
	int64_t limit, budget;
	int format; /* index into formats[] */
	struct filter_options filters;
	/*
	 * For brief answers, set by the caller: how the files are named in the next questions, as
	 * in struct brief_subject; NULL: no next questions.  Borrowed.
	 */
	const char *subject;
	enum brief_form form;

	/* Set by question_settle: one for each view, without the metrics. */
	struct report_query queries[QUESTION_VIEWS_MAX];
	size_t query_count;
};

/* Ids of the rows below start here; callers can use smaller ones for their own rows. */
#define QUESTION_OPTION_FIRST 1500
enum {
	QUESTION_OPTION_FORMAT = QUESTION_OPTION_FIRST + 100,
	QUESTION_OPTION_MODULES,
	QUESTION_OPTION_ROOTS,
};

/* What to show, and the clock; with question_drawing_rows and filter_rows, these are all rows. */
extern const struct option_row question_view_rows[], question_clock_rows[];
/* The rows of question_view_rows that apply to any view, for commands with a single view. */
extern const struct option_row question_figure_rows[];
/* How the answer is drawn; its first row also alone, with a text of one's own. */
extern const struct option_row question_drawing_rows[];
#define QUESTION_FORMAT_ROW(help)                                                                  \
	{                                                                                          \
		QUESTION_OPTION_FORMAT, 'f', "format", VALUE_CHOICE, "FORMAT", CHOICES(formats),   \
			help                                                                       \
	}

struct question question_default(void);
void question_deinit(struct question *question);
/*
 * Sets the option of a row in the tables above, or in filter_rows. value: NULL for flags, one of
 * the row's choices if it has any, else any text, which is checked here (ERROR_USAGE).
 */
must_use struct error *question_set(struct question *question, int id, const char *value);
/*
 * The same by the option's name, without dashes.  ERROR_USAGE, with the name as prefix, if there is
 * no such option, or value is missing or not one of its choices; the question is then unchanged.
 */
must_use struct error *question_put(struct question *question, const char *name, const char *value);
/*
 * Turns the settings into queries: compiles filters, and chooses the view if none is named.
 * ERROR_USAGE if options contradict each other.  More can be set afterwards, followed by another
 * call.
 */
must_use struct error *question_settle(struct question *question);

/* The value of "clock" as given, which must be. */
const char *question_clock_name(const struct question *question);
/*
 * The name of a settled question's metric: the requested one, else the first view's own, else the
 * profile's default; lives as long as the question and the profile.
 */
struct str question_metric_name(const struct question *question, const struct profile *profile);
/* Makes a new profile with the roots of the question, which must not be ROOTS_NONE. */
must_use struct error *question_roots(
	const struct question *question, const struct profile *profile, struct profile **rooted);
/*
 * Sets the metrics of the question's queries, which live in *metrics; the caller frees it with
 * vec_deinit, also on failure.
 */
must_use struct error *question_metrics(
	struct question *question, const struct profile *profile, struct metric_list *metrics);

#endif
