#ifndef SONDE_RECORD_BUDGET_H
#define SONDE_RECORD_BUDGET_H

/*
 * Keeps the cost of a recording within a share of the target's CPU time, by halving the sampling
 * rate.  The cost is the recorder's own CPU time and what sampling takes from the target.  A sample
 * weighs its interval, so weights stay correct.
 *
 * The cost of the start does not count, as a lower rate would not reduce it.
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
	double most; /* share of the target's CPU time; 0: no limit */
	uint32_t halvings, halvings_most;
	struct budget_use last;
	uint32_t over, under; /* consecutive checks at which it cost too much, or less than a
			         third */
};

void budget_init(struct budget *b, double most, uint32_t halvings_most);
/* Call it regularly.  True: halvings has changed, up or down by one. */
bool budget_look(struct budget *b, const struct budget_use *use);

/*
 * Measures the cost of a sample on this machine: takes a few hundred samples of this process while
 * it reads the clock, as bench/gap.c does, for about 10 ms.  False: sampling is not allowed.
 */
bool budget_measure_price(struct budget_price *price);

#endif
