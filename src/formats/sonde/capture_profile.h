#ifndef SONDE_FORMATS_SONDE_CAPTURE_PROFILE_H
#define SONDE_FORMATS_SONDE_CAPTURE_PROFILE_H

/*
 * What is in a capture file that a profile was written to, and not in a recording: the profile's
 * own statistics and notes, functions that no stack has, calls.
 */

#include "base/map.h"
#include "formats/sonde/layout/capture_samples.h"
#include "formats/sonde/capture_names.h"

struct capture_profile {
	struct builder *builder;
	uint64_t flags;	      /* enum capture_profile_flag */
	struct map functions; /* the file's number → function of the builder */
};

void capture_profile_init(struct capture_profile *p, struct builder *b);
void capture_profile_deinit(struct capture_profile *p);

/* The payloads of chunks; names has all objects. */
must_use struct error *capture_profile_read_notes(
	struct capture_profile *p, struct cursor *payload);
must_use struct error *capture_profile_read_functions(
	struct capture_profile *p, struct capture_names *names, struct cursor *payload);
/* After all functions; arcs of one that is missing are passed over. */
must_use struct error *capture_profile_read_arcs(struct capture_profile *p, struct cursor *payload);

/* A row of SAMPLES: a sample, or the sum of a stack.  weight[metric_count] in the file's order. */
void capture_profile_add_row(struct capture_profile *p, const struct capture_sample *row,
	stack_id stack, stack_id zone, thread_id thread, uint32_t metric_count);
/* facts by key, UINT64_MAX: not there. */
void capture_profile_set_header(const struct capture_profile *p, const uint64_t *facts);

#endif
