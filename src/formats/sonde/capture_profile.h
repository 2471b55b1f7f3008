#ifndef SONDE_FORMATS_SONDE_CAPTURE_PROFILE_H
#define SONDE_FORMATS_SONDE_CAPTURE_PROFILE_H

/*
 * The parts of a capture file that only written profiles have: the profile's own statistics and
 * notes, functions outside all stacks, calls.
 */

#include "base/map.h"
#include "formats/sonde/layout/capture_samples.h"
#include "formats/sonde/capture_names.h"

struct capture_profile {
	struct builder *builder;
	uint64_t flags;	      /* enum capture_profile_flag */
	struct map functions; /* number in the file → function of the builder */
};

void capture_profile_init(struct capture_profile *p, struct builder *b);
void capture_profile_deinit(struct capture_profile *p);

/* Read the payloads of chunks; names must have all objects. */
must_use struct error *capture_profile_read_notes(
	struct capture_profile *p, struct cursor *payload);
must_use struct error *capture_profile_read_functions(
	struct capture_profile *p, struct capture_names *names, struct cursor *payload);
/* Called after all functions are read; skips arcs of missing ones. */
must_use struct error *capture_profile_read_arcs(struct capture_profile *p, struct cursor *payload);

/* Adds a row of SAMPLES that is the sum of a stack.  weight[metric_count] is in file order. */
void capture_profile_add_sum(struct capture_profile *p, const struct capture_sample *row,
	stack_id stack, uint32_t metric_count);
/* facts: by key, UINT64_MAX: missing. */
void capture_profile_set_header(const struct capture_profile *p, const uint64_t *facts);

#endif
