#ifndef SONDE_CLI_REPORT_PRINT_H
#define SONDE_CLI_REPORT_PRINT_H

#include "cli/report_options.h"

/*
 * Prints an answer to the output that the options select: a file, standard output, or a pager on a
 * terminal. hint: the last line of a text report, or NULL.
 *
 * It is not a failure if the reader of standard output stops reading (EPIPE).
 */
must_use struct error *report_print(
	const struct report_options *options, const struct answer *answer, const char *hint);

#endif
