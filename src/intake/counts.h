#ifndef SONDE_INTAKE_COUNTS_H
#define SONDE_INTAKE_COUNTS_H

/* What an intake has answered so far, as metrics for Prometheus.  For one thread. */

#include "intake/message.h"

struct intake_counts {
	uint64_t requests[INTAKE_PATH_COUNT], bytes[INTAKE_PATH_COUNT];
	uint64_t kept[INTAKE_PATH_COUNT], rejected[INTAKE_PATH_COUNT];
	uint64_t refused[INTAKE_REASON_COUNT];
};

/* body_bytes: as they arrived. */
void intake_counts_add(struct intake_counts *counts, enum intake_path path, size_t body_bytes,
	const struct intake_answer *answer);
/* Appends them in Prometheus's text format 0.0.4, always the same lines. */
void intake_counts_put(const struct intake_counts *counts, struct strbuf *out);
/* Appends one gauge. */
void intake_gauge_put(struct strbuf *out, const char *name, const char *help, uint64_t value);

#endif
