#ifndef SONDE_FORMATS_GPROF_GMON_FILE_H
#define SONDE_FORMATS_GPROF_GMON_FILE_H

/*
 * The records of a gmon.out file (docs/formats/gmon.md).  What size and order its numbers have the
 * file does not say: they are those of the program that wrote it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

/* More of them than any program writes; each costs a walk over the functions in its range. */
#define GMON_HISTOGRAMS_MAX 1024

struct gmon_words {
	size_t size; /* of an address: 4 or 8 */
	bool is_big_endian;
};

/* Ticks by address: bins of equal size that cover [low, high). */
struct gmon_histogram {
	uint64_t low, high;
	uint32_t bin_count;
	uint32_t rate;	      /* ticks a second, at least 1 */
	struct str dimension; /* "seconds" */
	const uint8_t *ticks; /* [bin_count] of two bytes each; the file's */
};

struct gmon_arc {
	uint64_t from; /* in the caller, the address of return */
	uint64_t self; /* in the callee */
	uint32_t calls;
};

struct gmon_file {
	struct gmon_words words;
	VEC(struct gmon_histogram) histograms;
	VEC(struct gmon_arc) arcs;
	uint64_t block_count;	  /* of basic blocks, which are passed over */
	uint64_t histograms_over; /* beyond GMON_HISTOGRAMS_MAX, passed over */
	const char *problem;	  /* why reading ended early, a literal; NULL: it did not */
	uint64_t problem_offset;
};

/*
 * Reads data[size]; name is for messages.  What comes before a bad record is kept, unless that is
 * nothing: ERROR_INPUT, as where the header is not one.  The result borrows data, and is freed
 * with gmon_file_deinit, also on failure.
 */
must_use struct error *gmon_file_read(struct gmon_file *file, const uint8_t *data, size_t size,
	struct gmon_words words, const char *name);
void gmon_file_deinit(struct gmon_file *file);

#endif
