#ifndef SONDE_SESSION_FILTER_OPTIONS_H
#define SONDE_SESSION_FILTER_OPTIONS_H

/*
 * The options that select samples and stacks, in the order given, and --same, which merges
 * functions.
 */

#include "analysis/entity_tree.h"
#include "analysis/filter.h"
#include "session/option.h"

/* As given. */
struct filter_request {
	enum filter_kind kind;
	const char *text;
};

struct filter_options {
	VEC(struct filter_request) requests;
	VEC(const char *) same_texts;
	enum when_modules when_modules;
	bool names_kernel; /* the request sets what is shown of it */
	/* Set by filter_options_compile. */
	VEC(struct filter) filters;
	VEC(struct same_rule) same;
};

/* Ids of the rows below start here. */
#define FILTER_OPTION_FIRST 2000

extern const struct option_row filter_rows[];
/* Filters that select samples and do not change their stacks. */
extern const struct option_row filter_sample_rows[];
/* The rows after when, module-by, pid and cgroup, which have another meaning in commands that
 * record. */
#define FILTER_ROWS_OF_REPORTS (&filter_rows[4])

/* Sets the option with one of these ids. */
must_use struct error *filter_options_set(struct filter_options *o, int id, const char *value);
/*
 * Compiles the options into filters and rules, after all have been read.  ERROR_USAGE for an
 * invalid one.
 */
must_use struct error *filter_options_compile(struct filter_options *o);
void filter_options_deinit(struct filter_options *o);

/* The filters of a profile: the patterns it was recorded with, then those from the options. */
struct filter_list {
	VEC(struct filter) filters;
	size_t recorded; /* the number of recorded patterns at the start, owned by the list */
};

/*
 * metric: that of the report, or NULL.  The leaf of blocked time is always the kernel's scheduler,
 * so system calls are shown instead, unless the options set what to show.
 *
 * Call it after filter_options_compile; o and the profile must outlive the list.  ERROR_INPUT for
 * an invalid pattern in the profile.
 */
must_use struct error *filter_list_init(struct filter_list *list, const struct filter_options *o,
	const struct profile *profile, const metric_id *metric);
void filter_list_deinit(struct filter_list *list);

#endif
