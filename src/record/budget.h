#ifndef SONDE_RECORD_BUDGET_H
#define SONDE_RECORD_BUDGET_H

/*
 * Keeps what a recording costs, the recorder's own CPU time and what sampling takes from the
 * target, within a share of the target's CPU time, by halving the rate of samples.  A sample weighs
 * its interval, so weights stay true.
 *
 * What counts is the cost of a second of recording, not that of its start, which no lower rate
 * would change.
 */

#include <stdbool.h>
#include <stdint.h>

/* What a sample takes from the target. */
struct budget_price {
	uint64_t sample_ns; /* the interrupt and a record without stack */
	uint64_t kilobyte_ns;
};

/* Totals so far. */
struct budget_use {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t own_cpu_ns, stolen_ns, target_cpu_ns;
};

struct budget {
	double most; /* share of the target's CPU time; 0: as much as it takes */
	uint32_t halvings, halvings_most;
	struct budget_use last;
	uint32_t over, under; /* looks in a row at which it was too much, and less than half */
};

void budget_init(struct budget *b, double most, uint32_t halvings_most);
/*
 * To be called every now and then. True: halvings has changed, up or down by one.
 */
bool budget_look(struct budget *b, const struct budget_use *use);

/*
 * Finds out what a sample costs here: takes a few hundred of ourselves while we look at the clock,
 * as bench/gap.c does.  Takes some 10 ms.  False: no sampling is allowed.
 */
bool budget_measure_price(struct budget_price *price);

#endif
