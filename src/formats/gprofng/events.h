#ifndef SONDE_FORMATS_GPROFNG_EVENTS_H
#define SONDE_FORMATS_GPROFNG_EVENTS_H

/*
 * Packets of a gprofng experiment as samples: which metrics they have, and how much of each.
 */

#include "base/folder.h"
#include "model/builder.h"
#include "formats/gprofng/log.h"
#include "formats/gprofng/packets.h"

/* Metrics, named as gprofng names them; those that no packet has are not in the profile. */
enum gprofng_metric {
	GP_SAMPLES,
	GP_STATE, /* a thread's states, of which time is told: 16 of them */
	GP_STATE_END = GP_STATE + 16,
	GP_SYNC_TIME = GP_STATE_END,
	GP_SYNC_COUNT,
	GP_BYTES_ALLOCATED,
	GP_ALLOCATIONS,
	GP_BYTES_LEAKED,
	GP_LEAKS,
	GP_COUNTER, /* hardware counters, 16 of them */
	GP_COUNTER_END = GP_COUNTER + 16,
	GP_METRICS = GP_COUNTER_END
};

struct gprofng_metrics {
	bool is_used[GP_METRICS];
	metric_id id[GP_METRICS];
	size_t count;
};

/* What a packet says. */
struct gprofng_event {
	uint64_t thread, time_ns, frinfo;
	enum gprofng_metric metric[2]; /* GP_METRICS: none */
	int64_t weight[2];
	bool is_sample; /* of a clock or counter; else it is of something that happened */
};

/* False: it is of no kind that has figures.  Freed memory has none, so heap says what was leaked.
 */
bool gprofng_event_of(const struct gprofng_kind *kind, const struct gprofng_packet *packet,
	uint64_t interval_ns, struct gprofng_event *event);

/* Adds those that are used to the builder, and sets the default one. */
void gprofng_metrics_add(struct gprofng_metrics *metrics, struct builder *builder);

/* Which allocations, by their place among the packets of the file, were never freed; calloc'ed. */
must_use uint8_t *gprofng_leaks(
	const struct gprofng_kind *kind, const struct file_bytes *bytes, size_t *count);

#endif
