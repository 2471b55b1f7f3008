#ifndef SONDE_TESTS_SLOW_ANNOTATE_H
#define SONDE_TESTS_SLOW_ANNOTATE_H

/*
 * A function's figures by place and address the plain slow way, by the words of the definition: for
 * each place one look at every stack, frame by frame.
 */

#include "analysis/annotate.h"

/* Of the stacks that hold place i of the annotation, by the profile's own weights. */
struct annotate_figures slow_annotate_place(
	const struct profile *p, const struct annotation *a, size_t i, metric_id metric);
/* Of the stacks that are at the instruction [low, high) of the function's code. */
struct annotate_figures slow_annotate_address(const struct profile *p, const struct annotation *a,
	uint64_t low, uint64_t high, metric_id metric);

#endif
