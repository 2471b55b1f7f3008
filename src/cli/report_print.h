#ifndef SONDE_CLI_REPORT_PRINT_H
#define SONDE_CLI_REPORT_PRINT_H

#include "cli/report_options.h"

/*
 * Prints an answer where the options say: a file, standard output, or a pager on a terminal.  hint:
 * the last line of a text report, or NULL.
 *
 * A reader of standard output that has seen enough (EPIPE) is no failure.
 */
must_use struct error *report_print(
	const struct report_options *options, const struct answer *answer, const char *hint);

#endif
