#ifndef SONDE_SESSION_COMPARISON_H
#define SONDE_SESSION_COMPARISON_H

/*
 * Like a session, but of the difference of two sides, each of one or several runs: opened once,
 * queried often.
 *
 *	err = comparison_open(&sides, &question, &comparison);
 *	…
 *	err = comparison_ask(comparison, &question, &answer);
 *	answer_destroy(answer);
 *	comparison_close(comparison);
 *
 * The question has is_difference set and is settled.
 */

#include "formats/readers.h"
#include "session/answer.h"
#include "view/difference.h"

/* The files of one side. */
struct comparison_side {
	const char *paths[DIFFERENCE_RUNS_MAX];
	size_t count;
};

struct comparison_sides {
	struct comparison_side old_side, new_side;
	struct read_options input;
	bool normalize;	    /* compare shares of the totals */
	bool refuses_unfit; /* instead of a remark in the reports */
};

struct comparison;

/*
 * Reads both sides, with the roots that the question asks for.  Figures of single runs and shares
 * are of the question's metric.  sides need not outlive the call.  Errors are profile_read_with's;
 * ERROR_USAGE if sides cannot be compared; ERROR_UNSUPPORTED for a recording that is not fit as
 * evidence, if sides refuse that.
 */
must_use struct error *comparison_open(const struct comparison_sides *sides,
	const struct question *question, struct comparison **comparison);
/* The same of two profiles that are open, without roots; they must outlive the comparison. */
must_use struct error *comparison_of(const struct profile *old_profile,
	const struct profile *new_profile, bool normalize, const struct question *question,
	struct comparison **comparison);
void comparison_close(struct comparison *comparison);

/*
 * Answers the question, which must ask for one metric, with normalize that of comparison_open.
 * Question and comparison must outlive the answer; it is destroyed before the next one is asked.
 */
must_use struct error *comparison_ask(
	struct comparison *comparison, struct question *question, struct answer **answer);

#endif
