#ifndef SONDE_STORE_SPREAD_H
#define SONDE_STORE_SPREAD_H

/*
 * A weight of an interval, whose times within it are not known, as pieces at equal distances that
 * add up to it.  Where the first piece is depends on the stack, so that the pieces of all stacks
 * together have no rhythm.
 */

#include <stdint.h>

struct spread {
	uint64_t count; /* of pieces */
	uint64_t gap_ns, phase_ns;
};

/* wanted: pieces; there are one at least and 60 at most.  length_ns 0: one, at the start. */
struct spread spread_over(uint64_t length_ns, uint64_t wanted, uint32_t stack);
/* The i-th part of a weight. */
int64_t spread_part(const struct spread *spread, int64_t whole, uint64_t i);
/* When the i-th piece is, from the start of the interval. */
uint64_t spread_time_ns(const struct spread *spread, uint64_t i);

#endif
