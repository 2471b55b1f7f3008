#ifndef SONDE_ANALYSIS_SELECTION_H
#define SONDE_ANALYSIS_SELECTION_H

/*
 * A selection: what filters leave of a profile.  It refers to the profile's own stacks, so filters
 * combine in any number and order, and none makes a tree of its own: one that hides frames changes
 * parents, one that drops or cuts stacks changes what they are shown as, one that looks at threads
 * or times sums the samples' weights again.  Entity trees are made from selections.
 */

#include "analysis/filter.h"
#include "analysis/shown.h"
#include "base/arena.h"
#include "model/profile.h"

/* One filter's effect. */
struct selection_step {
	const struct filter *filter;
	/* [metric] Weight that this filter and those before it kept. */
	const int64_t *kept;
	/* [metric] Weight that it left out for being in no tick; NULL: not a filter of ticks. */
	const int64_t *outside;
};

struct selection {
	const struct profile *profile;
	/*
	 * [stack]: the nearest caller that is not hidden; 0 for stack 0.  NULL: the profile's own
	 * parents.  Read through selection_parent.
	 */
	const uint32_t *parent;
	/*
	 * [stack]: what samples with this stack are shown as: see shown.h.  Never a hidden stack.
	 * NULL: as themselves.  Read through selection_shown.
	 */
	const uint32_t *shown;
	/* [stack]: itself, or its nearest caller that is not hidden; NULL: none is hidden. */
	const uint32_t *standing;
	/*
	 * [metric][row]: of the samples that thread and time filters keep.  Read through
	 * selection_weight.
	 */
	const int64_t *const *row_weight;
	/* [row]: how many samples these are; NULL: not known. */
	const uint64_t *row_samples;
	/* [sample]: whether thread and time filters keep it; NULL: all. */
	const bool *sample_kept;
	/* [row]: the first sample that they keep; NULL: all are kept, as stacks are numbered. */
	const uint32_t *row_first;
	/*
	 * [profile->ticks] Whether filters of threads, times and ticks keep the tick; NULL: all.  A
	 * time filter keeps a tick that ends within its time.
	 */
	const bool *tick_kept;
	struct str tick_stream; /* of the last filter of ticks; data NULL: the default one */
	/*
	 * [metric]: the base of percentages: what all filters but WHEN leave.  Under WHEN,
	 * percentages remain relative to all samples.
	 */
	const int64_t *total;
	const struct selection_step *steps;
	size_t step_count;
};

/* The whole profile.  Lives in the arena; the profile must live as long. */
must_use struct selection *selection_all(const struct profile *profile, struct arena *arena);

/*
 * What filters[count] leave, applied in that order, each to the result of the one before.  Lives in
 * the arena; profile and filters must live as long.  Fails with ERROR_UNSUPPORTED if the profile
 * does not know what a filter asks for (threads, times, whole stacks, zones, ticks), with
 * ERROR_INPUT if it has no such thread, process or stream as a filter names.
 */
must_use struct error *selection_create(const struct profile *profile, const struct filter *filters,
	size_t count, struct arena *arena, struct selection **selection);

/*
 * The selection without these samples, and their weight out of the total: not a filter, so not a
 * step.  dropped: [sample], of a profile that has samples.  Lives in the arena.
 */
must_use struct selection *selection_without(
	const struct selection *selection, const bool *dropped, struct arena *arena);

/* The nearest caller that is not hidden. */
static inline uint32_t selection_parent(const struct selection *s, uint32_t stack)
{
	return s->parent ? s->parent[stack] : profile_stack_parent(s->profile, stack);
}

/* What samples with this stack are shown as: see shown.h. */
static inline uint32_t selection_shown(const struct selection *s, uint32_t stack)
{
	return s->shown ? s->shown[stack] : stack;
}

/* The weight that ends at a stack and is kept. */
static inline int64_t selection_weight(const struct selection *s, size_t metric, uint32_t stack)
{
	return s->row_weight[metric][profile_row(s->profile, stack)];
}
static inline uint64_t selection_samples(const struct selection *s, uint32_t stack)
{
	return s->row_samples[profile_row(s->profile, stack)];
}

/* Whether views show a sample, judged by its stack and its other properties. */
static inline bool selection_shows_sample(const struct selection *s, size_t sample)
{
	return (s->sample_kept == NULL || s->sample_kept[sample]) &&
	       SHOWN_IS_STACK(selection_shown(s, s->profile->samples.stack[sample].i));
}

/* The zone stack that a sample was taken in; 0: in none, or the profile knows none. */
static inline uint32_t selection_whole_zone(const struct selection *s, size_t sample)
{
	return s->profile->samples.zone ? s->profile->samples.zone[sample].i : 0;
}

/* The same without its hidden frames. */
static inline uint32_t selection_zone(const struct selection *s, size_t sample)
{
	uint32_t zone = selection_whole_zone(s, sample);

	return s->standing ? s->standing[zone] : zone;
}

/* How many samples views show, or UINT64_MAX: not known. */
uint64_t selection_shown_samples(const struct selection *s);
/* How many WHEN left out, or UINT64_MAX. */
uint64_t selection_unmatched_samples(const struct selection *s);
/* The sum of both: how many samples the total is of. */
uint64_t selection_total_samples(const struct selection *s);

#endif
