#ifndef SONDE_ANALYSIS_CONFIDENCE_H
#define SONDE_ANALYSIS_CONFIDENCE_H

/*
 * How far a share may be off by the chance of sampling.
 *
 * Samples that follow each other are alike: a burst of work in one function spans many of them.  So
 * the samples are cut into stretches of time with equal numbers of samples, and how much a figure's
 * share varies from one stretch to the next estimates the effect of chance (the successive
 * difference estimator of systematic samples; K. M. Wolter, Introduction to Variance Estimation,
 * 2nd ed. 2007, section 8.2).  Differences between phases of a program are not chance, and count
 * only at the borders of phases.  Where stretches give less than independent samples would
 * (Wilson's score interval, J. Am. Stat. Assoc. 22, 1927), the latter is used: with few samples, a
 * stretch may have none.
 *
 * Variation from run to run for other reasons (load, caches, seeds) is not included.
 *
 * Each stretch is a metric of its own, so that any analysis gives its figures for stretches as for
 * metrics, whole or some at a time:
 *
 *	confidence_init(&c, selection, metric, CONFIDENCE_STRETCHES);
 *	for (size_t k = 0; k < c.stretches; k++) {
 *		… analyse confidence_selection(&c, k, 1, …), metric profile->metric_count …
 *		chance_add(&chance, k, …);
 *	}
 *	margin = confidence_margin(&c, &chance, …);
 */

#include "analysis/selection.h"

/* Number of stretches of time, if there are enough samples. */
#define CONFIDENCE_STRETCHES 32
/* In how many percent of samples an interval contains the true share. */
#define CONFIDENCE_PERCENT 95

struct confidence {
	const struct selection *selection;
	metric_id metric;
	struct moment *moments; /* of the samples that weigh something, by time */
	size_t count;
	double total;	    /* their weight */
	double independent; /* samples of equal weight that would vary as much as these */
	size_t stretches;   /* 0: too few samples to cut */
};

/*
 * NULL if the profile knows when samples were taken, and none weighs less than nothing, else an
 * ERROR_UNSUPPORTED.
 */
must_use struct error *confidence_check(const struct profile *profile, metric_id metric);

/*
 * Cuts what is shown of the metric into as many stretches as there are samples for, at most so many
 * and CONFIDENCE_STRETCHES.  The profile must have passed confidence_check; the selection must live
 * as long.
 */
void confidence_init(struct confidence *c, const struct selection *selection, metric_id metric,
	size_t stretches_max);
void confidence_deinit(struct confidence *c);

/*
 * The selection, of a profile that has stretches `first` to before `first + count` as further
 * metrics, numbered from the old profile's metric_count.  of_samples: samples have weights in them,
 * too, as trees at levels of tasks and zones need; otherwise only stacks.  Everything new lives in
 * the arena.
 */
must_use const struct selection *confidence_selection(const struct confidence *c, size_t first,
	size_t count, bool of_samples, struct arena *arena);

/* A figure and what 100 % is for it, in one stretch or in all. */
struct chance_figure {
	double weight, base;
};

/* How much a figure's share varied from stretch to stretch.  Begins as zeros. */
struct chance {
	double before, squares;
};

/* Adds the figure in a stretch, in the order of stretches; share: that of all stretches. */
static inline void chance_add(
	struct chance *c, size_t stretch, struct chance_figure figure, double share)
{
	double off = figure.weight - share * figure.base;

	if (stretch > 0)
		c->squares += (off - c->before) * (off - c->before);
	c->before = off;
}

/*
 * Half of the interval's width, in the figure's unit, for the figure of all stretches.  0 for what
 * is not a share, outside of 0 to 1.
 */
double confidence_margin(
	const struct confidence *c, const struct chance *chance, struct chance_figure figure);

/*
 * How many times as many samples would distinguish two shares of the same base; at most 1: these
 * suffice.  difference: of the first figure less the second.
 */
double confidence_times(const struct confidence *c, const struct chance *difference, double one,
	double two, double base);

#endif
