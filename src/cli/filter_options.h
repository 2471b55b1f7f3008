#ifndef SONDE_CLI_FILTER_OPTIONS_H
#define SONDE_CLI_FILTER_OPTIONS_H

/*
 * The options that choose samples and stacks, in the order in which they are given, and --same,
 * which says what functions are to be taken for one.
 */

#include "analysis/entity_tree.h"
#include "analysis/filter.h"
#include "cli/command.h"

/* As given. */
struct filter_request {
	enum filter_kind kind;
	const char *text;
};

struct filter_options {
	VEC(struct filter_request) requests;
	VEC(const char *) same_texts;
	enum when_modules when_modules;
	/* By filter_options_compile. */
	VEC(struct filter) filters;
	VEC(struct same_rule) same;
};

/* Ids of the rows below; ids from here on are theirs. */
#define FILTER_OPTION_FIRST 2000

extern const struct option_row filter_rows[];

/* An option_set's work for these ids. */
must_use struct error *filter_options_set(struct filter_options *o, int id, const char *value);
/* Once all options are read: makes filters and rules of them.  ERROR_USAGE where one is none. */
must_use struct error *filter_options_compile(struct filter_options *o);
void filter_options_deinit(struct filter_options *o);

#endif
