#ifndef SONDE_ANALYSIS_CONFIDENCE_H
#define SONDE_ANALYSIS_CONFIDENCE_H

/*
 * How far a share may be off by the chance of sampling.
 *
 * Samples that follow each other are alike: a burst of work in one function spans many of them.  So
 * the samples are cut into stretches of time with equal numbers of samples, and how much an
 * entity's share varies from one stretch to the next estimates the effect of chance (the successive
 * difference estimator of systematic samples; K. M. Wolter, Introduction to Variance Estimation,
 * 2nd ed. 2007, section 8.2).  Differences between phases of a program are not chance, and count
 * only at the borders of phases.  Where stretches give less than independent samples would
 * (Wilson's score interval, J. Am. Stat. Assoc. 22, 1927), the latter is used: with few samples, a
 * stretch may have none.
 *
 * Variation from run to run for other reasons (load, caches, seeds) is not included.
 */

#include "analysis/functions.h"
#include "analysis/selection.h"

/* Number of stretches of time, if there are enough samples. */
#define CONFIDENCE_STRETCHES 32
/* In how many percent of samples an interval contains the true share. */
#define CONFIDENCE_PERCENT 95

/* Half of an interval's width, in the metric's unit. */
struct confidence_row {
	int64_t exclusive, inclusive;
};

struct confidence {
	const struct confidence_row *rows; /* [functions->count] */
	size_t stretches;		   /* 0: too few samples to cut */
	/*
	 * The first row whose exclusive weight may equal the next row's, both at least 1 % of the
	 * total, and how many times as many samples would distinguish them; times 0: there is none.
	 */
	size_t alike;
	double times;
};

/* NULL if the profile knows when samples were taken, else an ERROR_UNSUPPORTED. */
must_use struct error *confidence_check(const struct profile *profile);

/*
 * The confidence of functions_analyse's rows in the first metric, for the tree of that selection by
 * that spec, whose level is not one of tasks or zones.  Lives in the arena.  Takes memory for
 * CONFIDENCE_STRETCHES metrics of the selection while it runs.  The profile must have passed
 * confidence_check.
 */
must_use struct confidence *confidence_analyse(const struct selection *selection,
	const struct functions *functions, const struct entity_spec *spec, struct arena *arena);

#endif
