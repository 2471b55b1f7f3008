#ifndef SONDE_FORMATS_SONDE_CAPTURE_TROUBLE_H
#define SONDE_FORMATS_SONDE_CAPTURE_TROUBLE_H

/*
 * Notes on what went wrong with a recording, or with the file it is in.
 */

#include "formats/sonde/layout/capture_rows.h"
#include "model/builder.h"

/* What is wrong with a file. */
enum capture_trouble {
	CAPTURE_MISSING_PARTS,
	CAPTURE_LOST_LABELS,
	CAPTURE_ORPHANS, /* stacks that lead into what is missing */
	CAPTURE_LEFT_OUT_FRAMES,
	CAPTURE_MISSING_SAMPLES,
	CAPTURE_DROPPED_SAMPLES,
};

/* So many of it; none is no note, here and below. */
void capture_trouble_note(struct builder *b, enum capture_trouble trouble, uint64_t count);
/* What the recorder counted: counters[CAPTURE_COUNTER_COUNT]. */
void capture_trouble_counters(struct builder *b, const uint64_t *counters);
/* A metric's samples that were lost, and what is in samples beside what was counted (0: not). */
void capture_trouble_metric(
	struct builder *b, struct str name, uint64_t lost, uint64_t sum, uint64_t counted);

#endif
