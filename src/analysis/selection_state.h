#ifndef SONDE_ANALYSIS_SELECTION_STATE_H
#define SONDE_ANALYSIS_SELECTION_STATE_H

/* Shared by selection.c, selection_samples.c and selection_labels.c, and private to them. */

#include "analysis/selection.h"
#include "base/vec.h"

/* A selection under construction. */
struct selecting {
	const struct profile *profile;
	struct arena *arena;
	/* As in struct selection; parent and shown are NULL until a filter changes them. */
	uint32_t *parent, *shown, *standing;
	const int64_t *const *row_weight;
	const uint64_t *row_samples;
	const uint32_t *row_first;
	bool *sample_kept; /* NULL: all */
	bool *tick_kept;   /* the same */
	struct str tick_stream;
	int64_t *outside; /* of the last filter, if that looks at ticks */
	VEC(struct selection_step) steps;
};

static inline uint32_t selecting_shown(const struct selecting *s, uint32_t stack)
{
	return s->shown ? s->shown[stack] : stack;
}

static inline uint32_t selecting_parent(const struct selecting *s, uint32_t stack)
{
	return s->parent ? s->parent[stack] : profile_stack_parent(s->profile, stack);
}

/* The function whose frame a stack ends in. */
static inline function_id selecting_function(const struct profile *p, uint32_t stack)
{
	return p->frames[p->stack_frame[stack].i].function;
}

/*
 * Filters of samples: they update which samples and ticks are kept.  Errors are those of
 * selection_create.
 */
must_use struct error *selecting_keep_threads(struct selecting *s, const struct filter *f);
must_use struct error *selecting_keep_times(struct selecting *s, const struct filter *f);
must_use struct error *selecting_keep_zones(struct selecting *s, const struct filter *f);
/* Also sets outside. */
must_use struct error *selecting_keep_ticks(struct selecting *s, const struct filter *f);
/* In selection_labels.c. */
must_use struct error *selecting_keep_labels(struct selecting *s, const struct filter *f);
/* Marks all samples as kept, if none were dropped so far. */
void selecting_keep_all_samples(struct selecting *s);
/* After any of these: sums the weights of the kept samples. */
void selecting_sum_samples(struct selecting *s);

#endif
