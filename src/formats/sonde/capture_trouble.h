#ifndef SONDE_FORMATS_SONDE_CAPTURE_TROUBLE_H
#define SONDE_FORMATS_SONDE_CAPTURE_TROUBLE_H

/* Notes about problems in a recording, or in its file. */

#include "formats/sonde/layout/capture_rows.h"
#include "model/builder.h"

/* Problems of a file. */
enum capture_trouble {
	CAPTURE_MISSING_PARTS,
	CAPTURE_LOST_LABELS,
	CAPTURE_ORPHANS, /* stacks that refer to missing parts */
	CAPTURE_LEFT_OUT_FRAMES,
	CAPTURE_MISSING_SAMPLES,
	CAPTURE_DROPPED_SAMPLES,
	CAPTURE_RESTORED_CALLERS, /* in samples */
};

/* The note on guessed callers, after the words for the stacks that contain one. */
#define CAPTURE_GUESSED_NOTE(stacks_contain)                                                       \
	stacks_contain " a guessed caller: what is outside [guessed] is likely, not certain; "     \
		       "for code generated at run time, a jitdump makes it certain "               \
		       "(node --perf-prof)"

/* Adds a note with a count; no note if it is 0, here and below. */
void capture_trouble_note(struct builder *b, enum capture_trouble trouble, uint64_t count);
/* Adds notes about the recorder's counters[CAPTURE_COUNTER_COUNT]. */
void capture_trouble_counters(struct builder *b, const uint64_t *counters);
/*
 * Adds notes about a metric's lost samples, and its samples compared with the counted events (0:
 * unknown).
 */
void capture_trouble_metric(
	struct builder *b, struct str name, uint64_t lost, uint64_t sum, uint64_t counted);

#endif
