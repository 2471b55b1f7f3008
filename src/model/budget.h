#ifndef SONDE_MODEL_BUDGET_H
#define SONDE_MODEL_BUDGET_H

/*
 * How much memory an input may make of itself.  A few bytes of a file can name a function or a
 * stack that takes hundreds, in the tables and in what analyses make of them; so each new row has a
 * price, and all rows together have as much room as the input's size allows: BUDGET_FREE_BYTES for
 * any input, plus BUDGET_RATIO times its bytes.  That keeps a report below 64 MiB plus four times
 * the input, including the program itself and the input.
 *
 * Rows that exist are always found; only new ones are refused, and counted.  Real files have long
 * names, and stacks that share most of their frames: they stay far below the limit.  For
 * model/builder alone; readers declare through it what they allocate themselves.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_FREE_BYTES ((uint64_t)52 << 20)
#define BUDGET_RATIO	  3u
/* One part in this many is closed to new stacks, to keep room for weights at existing ones. */
#define BUDGET_KEPT_PART 32u

/* The kinds of row that can be refused. */
enum budget_row {
	BUDGET_NAME,
	BUDGET_OBJECT,
	BUDGET_FUNCTION,
	BUDGET_FRAME,
	BUDGET_STACK,
	BUDGET_ARC,
	BUDGET_THREAD, /* also a process */
	BUDGET_SAMPLE,
	BUDGET_LABEL, /* also a set of labels */
	BUDGET_EVENT, /* of a zone; also a tick */
	BUDGET_NOTE,
	BUDGET_ROW_COUNT
};

/*
 * The most bytes that a row takes: itself and its lookup while it is built, or itself and what a
 * report keeps about it.  A name adds its own bytes; arcs and samples add their weights, and a
 * stack in which samples end adds a row of weights.
 */
enum {
	BUDGET_NAME_BYTES = 40,
	BUDGET_OBJECT_BYTES = 96,
	BUDGET_FUNCTION_BYTES = 280,
	BUDGET_FRAME_BYTES = 40,
	BUDGET_STACK_BYTES = 17,
	BUDGET_WEIGHT_BYTES = 16,
	BUDGET_ARC_BYTES = 96,
	BUDGET_THREAD_BYTES = 96,
	BUDGET_SAMPLE_BYTES = 16,
	BUDGET_LABEL_BYTES = 48,
	BUDGET_EVENT_BYTES = 64,
};

/* Limit on distinct notes: an input can ask for millions of short ones. */
#define BUDGET_NOTES_MAX 1000u

struct budget {
	uint64_t left; /* bytes */
	uint64_t kept; /* part of left: bytes that stacks must leave to weights */
	uint64_t refused[BUDGET_ROW_COUNT]; /* how many new rows were refused */
};

static inline bool budget_has(const struct budget *b, uint64_t bytes)
{
	return b->left >= bytes;
}

/* Takes bytes, or all that are left if there are fewer. */
static inline void budget_take(struct budget *b, uint64_t bytes)
{
	b->left -= bytes < b->left ? bytes : b->left;
}

/* The bytes that stacks may take. */
static inline uint64_t budget_unkept(const struct budget *b)
{
	return b->left > b->kept ? b->left - b->kept : 0;
}

/* The note's text on the refused rows of a kind, to follow their count. */
const char *budget_sentence(enum budget_row row);

#endif
