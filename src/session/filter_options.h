#ifndef SONDE_SESSION_FILTER_OPTIONS_H
#define SONDE_SESSION_FILTER_OPTIONS_H

/*
 * The options that choose samples and stacks, in the order in which they are given, and --same,
 * which says what functions are to be taken for one.
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
	bool names_kernel; /* what of it is shown was said */
	/* By filter_options_compile. */
	VEC(struct filter) filters;
	VEC(struct same_rule) same;
};

/* Ids of the rows below; ids from here on are theirs. */
#define FILTER_OPTION_FIRST 2000

extern const struct option_row filter_rows[];
/* Those that choose samples and leave their stacks as they are. */
extern const struct option_row filter_sample_rows[];
/* Those behind when, module-by, pid and cgroup, which mean something else to commands that record.
 */
#define FILTER_ROWS_OF_REPORTS (&filter_rows[4])

/* An option_set's work for these ids. */
must_use struct error *filter_options_set(struct filter_options *o, int id, const char *value);
/* Once all options are read: makes filters and rules of them.  ERROR_USAGE where one is none. */
must_use struct error *filter_options_compile(struct filter_options *o);
void filter_options_deinit(struct filter_options *o);

/* The filters of a profile: the patterns it was recorded with, then those of the options. */
struct filter_list {
	VEC(struct filter) filters;
	size_t recorded; /* the first ones, which are the list's own */
};

/*
 * metric: of the report, or NULL.  In stacks of blocked time the leaf is always the kernel's
 * scheduler, so system calls are shown in its place, unless the options say what to show.
 *
 * After filter_options_compile; o and the profile must live as long.  ERROR_INPUT where a pattern
 * in the profile is none.
 */
must_use struct error *filter_list_init(struct filter_list *list, const struct filter_options *o,
	const struct profile *profile, const metric_id *metric);
void filter_list_deinit(struct filter_list *list);

#endif
