#ifndef SONDE_CLI_FAIL_OVER_H
#define SONDE_CLI_FAIL_OVER_H

/* A bound on slowdowns, for CI: `sonde diff --fail-over 2%`. */

#include "view/report.h"

struct fail_over {
	double share; /* of old's total; 0: no bound */
	bool is_exceeded;
};

/*
 * Sets f->is_exceeded, and prints a line each on standard error, if the total or a row of a
 * difference grew by more than that share of old's total, beyond chance.  Checks all rows, not only
 * those shown, by the marked figure.  ERROR_UNSUPPORTED if chance is unknown, so that nothing
 * passes unnoticed.
 */
must_use struct error *fail_over_check(struct fail_over *f, const struct report *report);

#endif
