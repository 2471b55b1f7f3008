#ifndef SONDE_FORMATS_CALLGRIND_EVENTS_H
#define SONDE_FORMATS_CALLGRIND_EVENTS_H

/*
 * The events of a callgrind file: each column of its `events:` lines becomes a metric, and so does
 * each formula of its `event:` lines.
 */

#include "base/str.h"
#include "base/vec.h"
#include "model/builder.h"

/* Maximum columns of a cost line, and metrics of a file; further ones are skipped. */
#define CALLGRIND_EVENTS_MAX 64

/* A term of a formula: a metric times a factor. */
struct callgrind_term {
	uint32_t metric, sum; /* the metric added, and the metric it is added to */
	int64_t factor;
};

struct callgrind_events {
	struct builder *builder;
	/* The text after `events:` and after `event:`, borrowed, without repetitions. */
	VEC(struct str) lists, descriptions;
	size_t metric_count;			/* of the builder */
	struct str names[CALLGRIND_EVENTS_MAX]; /* of metrics, as in the file; borrowed */
	int64_t scale[CALLGRIND_EVENTS_MAX];	/* [metric]: the value of one of the file's units */
	uint32_t column[CALLGRIND_EVENTS_MAX];	/* the metric of each column of a cost line */
	size_t column_count;
	bool is_plain; /* columns are metrics without changes: no formula, no scale */
	VEC(struct callgrind_term) terms;
	bool has_weights_as_calls; /* pprof's, which also writes a call's weight as its count */
	uint64_t too_many, bad_formulas;
};

void callgrind_events_init(struct callgrind_events *e, struct builder *b);
void callgrind_events_deinit(struct callgrind_events *e);
/*
 * Makes the metrics: those of all `events:` lines, then those of formulas.  Call it before anything
 * else is built.  The file must outlive this.
 */
void callgrind_events_find(struct callgrind_events *e, struct str file);
/* Selects the columns for the lines after an `events:` line; names: the text after the colon. */
void callgrind_events_select(struct callgrind_events *e, struct str names);
/* Converts the numbers of a line to weights of all metrics. */
void callgrind_events_weigh(
	const struct callgrind_events *e, const int64_t *numbers, int64_t *weight);

#endif
