#ifndef SONDE_FORMATS_CALLGRIND_EVENTS_H
#define SONDE_FORMATS_CALLGRIND_EVENTS_H

/*
 * The events of a callgrind file: each column of its `events:` lines becomes a metric, and so does
 * each formula of its `event:` lines.
 */

#include "base/str.h"
#include "base/vec.h"
#include "model/builder.h"

/* Columns of a cost line, and metrics of a file; what stands behind is passed over. */
#define CALLGRIND_EVENTS_MAX 64

/* A term of a formula: so many times a metric. */
struct callgrind_term {
	uint32_t metric, sum; /* what is added, and to what */
	int64_t factor;
};

struct callgrind_events {
	struct builder *builder;
	/* The text behind `events:` and behind `event:`, borrowed, without those like the one
	 * before. */
	VEC(struct str) lists, descriptions;
	size_t metric_count;			/* of the builder */
	struct str names[CALLGRIND_EVENTS_MAX]; /* of metrics, as the file has them; borrowed */
	int64_t scale[CALLGRIND_EVENTS_MAX];	/* [metric]: what one of the file's units is */
	uint32_t column[CALLGRIND_EVENTS_MAX];	/* the metric of each column of a cost line */
	size_t column_count;
	bool is_plain; /* columns are metrics as they stand: no formula, no scale */
	VEC(struct callgrind_term) terms;
	bool has_weights_as_calls; /* pprof's, which writes a call's weight as its count, too */
	uint64_t too_many, bad_formulas;
};

void callgrind_events_init(struct callgrind_events *e, struct builder *b);
void callgrind_events_deinit(struct callgrind_events *e);
/*
 * Makes the metrics, which must be there before anything else: those of all `events:` lines in the
 * file, then those of formulas.  The file must outlive this.
 */
void callgrind_events_find(struct callgrind_events *e, struct str file);
/* From an `events:` line on, columns are these: the text behind the colon. */
void callgrind_events_select(struct callgrind_events *e, struct str names);
/* The numbers of a line as weights of all metrics. */
void callgrind_events_weigh(
	const struct callgrind_events *e, const int64_t *numbers, int64_t *weight);

#endif
