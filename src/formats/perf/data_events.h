#ifndef SONDE_FORMATS_PERF_DATA_EVENTS_H
#define SONDE_FORMATS_PERF_DATA_EVENTS_H

/*
 * The events of a perf.data file: what each counts, the contents of its samples, and the ids of its
 * records.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/map.h"
#include "base/vec.h"
#include "perfstream/record.h"

struct perf_data_event {
	uint32_t type; /* PERF_TYPE_… */
	uint64_t config, config1, config2;
	struct perfstream_layout layout;
	uint64_t period;    /* between samples, or with is_freq, samples per second */
	uint16_t max_stack; /* maximum addresses in a chain; 0: the kernel's default */
	bool is_freq;
	struct str name;  /* in the arena; empty: unknown */
	struct str unit;  /* "ns" or "count" */
	uint64_t samples; /* number of its samples */
	uint32_t metric;  /* the reader's number of its metric */
};

/* Whether its samples' branches are active calls: perf record --call-graph lbr. */
bool perf_data_event_has_calls(const struct perf_data_event *event);

struct perf_data_events {
	struct arena *arena;
	VEC(struct perf_data_event) rows;
	struct map by_id; /* to indexes in rows */
};

void perf_data_events_init(struct perf_data_events *e, struct arena *arena);
void perf_data_events_deinit(struct perf_data_events *e);

/*
 * Adds the event whose attribute is at the cursor.  The attribute has its own size, at most `most`
 * bytes, and is skipped; fields that an older one lacks are 0.  The cursor becomes bad if it is
 * invalid.
 */
void perf_data_events_add(struct perf_data_events *e, struct cursor *c, uint64_t most);
/* Reads the next count numbers as ids of the event added last. */
void perf_data_events_read_ids(struct perf_data_events *e, struct cursor *c, uint64_t count);
/* Adds an id to the event at that index. */
void perf_data_events_put_id(struct perf_data_events *e, uint64_t id, uint32_t place);
/* Names the event with that id. */
void perf_data_events_name(struct perf_data_events *e, uint64_t id, struct str name);
/* Sets missing names, as perf would, and units. */
void perf_data_events_finish(struct perf_data_events *e);

/*
 * The event with that sample id; the first one for id 0 and in files without ids.  NULL: there is
 * none.
 */
struct perf_data_event *perf_data_events_find(struct perf_data_events *e, uint64_t id);

#endif
