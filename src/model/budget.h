#ifndef SONDE_MODEL_BUDGET_H
#define SONDE_MODEL_BUDGET_H

/*
 * How much memory an input may make of itself.  A few bytes of a file can name a function or a
 * stack that takes hundreds, in the tables and in what analyses make of them; so each new row has
 * a price, and all have as much room as the input's size answers for: BUDGET_FREE_BYTES whatever
 * it is, and BUDGET_RATIO times its bytes.  That keeps a report below 64 MiB and four times the
 * input, the program itself and the input among it.
 *
 * What is there already is found for ever; only what would be new is refused, and counted.  Real
 * files have long names, and stacks that share most of their frames: they stay far below.  For
 * model/builder alone; readers say through it what they take beside it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_FREE_BYTES ((uint64_t)52 << 20)
#define BUDGET_RATIO	  3u
/* The part that no stack takes, so that what ends at those that are there has room. */
#define BUDGET_KEPT_PART 32u

/* What can be refused. */
enum budget_row {
	BUDGET_NAME,
	BUDGET_OBJECT,
	BUDGET_FUNCTION,
	BUDGET_FRAME,
	BUDGET_STACK,
	BUDGET_ARC,
	BUDGET_THREAD, /* a process, too */
	BUDGET_SAMPLE,
	BUDGET_LABEL, /* a set of labels, too */
	BUDGET_EVENT, /* of a zone; a tick, too */
	BUDGET_NOTE,
	BUDGET_ROW_COUNT
};

/*
 * What a row takes at most in bytes: itself and its lookup while it is built, or itself and what a
 * report has of it.  A name has its bytes beside that; arcs and samples have their weights, and a
 * stack in which samples end has a row of weights.
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

/* Distinct notes: an input can ask for millions of short ones. */
#define BUDGET_NOTES_MAX 1000u

struct budget {
	uint64_t left;			    /* bytes */
	uint64_t kept;			    /* of which stacks leave so many to weights */
	uint64_t refused[BUDGET_ROW_COUNT]; /* how often one would have been new */
};

static inline bool budget_has(const struct budget *b, uint64_t bytes)
{
	return b->left >= bytes;
}

/* Takes bytes; more than there are take all. */
static inline void budget_take(struct budget *b, uint64_t bytes)
{
	b->left -= bytes < b->left ? bytes : b->left;
}

/* For stacks. */
static inline uint64_t budget_unkept(const struct budget *b)
{
	return b->left > b->kept ? b->left - b->kept : 0;
}

/* What is to be said of the refused rows of a kind, behind their count. */
const char *budget_sentence(enum budget_row row);

#endif
