#ifndef SONDE_ANALYSIS_SELECTION_H
#define SONDE_ANALYSIS_SELECTION_H

/*
 * A selection: what filters leave of a profile.  It speaks in the profile's own stacks, so filters
 * stack in any number and order, and none makes a tree of its own: one that hides frames changes
 * parents, one that drops or cuts stacks changes what they are shown as, one that looks at threads
 * or times sums the samples' weights anew.  Entity trees are made of selections.
 */

#include "analysis/filter.h"
#include "analysis/shown.h"
#include "base/arena.h"
#include "model/profile.h"

/* What one filter did. */
struct selection_step {
	const struct filter *filter;
	/* [metric] Weight that this filter and those before it kept. */
	const int64_t *kept;
	/* [metric] Weight that it left out as it was in no tick; NULL: it does not look at ticks.
	 */
	const int64_t *outside;
};

struct selection {
	const struct profile *profile;
	/*
	 * [stack]: the next stack outwards whose frame is not hidden; of stack 0: 0; NULL: the
	 * profile's own parents.  Asked for by selection_parent.
	 */
	const uint32_t *parent;
	/*
	 * [stack]: what samples with this stack are shown as: see shown.h.  Never a hidden one.
	 * NULL: as what they are.  Asked for by selection_shown.
	 */
	const uint32_t *shown;
	/*
	 * [stack]: itself, or the next stack outwards whose frame is not hidden; NULL: none is.
	 */
	const uint32_t *standing;
	/*
	 * [metric][row]: of the samples that thread and time filters keep.  Asked
	 * for by selection_weight.
	 */
	const int64_t *const *row_weight;
	/* [row]: how many samples that is; NULL: not known. */
	const uint64_t *row_samples;
	/* [sample]: whether thread and time filters keep it; NULL: all. */
	const bool *sample_kept;
	/*
	 * [profile->ticks] Whether filters of threads, times and ticks keep the tick; NULL: all.
	 * Of those of time that keep it, the tick's end lies in the time.
	 */
	const bool *tick_kept;
	struct str tick_stream; /* of the last filter of ticks; data NULL: the default one */
	/*
	 * [metric]: the base of percentages: what is left by all filters but WHEN, which leaves
	 * percentages those of all samples.
	 */
	const int64_t *total;
	const struct selection_step *steps;
	size_t step_count;
};

/* The whole profile.  Lives in the arena; the profile must live as long. */
must_use struct selection *selection_all(const struct profile *profile, struct arena *arena);

/*
 * What filters[count] leave, applied in that order, each to what the one before left.  Lives in the
 * arena; profile and filters must live as long.  Fails with ERROR_UNSUPPORTED where the profile
 * does not know what a filter asks for (threads, times, whole stacks, zones, ticks), with
 * ERROR_INPUT where a thread, process or stream that is named is not in it.
 */
must_use struct error *selection_create(const struct profile *profile, const struct filter *filters,
	size_t count, struct arena *arena, struct selection **selection);

/* The next stack outwards whose frame is not hidden. */
static inline uint32_t selection_parent(const struct selection *s, uint32_t stack)
{
	return s->parent ? s->parent[stack] : profile_stack_parent(s->profile, stack);
}

/* What samples with this stack are shown as: see shown.h. */
static inline uint32_t selection_shown(const struct selection *s, uint32_t stack)
{
	return s->shown ? s->shown[stack] : stack;
}

/* What ends at a stack and is kept. */
static inline int64_t selection_weight(const struct selection *s, size_t metric, uint32_t stack)
{
	return s->row_weight[metric][profile_row(s->profile, stack)];
}
static inline uint64_t selection_samples(const struct selection *s, uint32_t stack)
{
	return s->row_samples[profile_row(s->profile, stack)];
}

/* Whether views show a sample, be it by its stack or by what else is known of it. */
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

/* The same without what is hidden of it. */
static inline uint32_t selection_zone(const struct selection *s, size_t sample)
{
	uint32_t zone = selection_whole_zone(s, sample);

	return s->standing ? s->standing[zone] : zone;
}

/* How many samples are shown by views, or UINT64_MAX: not known. */
uint64_t selection_shown_samples(const struct selection *s);
/* How many WHEN left out, or UINT64_MAX. */
uint64_t selection_unmatched_samples(const struct selection *s);
/* Both: how many the total is of. */
uint64_t selection_total_samples(const struct selection *s);

#endif
