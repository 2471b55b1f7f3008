#ifndef SONDE_CLI_FAIL_OVER_H
#define SONDE_CLI_FAIL_OVER_H

/* A bound on slowdowns, for CI: `sonde diff --fail-over 2%`. */

#include "view/report.h"

struct fail_over {
	double share; /* of old's total; 0: there is no bound */
	bool is_exceeded;
};

/*
 * Sets f->is_exceeded, and prints a line each on standard error, if the total or a row of a
 * difference grew beyond chance by more than that share of old's total.  Rows are all, not only
 * those shown, each by the figure that is marked.  ERROR_UNSUPPORTED where chance is not known, so
 * that nothing passes unseen.
 */
must_use struct error *fail_over_check(struct fail_over *f, const struct report *report);

#endif
