#ifndef SONDE_ANALYSIS_CONFIDENCE_H
#define SONDE_ANALYSIS_CONFIDENCE_H

/*
 * How far a share may be off by the chance of sampling.
 *
 * Samples that follow each other are alike: a burst of work in one function is in many of them.  So
 * the samples are cut into stretches of time, as many in each, and how much an entity's part varies
 * from one stretch to the next says what chance does (the successive difference estimator of
 * systematic samples; K. M. Wolter, Introduction to Variance Estimation, 2nd ed. 2007,
 * section 8.2). What a program does in one phase and not in another is no chance, and counts at the
 * borders of phases only.  Where stretches say less than independent samples would (Wilson's score
 * interval, J. Am. Stat. Assoc. 22, 1927), the latter holds: of few samples no stretch has one.
 *
 * What varies from run to run for other reasons (load, caches, seeds) is not in this.
 */

#include "analysis/functions.h"
#include "analysis/selection.h"

/* Stretches of time, where there are samples enough. */
#define CONFIDENCE_STRETCHES 32
/* In which samples an interval holds the true share. */
#define CONFIDENCE_PERCENT 95

/* Half of an interval's width, in the metric's unit. */
struct confidence_row {
	int64_t exclusive, inclusive;
};

struct confidence {
	const struct confidence_row *rows; /* [functions->count] */
	size_t stretches;		   /* 0: too few samples to cut */
	/*
	 * The first row whose exclusive weight may be that of the next one, both 1 % of the total
	 * or more, and how many times as many samples would tell them apart; times 0: none is.
	 */
	size_t alike;
	double times;
};

/* NULL if the profile tells when samples were taken, else an ERROR_UNSUPPORTED. */
must_use struct error *confidence_check(const struct profile *profile);

/*
 * Of functions_analyse's rows for the tree of that selection by that spec, whose level is not one
 * of tasks or zones: of the first metric.  Lives in the arena.  Takes memory for
 * CONFIDENCE_STRETCHES metrics of the selection while it works.  The profile has passed
 * confidence_check.
 */
must_use struct confidence *confidence_analyse(const struct selection *selection,
	const struct functions *functions, const struct entity_spec *spec, struct arena *arena);

#endif
