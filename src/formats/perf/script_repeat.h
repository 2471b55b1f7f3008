#ifndef SONDE_FORMATS_PERF_SCRIPT_REPEAT_H
#define SONDE_FORMATS_PERF_SCRIPT_REPEAT_H

/*
 * What comes again in the text of `perf script`: first lines of samples that differ from one before
 * in thread, CPU, time and period alone, and blocks of frames that are the same to the byte.  Both
 * are only known again here; what is new is read by script_head.h and script_stacks.h,
 * and remembered.
 */

#include "base/row_table.h"
#include "formats/perf/script_head.h"
#include "formats/perf/script_rows.h"
#include "formats/perf/script_tasks.h"
#include "formats/common/spans.h"

#define PERF_WHOS ((size_t)1024)

/* What is before the time in a first line, blanks too; in the input. */
struct perf_who {
	const char *data; /* NULL: the place is free */
	uint32_t size;
	uint32_t thread;
};

/* What follows the period in a first line, or the time where that has none. */
struct perf_tail {
	struct str text; /* with the line's end; in the input */
	bool has_period;
	uint32_t event;
};

#define PERF_TAILS 8

struct perf_heads {
	struct perf_tail tails[PERF_TAILS]; /* the first is what was met last */
	size_t tail_count;
	struct perf_who whos[PERF_WHOS]; /* by a hash of theirs */
};

/*
 * Takes a sample's first line off the start of rest, if it is whole and ends as one that is
 * remembered: the same as perf_head_scan says of it.
 */
bool perf_heads_take(struct perf_heads *h, struct perf_tasks *tasks, struct str *rest,
	struct perf_sample *sample);
/* What head and event became of a line that stands at the start of text, with nothing behind. */
void perf_heads_remember(
	struct perf_heads *h, struct str text, const struct perf_head *head, uint32_t event);

/* The lines below a sample's first one, up to the empty line; without the last one's end. */
struct perf_block {
	struct span span;
	uint32_t lines;
};

/* Samples that are looked up together. */
#define PERF_WAITING_MAX 16

/* A sample that is read and not added yet: its stack is that of the block. */
struct perf_waiting {
	struct perf_sample sample;
	struct perf_block block;
	uint64_t line_number; /* of the first line */
};

struct perf_blocks {
	struct row_table spans; /* ids are those of stacks */
	size_t most;
};

void perf_blocks_init(struct perf_blocks *b, size_t input_size);
void perf_blocks_deinit(struct perf_blocks *b);
/* The block at the start of text; false if its lines are no plain ones that begin with a tab. */
bool perf_block_scan(struct str text, struct perf_block *block);
/* Has what is known of their blocks brought near, for perf_blocks_find. */
void perf_blocks_warm(
	const struct perf_blocks *b, const struct perf_waiting *waiting, size_t count);
/* False: it was not seen before. */
static inline bool perf_blocks_find(
	const struct perf_blocks *b, const struct perf_block *block, stack_id *stack)
{
	stack->i = span_find(&b->spans, block->span);
	return stack->i != NO_ID;
}
void perf_blocks_remember(struct perf_blocks *b, const struct perf_block *block, stack_id stack);

#endif
