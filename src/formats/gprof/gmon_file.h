#ifndef SONDE_FORMATS_GPROF_GMON_FILE_H
#define SONDE_FORMATS_GPROF_GMON_FILE_H

/*
 * The records of a gmon.out file (docs/formats/gmon.md).  The file does not record the size and
 * byte order of its numbers: they are those of the program that wrote it.
 *
 * Converts the ticks of histogram bins to ticks of functions, in integers that add up.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* More than any program writes; each costs a walk over the functions in its range. */
#define GMON_HISTOGRAMS_MAX 1024

struct gmon_words {
	size_t size; /* of an address: 4 or 8 */
	bool is_big_endian;
};

/* Ticks by address: bins of equal size that cover [low, high). */
struct gmon_histogram {
	uint64_t low, high;
	uint32_t bin_count;
	uint32_t rate;	      /* ticks per second, at least 1 */
	struct str dimension; /* "seconds" */
	const uint8_t *ticks; /* [bin_count], two bytes each; points into the file */
};

struct gmon_arc {
	uint64_t from; /* the return address in the caller */
	uint64_t self; /* an address in the callee */
	uint32_t calls;
};

struct gmon_file {
	struct gmon_words words;
	VEC(struct gmon_histogram) histograms;
	VEC(struct gmon_arc) arcs;
	uint64_t block_count;	  /* number of basic blocks, which are skipped */
	uint64_t histograms_over; /* number beyond GMON_HISTOGRAMS_MAX, skipped */
	const char *problem;	  /* why reading ended early, a literal; NULL: it did not */
	uint64_t problem_offset;
};

/*
 * Reads data[size]; name is for messages.  Keeps the records before the first bad one.  ERROR_INPUT
 * if there are none, or the header is invalid.  The result borrows data; free it with
 * gmon_file_deinit, also on failure.
 */
must_use struct error *gmon_file_read(struct gmon_file *file, const uint8_t *data, size_t size,
	struct gmon_words words, const char *name);
void gmon_file_deinit(struct gmon_file *file);

struct function_symbols;

/* The share of one bin that one function gets. */
struct gmon_place {
	uint64_t addr;	   /* start of its part of the bin */
	uint32_t function; /* index in the symbols; UINT32_MAX: in no function */
	uint64_t time_ns;
	uint64_t share; /* ticks, in 1/65536 */
	uint64_t ticks; /* whole ticks */
};

struct gmon_ticks {
	VEC(struct gmon_place) places; /* in the order of the file's bins */
	uint64_t total;
	uint64_t outside; /* ticks outside all functions, rounded */
};

/*
 * Bin i of n covers the units (of two bytes) from ⌊i·u/n⌋ to ⌊(i+1)·u/n⌋ of the histogram's u, as
 * in gprof.  A bin that several functions share is split in proportion.  Times and shares are
 * rounded so that a bin's parts add up to the bin, and a histogram's bins to its ticks divided by
 * its rate.  Whole ticks are distributed by largest remainder, so that no function is a tick off
 * its share, and their sum equals that of the bins.
 */
void gmon_ticks_init(
	struct gmon_ticks *t, const struct gmon_file *file, const struct function_symbols *symbols);
void gmon_ticks_deinit(struct gmon_ticks *t);

#endif
