#ifndef SONDE_AGENT_METRICS_H
#define SONDE_AGENT_METRICS_H

/*
 * The agent's health as text, in the exposition format of Prometheus, version 0.0.4.
 */

#include <stdbool.h>
#include <stdint.h>

#include "agent/ledger.h"
#include "agent/sender.h"
#include "base/error.h"
#include "base/str.h"

struct agent_metrics {
	/* Totals since the start, of finished segments. */
	uint64_t samples, lost, truncated;
	uint64_t segments, segments_nameless, segment_bytes;
	uint64_t segments_sent, sent_bytes, store_errors;
	uint64_t halvings, pauses, late_ns;
	uint64_t segments_salvaged;
	uint64_t own_cpu_ns;
	/* Totals since the spool was made. */
	uint64_t gone[LEDGER_LOSSES];
	/* Now. */
	double rate_hz, cpu_share;
	bool is_paused, has_names;
	uint64_t memory_bytes, memory_most, spool_bytes, spool_segments;
	uint64_t memory_peak; /* since the start */
	uint64_t start_unix_ns;
	/* For the queues of shards; NULL: none. */
	const struct sender *sender;
	const struct spool *spool;
};

void agent_metrics_put(const struct agent_metrics *m, struct strbuf *out);
/*
 * Writes them to a file that is replaced as a whole, for the textfile collector of Prometheus'
 * node_exporter.  folder, path: as in openat(2).
 */
must_use struct error *agent_metrics_write(
	const struct agent_metrics *m, int folder, const char *path);

#endif
