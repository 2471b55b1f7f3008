/*
 * The statistics summary: the source's own figures, completed by what the profile itself shows.
 */
#include "analysis/stats.h"

#include <stdlib.h>

#include "base/alloc.h"

#define UNKNOWN UINT64_MAX

/* From the first sample to the last. */
static uint64_t samples_duration_ns(const struct samples *s)
{
	uint64_t first = UINT64_MAX, last = 0;

	if (s->time_ns == NULL || s->count == 0)
		return UNKNOWN;
	for (size_t i = 0; i < s->count; i++) {
		first = s->time_ns[i] < first ? s->time_ns[i] : first;
		last = s->time_ns[i] > last ? s->time_ns[i] : last;
	}
	return last - first;
}

static void sampling_complete(struct profile_stats *s, const struct profile *profile)
{
	if (s->duration_ns == UNKNOWN)
		s->duration_ns = samples_duration_ns(&profile->samples);
	if (s->interval_ns == UNKNOWN && s->cpu_ns != UNKNOWN && s->counted != UNKNOWN &&
		s->counted > 0)
		s->interval_ns = s->cpu_ns / s->counted;
}

/* Outermost occurrences as in functions.c: a node inside one recurs, and so do all stacks below. */
static void stats_count_tree(struct stats *s, const struct entity_tree *tree)
{
	uint32_t *outermost_end = xcalloc(tree->entity_count, sizeof(*outermost_end));
	uint32_t recursion_end = 0;

	s->stack_count = entity_tree_weight(tree, 0) != 0;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t *end = &outermost_end[tree->entity[i]];
		s->stack_count += entity_tree_weight(tree, i) != 0;
		s->entity_count += *end == 0;
		if (i >= *end) {
			*end = entity_tree_end(tree, i);
		} else if (i >= recursion_end) {
			recursion_end = entity_tree_end(tree, i);
			s->recursive += entity_tree_weight_below(tree, i);
		}
	}
	free(outermost_end);
}

/* Each frame of a stack lies on one node: the sum of weights below all nodes is weight × depth. */
static double tree_depth_mean(const struct entity_tree *tree)
{
	__int128 frames = 0;

	for (uint32_t i = 1; i < tree->node_count; i++)
		frames += entity_tree_weight_below(tree, i);
	int64_t shown = entity_tree_weight_below(tree, 0);

	return shown ? (double)frames / (double)shown : 0;
}

static uint64_t samples_with(const struct selection *s, size_t metric)
{
	const struct samples *samples = &s->profile->samples;
	uint64_t count = 0;

	if (samples->count == 0)
		return UNKNOWN;
	for (size_t i = 0; i < samples->count; i++)
		count += samples->weight[metric][i] != 0 &&
			 (s->sample_kept == NULL || s->sample_kept[i]) &&
			 selection_shown(s, samples->stack[i].i) < SHOWN_UNMATCHED;
	return count;
}

static struct stats_metric *stats_metrics(const struct selection *s, struct arena *arena)
{
	const struct profile *profile = s->profile;
	struct stats_metric *metrics =
		ARENA_ARRAY(arena, struct stats_metric, profile->metric_count);

	for (size_t m = 0; m < profile->metric_count; m++)
		metrics[m] = (struct stats_metric){s->total[m], samples_with(s, m)};
	return metrics;
}

/* What a sample's own stack shows about how it was taken, regardless of filters. */
struct quality {
	bool is_foreign;  /* its leaf is in no known function */
	bool is_critical; /* it is truncated, or some of its callers are guessed */
	bool is_guessed;  /* the latter */
};

/* Readers use this name for code that they cannot name. */
static struct quality frame_quality(const struct profile *p, uint32_t stack)
{
	const struct frame *frame = &p->frames[p->stack_frame[stack].i];
	const struct function *f = &p->functions[frame->function.i];
	struct str name = profile_string(p, f->name);
	bool is_guess = f->object.i == NO_ID && str_equal(name, STR("[guessed]"));
	bool is_cut = f->object.i == NO_ID && str_equal(name, STR("[truncated]"));

	return (struct quality){
		.is_foreign =
			is_cut || is_guess || name.size == 0 || str_equal(name, STR("[unknown]")),
		.is_critical = is_cut || is_guess,
		.is_guessed = is_guess,
	};
}

/* How many of the samples with a quality there are, and how many of these are shown. */
struct judged {
	uint64_t all, shown;
};

static void judged_add(struct judged *j, const struct selection *selection, uint32_t stack)
{
	j->all += profile_samples(selection->profile, stack);
	if (selection_shown(selection, stack) < SHOWN_UNMATCHED)
		j->shown += selection_samples(selection, stack);
}

/* Stacks determine it only if, for all samples, they give the number that the source counted. */
static uint64_t judged_shown(const struct judged *j, uint64_t counted)
{
	return j->all == counted ? j->shown : UNKNOWN;
}

/* Recounts, among the shown samples, what the source has counted among all. */
static void sampling_judge(struct profile_stats *s, const struct selection *selection)
{
	const struct profile *p = selection->profile;
	struct quality *quality = xcalloc(p->stack_count, sizeof(*quality));
	struct judged foreign = {0}, critical = {0}, guessed = {0};

	for (uint32_t i = 1; i < p->stack_count; i++) {
		quality[i] = frame_quality(p, i);
		const struct quality *parent = &quality[profile_stack_parent(p, i)];

		/* A stack that is truncated and guessed counts as truncated. */
		quality[i].is_guessed =
			parent->is_critical ? parent->is_guessed : quality[i].is_guessed;
		quality[i].is_critical |= parent->is_critical;
		if (quality[i].is_foreign)
			judged_add(&foreign, selection, i);
		if (quality[i].is_critical)
			judged_add(&critical, selection, i);
		if (quality[i].is_guessed)
			judged_add(&guessed, selection, i);
	}
	free(quality);
	s->foreign = judged_shown(&foreign, s->foreign);
	s->critical = judged_shown(&critical, s->critical);
	s->guessed = judged_shown(&guessed, s->guessed);
}

/* The samples that filters keep. */
static void sampling_filter(struct profile_stats *s, const struct selection *selection)
{
	if (selection->row_samples == NULL) {
		s->counted = s->excluded = s->foreign = s->critical = s->guessed = UNKNOWN;
		return;
	}
	s->counted = selection_shown_samples(selection);
	s->excluded =
		selection_unmatched_samples(selection) + (s->excluded == UNKNOWN ? 0 : s->excluded);
	sampling_judge(s, selection);
}

struct stats stats_analyse(
	const struct selection *selection, const struct entity_tree *tree, struct arena *arena)
{
	struct stats s = {
		.sampling = selection->profile->stats,
		.certificate = certificate_of(selection->profile),
		.metrics = stats_metrics(selection, arena),
		.total = tree->total,
		.depth_max = tree->depth_max,
		.depth_mean = tree_depth_mean(tree),
	};

	sampling_complete(&s.sampling, selection->profile);
	if (selection->step_count > 0)
		sampling_filter(&s.sampling, selection);
	stats_count_tree(&s, tree);
	return s;
}
