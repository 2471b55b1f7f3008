/*
 * Margins of error of shares.
 *
 * See confidence.h for the method.
 */
#include "analysis/confidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	STRETCHES_MIN = 8,
	SAMPLES_MIN = 4, /* in a stretch */
};

/* Student's t for two-sided 95 %, by degrees of freedom; beyond the last, the last applies. */
static const double student[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
	2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
#define NORMAL 1.960

static struct error *check_weights(const struct profile *profile, metric_id metric)
{
	for (size_t i = 0; i < profile->samples.count; i++)
		if (profile->samples.weight[metric.i][i] < 0)
			return error_new(ERROR_UNSUPPORTED,
				"--confidence: %.*s has samples of negative weight",
				STR_ARG(profile_string(profile, profile->source)));
	return NULL;
}

struct error *confidence_check(const struct profile *profile, metric_id metric)
{
	if (profile->samples.count > 0 && profile->samples.time_ns)
		return check_weights(profile, metric);
	return error_new(ERROR_UNSUPPORTED,
		"--confidence: %.*s does not say when its samples were taken",
		STR_ARG(profile_string(profile, profile->source)));
}

/* ---- stretches ---- */

struct moment {
	uint64_t time_ns;
	uint32_t sample;
};

static int moments_compare(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static int64_t sample_weight(const struct confidence *c, size_t sample)
{
	return c->selection->profile->samples.weight[c->metric.i][sample];
}

/* Whether the sample is in the total. */
static bool is_counted(const struct confidence *c, size_t sample)
{
	const struct selection *s = c->selection;

	return (s->sample_kept == NULL || s->sample_kept[sample]) &&
	       selection_shown(s, s->profile->samples.stack[sample].i) != SHOWN_DROPPED &&
	       sample_weight(c, sample) != 0;
}

static void find_moments(struct confidence *c)
{
	const struct samples *samples = &c->selection->profile->samples;
	double squares = 0;

	c->moments = xcalloc(samples->count ? samples->count : 1, sizeof(*c->moments));
	for (size_t i = 0; i < samples->count; i++) {
		double weight = (double)sample_weight(c, i);

		if (!is_counted(c, i))
			continue;
		c->moments[c->count++] = (struct moment){samples->time_ns[i], (uint32_t)i};
		c->total += weight;
		squares += weight * weight;
	}
	qsort(c->moments, c->count, sizeof(*c->moments), moments_compare);
	c->independent = squares > 0 ? c->total * c->total / squares : 0;
}

void confidence_init(struct confidence *c, const struct selection *selection, metric_id metric,
	size_t stretches_max)
{
	*c = (struct confidence){.selection = selection, .metric = metric};
	find_moments(c);
	c->stretches = c->count / SAMPLES_MIN;
	if (c->stretches > stretches_max)
		c->stretches = stretches_max;
	if (c->stretches > CONFIDENCE_STRETCHES)
		c->stretches = CONFIDENCE_STRETCHES;
	if (c->stretches < STRETCHES_MIN)
		c->stretches = 0;
}

void confidence_deinit(struct confidence *c)
{
	free(c->moments);
}

/* A copy of array[count] with room for more. */
#define EXTENDED(arena, array, count, more)                                                        \
	extended((arena), (array), (count), (more), sizeof((array)[0]))

static void *extended(
	struct arena *arena, const void *array, size_t count, size_t more, size_t size)
{
	void *copy = arena_calloc(arena, count + more, size);

	if (count)
		memcpy(copy, array, count * size);
	return copy;
}

/* Stretch k's weights by row and, if weight is not NULL, by sample; returns their sum. */
static int64_t fill_stretch(const struct confidence *c, size_t k, int64_t *rows, int64_t *weights)
{
	const struct profile *p = c->selection->profile;
	int64_t total = 0;

	for (size_t i = (k * c->count + c->stretches - 1) / c->stretches;
		i < c->count && i * c->stretches / c->count == k; i++) {
		uint32_t sample = c->moments[i].sample;
		int64_t weight = sample_weight(c, sample);

		rows[profile_row(p, p->samples.stack[sample].i)] += weight;
		if (weights)
			weights[sample] = weight;
		total += weight;
	}
	return total;
}

const struct selection *confidence_selection(const struct confidence *c, size_t first, size_t count,
	bool of_samples, struct arena *arena)
{
	const struct profile *p = c->selection->profile;
	struct profile *profile = ARENA_NEW(arena, struct profile);
	struct selection *selection = ARENA_NEW(arena, struct selection);
	size_t own = p->metric_count;
	struct metric *metrics = EXTENDED(arena, p->metrics, own, count);
	const int64_t **rows = EXTENDED(arena, c->selection->row_weight, own, count);
	int64_t **weights = EXTENDED(arena, p->samples.weight, own, count);
	const int64_t **costs = p->arc_cost ? EXTENDED(arena, p->arc_cost, own, count) : NULL;
	int64_t *total = EXTENDED(arena, p->total, own, count);
	int64_t *shown = EXTENDED(arena, c->selection->total, own, count);

	for (size_t k = 0; k < count; k++) {
		int64_t *row = ARENA_ARRAY(arena, int64_t, p->row_count);
		int64_t *weight = of_samples ? ARENA_ARRAY(arena, int64_t, p->samples.count) : NULL;

		metrics[own + k] = p->metrics[c->metric.i];
		shown[own + k] = total[own + k] = fill_stretch(c, first + k, row, weight);
		rows[own + k] = row;
		weights[own + k] = weight;
		if (costs)
			costs[own + k] = p->arc_cost[c->metric.i];
	}
	*profile = *p;
	*selection = *c->selection;
	profile->metrics = metrics;
	profile->metric_count = own + count;
	profile->row_weight = rows;
	profile->samples.weight = weights;
	profile->arc_cost = costs;
	profile->total = total;
	selection->profile = profile;
	selection->row_weight = rows;
	selection->total = shown;
	return selection;
}

/* ---- chance ---- */

/* The standard error of a share. */
static double standard_error(const struct confidence *c, const struct chance *chance, double base)
{
	double differences = 2 * (double)(c->stretches - 1);

	return sqrt((double)c->stretches * chance->squares / differences) / fabs(base);
}

/* Differences of neighbours carry two thirds of the information of as many figures. */
static double student_of(const struct confidence *c)
{
	size_t degrees = c->stretches ? 2 * (c->stretches - 1) / 3 : 0,
	       last = ARRAY_SIZE(student) - 1;

	return degrees == 0 ? NORMAL : student[degrees < last ? degrees : last];
}

/* The larger part of Wilson's interval, to one side of the share. */
static double wilson(double share, double count)
{
	double z = NORMAL * NORMAL / count, middle = (share + z / 2) / (1 + z);
	double half = NORMAL / (1 + z) * sqrt(share * (1 - share) / count + z / (4 * count));

	return half + fabs(middle - share);
}

/* How many independent samples are in a base. */
static double samples_in(const struct confidence *c, double base)
{
	return c->total > 0 ? c->independent * base / c->total : 0;
}

double confidence_margin(
	const struct confidence *c, const struct chance *chance, struct chance_figure figure)
{
	double count = samples_in(c, figure.base), most = 0;

	/* Samples give no interval for shares of differences or of overlapping costs. */
	if (count <= 0 || figure.weight < 0 || figure.weight > figure.base)
		return 0;
	if (c->stretches)
		most = student_of(c) * standard_error(c, chance, figure.base);
	return fmax(most, wilson(figure.weight / figure.base, count)) * figure.base;
}

double confidence_times(const struct confidence *c, const struct chance *difference, double one,
	double two, double base)
{
	double count = samples_in(c, base), apart = (one - two) / base;

	if (count <= 0)
		return 0;
	if (apart <= 0)
		return INFINITY;
	double independent = NORMAL * sqrt(((one + two) / base - apart * apart) / count);
	double stretches = c->stretches ? student_of(c) * standard_error(c, difference, base) : 0;
	double off = fmax(independent, stretches);

	return off * off / (apart * apart);
}
