#ifndef SONDE_FORMATS_SONDE_CAPTURE_ZONES_H
#define SONDE_FORMATS_SONDE_CAPTURE_ZONES_H

/*
 * Adds the zones of a capture file's programs (prof.h) to a builder: ticks, zone rows, zone events,
 * and the calls from zone to zone, which are counted entries.
 */

#include "base/cursor.h"
#include "formats/sonde/capture_tasks.h"
#include "formats/sonde/capture_tree.h"

struct capture_zones_reader {
	struct builder *builder;
	struct capture_tasks *tasks;
	struct capture_tree *tree;
	metric_id time, entries; /* NO_ID: the file has no zone rows */
	uint64_t orphans;	 /* rows, events and zones of samples with a missing stack */
};

void capture_zones_init(struct capture_zones_reader *z, struct builder *b,
	struct capture_tasks *tasks, struct capture_tree *tree);
/* If the file has zone rows: adds their metrics. */
void capture_zones_add_metrics(struct capture_zones_reader *z);

/* Read the payloads of chunks, after stacks and tasks are built and the metrics are known. */
must_use struct error *capture_zones_read_ticks(
	struct capture_zones_reader *z, struct cursor *payload);
must_use struct error *capture_zones_read_rows(
	struct capture_zones_reader *z, struct cursor *payload);
must_use struct error *capture_zones_read_events(
	struct capture_zones_reader *z, struct cursor *payload);

/* Adds notes about misused zones, and about lost data of zones. */
void capture_zones_note(struct builder *b, const uint64_t *counters);

#endif
