#ifndef SONDE_FORMATS_SONDE_CAPTURE_ZONES_H
#define SONDE_FORMATS_SONDE_CAPTURE_ZONES_H

/*
 * What a capture file tells of its programs' zones (prof.h), on its way into a builder: ticks, zone
 * rows, zone events, and the calls from zone to zone, which are counted entries.
 */

#include "base/cursor.h"
#include "formats/sonde/capture_tasks.h"
#include "formats/sonde/capture_tree.h"

struct capture_zones_reader {
	struct builder *builder;
	struct capture_tasks *tasks;
	struct capture_tree *tree;
	metric_id time, entries; /* NO_ID: the file has no zone rows */
	uint64_t orphans;	 /* rows, events and zones of samples whose stack is missing */
};

void capture_zones_init(struct capture_zones_reader *z, struct builder *b,
	struct capture_tasks *tasks, struct capture_tree *tree);
/* Where the file has zone rows: their metrics. */
void capture_zones_add_metrics(struct capture_zones_reader *z);

/* The payloads of chunks, once stacks and tasks are built and the metrics known. */
must_use struct error *capture_zones_read_ticks(
	struct capture_zones_reader *z, struct cursor *payload);
must_use struct error *capture_zones_read_rows(
	struct capture_zones_reader *z, struct cursor *payload);
must_use struct error *capture_zones_read_events(
	struct capture_zones_reader *z, struct cursor *payload);

/* What programs did wrong with their zones, and what was lost of them. */
void capture_zones_note(struct builder *b, const uint64_t *counters);

#endif
