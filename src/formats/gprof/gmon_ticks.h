#ifndef SONDE_FORMATS_GPROF_GMON_TICKS_H
#define SONDE_FORMATS_GPROF_GMON_TICKS_H

/*
 * From the ticks of histogram bins to those of functions, in whole numbers that add up.
 */

#include "formats/gprof/gmon_file.h"

struct function_symbols;

/* What one bin gives one function. */
struct gmon_place {
	uint64_t addr;	   /* where its part of the bin begins */
	uint32_t function; /* index in the symbols; UINT32_MAX: in none */
	uint64_t time_ns;
	uint64_t share; /* of ticks, in 1/65536 */
	uint64_t ticks; /* in whole */
};

struct gmon_ticks {
	VEC(struct gmon_place) places; /* as the file's bins stand */
	uint64_t total;
	uint64_t outside; /* ticks outside of all functions, rounded */
};

/*
 * Bin i of n covers the units (of two bytes) from ⌊i·u/n⌋ to ⌊(i+1)·u/n⌋ of the histogram's u, as
 * gprof reckons.  A bin that several functions share is split by how much of it each has.  Times
 * and shares are rounded so that a bin's parts sum to the bin, and a histogram's bins to its ticks
 * over its rate.  Whole ticks are dealt to functions by largest remainder, so that no function is
 * a tick off its share, and their sum is that of the bins.
 */
void gmon_ticks_init(
	struct gmon_ticks *t, const struct gmon_file *file, const struct function_symbols *symbols);
void gmon_ticks_deinit(struct gmon_ticks *t);

#endif
