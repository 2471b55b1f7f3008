#ifndef SONDE_INTAKE_COUNTS_H
#define SONDE_INTAKE_COUNTS_H

/* Counts an intake's answers, as metrics for Prometheus.  Only one thread may use a counter. */

#include "intake/message.h"

struct intake_counts {
	uint64_t requests[INTAKE_PATH_COUNT], bytes[INTAKE_PATH_COUNT];
	uint64_t kept[INTAKE_PATH_COUNT], rejected[INTAKE_PATH_COUNT]; /* profiles */
	uint64_t refused[INTAKE_REASON_COUNT];
};

/* Counts an answer.  body_bytes: of the request's body as it arrived; 0 if it was discarded. */
void intake_counts_add(struct intake_counts *counts, enum intake_path path, size_t body_bytes,
	const struct intake_answer *answer);
/* Appends all counters in Prometheus's text format 0.0.4.  The set of lines is always the same. */
void intake_counts_put(const struct intake_counts *counts, struct strbuf *out);
/* Appends one gauge in the same format. */
void intake_gauge_put(struct strbuf *out, const char *name, const char *help, uint64_t value);

#endif
