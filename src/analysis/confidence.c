/*
 * Margins of error of shares.
 *
 * Each time slice is a separate metric of the same profile, so that one entity tree and
 * functions_analyse give all entities' shares in all slices.
 */
#include "analysis/confidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

enum {
	STRETCHES_MIN = 8,
	SAMPLES_MIN = 4, /* in a stretch */
};

/* Rows below this fraction of the total are not worth distinguishing. */
#define ALIKE_MIN 0.01

/* Student's t for two-sided 95 %, by degrees of freedom; beyond the last, the last applies. */
static const double student[] = {0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262,
	2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086};
#define NORMAL 1.960

struct error *confidence_check(const struct profile *profile)
{
	if (profile->samples.count > 0 && profile->samples.time_ns)
		return NULL;
	return error_new(ERROR_UNSUPPORTED,
		"--confidence: %.*s does not say when its samples were taken",
		STR_ARG(profile_string(profile, profile->source)));
}

/* ---- stretches ---- */

struct moment {
	uint64_t time_ns;
	uint32_t sample;
};

/* The selection divided into time slices, each a metric. */
struct cut {
	const struct selection *selection;
	metric_id metric;
	struct moment *moments; /* of the samples that weigh something, by time */
	size_t count;
	double independent; /* samples of equal weight that would vary as much as these */
	size_t stretches;
	int64_t **row_weight; /* [stretch][row] */
	double total[CONFIDENCE_STRETCHES];
};

static int moments_compare(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->sample > y->sample) - (x->sample < y->sample);
}

static int64_t sample_weight(const struct cut *c, size_t sample)
{
	return c->selection->profile->samples.weight[c->metric.i][sample];
}

/* Whether the sample is in the total. */
static bool is_counted(const struct cut *c, size_t sample)
{
	const struct selection *s = c->selection;

	return (s->sample_kept == NULL || s->sample_kept[sample]) &&
	       selection_shown(s, s->profile->samples.stack[sample].i) != SHOWN_DROPPED &&
	       sample_weight(c, sample) != 0;
}

static void find_moments(struct cut *c)
{
	const struct samples *samples = &c->selection->profile->samples;
	double sum = 0, squares = 0;

	c->moments = xcalloc(samples->count ? samples->count : 1, sizeof(*c->moments));
	for (size_t i = 0; i < samples->count; i++) {
		double weight = (double)sample_weight(c, i);

		if (!is_counted(c, i))
			continue;
		c->moments[c->count++] = (struct moment){samples->time_ns[i], (uint32_t)i};
		sum += weight;
		squares += weight * weight;
	}
	qsort(c->moments, c->count, sizeof(*c->moments), moments_compare);
	c->independent = squares > 0 ? sum * sum / squares : 0;
}

static void fill_stretches(struct cut *c)
{
	const struct profile *p = c->selection->profile;

	c->stretches = c->count / SAMPLES_MIN;
	if (c->stretches > CONFIDENCE_STRETCHES)
		c->stretches = CONFIDENCE_STRETCHES;
	if (c->stretches < STRETCHES_MIN)
		c->stretches = 0;
	c->row_weight = xcalloc(CONFIDENCE_STRETCHES, sizeof(*c->row_weight));
	for (size_t k = 0; k < c->stretches; k++)
		c->row_weight[k] = xcalloc(p->row_count, sizeof(**c->row_weight));
	for (size_t i = 0; i < c->count && c->stretches; i++) {
		uint32_t sample = c->moments[i].sample;
		size_t k = i * c->stretches / c->count;

		c->row_weight[k][profile_row(p, p->samples.stack[sample].i)] +=
			sample_weight(c, sample);
		c->total[k] += (double)sample_weight(c, sample);
	}
}

static void cut_init(struct cut *c, const struct selection *selection, metric_id metric)
{
	*c = (struct cut){.selection = selection, .metric = metric};
	find_moments(c);
	fill_stretches(c);
}

static void cut_deinit(struct cut *c)
{
	for (size_t k = 0; k < c->stretches; k++)
		free(c->row_weight[k]);
	free(c->row_weight);
	free(c->moments);
}

/* The rows of all stretches, their figures in `others`. */
static const struct functions *analyse_stretches(
	const struct cut *c, const struct entity_spec *spec, struct arena *scratch)
{
	metric_id ids[CONFIDENCE_STRETCHES];
	struct profile *profile = ARENA_NEW(scratch, struct profile);
	struct selection *selection = ARENA_NEW(scratch, struct selection);
	struct metric *metrics = ARENA_ARRAY(scratch, struct metric, c->stretches);
	struct entity_spec of_stretches = *spec;

	*profile = *c->selection->profile;
	*selection = *c->selection;
	for (size_t k = 0; k < c->stretches; k++) {
		ids[k].i = (uint32_t)k;
		metrics[k] = profile->metrics[c->metric.i];
	}
	profile->metrics = metrics;
	profile->metric_count = c->stretches;
	profile->row_weight = (const int64_t *const *)c->row_weight;
	profile->total = ARENA_ARRAY(scratch, int64_t, c->stretches);
	profile->arc_count = 0;
	profile->arc_cost = NULL;
	selection->profile = profile;
	selection->row_weight = profile->row_weight;
	selection->total = profile->total;
	of_stretches.metrics = ids;
	of_stretches.metric_count = c->stretches;
	return functions_analyse(entity_tree_create(selection, &of_stretches, scratch), scratch);
}

/* ---- chance ---- */

/* The standard error of `share`, a figure's share of the total, from its values by stretch. */
static double standard_error(const struct cut *c, const double *figures, double share)
{
	double total = c->total[0], squares = 0, before = figures[0] - share * c->total[0];

	for (size_t k = 1; k < c->stretches; k++) {
		double off = figures[k] - share * c->total[k];

		squares += (off - before) * (off - before);
		before = off;
		total += c->total[k];
	}
	if (total == 0)
		return 0;
	return sqrt((double)c->stretches * squares / (2 * (double)(c->stretches - 1))) /
	       fabs(total);
}

/* Differences of neighbours carry two thirds of the information of as many figures. */
static double student_of(const struct cut *c)
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

static int64_t margin(const struct cut *c, const double *figures, int64_t weight, int64_t total)
{
	double share = total ? (double)weight / (double)total : 0, most = 0;

	/* Samples give no interval for shares of differences or of overlapping costs. */
	if (c->independent <= 0 || share < 0 || share > 1)
		return 0;
	if (c->stretches)
		most = student_of(c) * standard_error(c, figures, share);
	return llround(fmax(most, wilson(share, c->independent)) * fabs((double)total));
}

/* ---- rows ---- */

struct rows {
	const struct cut *cut;
	const struct functions *functions;
	const struct functions *parts;	   /* by stretch; NULL: there are none */
	const struct functions *const *of; /* [stretch] */
	uint32_t *by_entity; /* [parts->count] rows of parts, in the order of their entities */
};

static const struct entity *entity_of(const struct functions *f, size_t row)
{
	return entity_tree_entity(f->tree, f->rows[row].entity);
}

static int parts_compare(const void *a, const void *b, void *parts)
{
	return entity_compare(
		entity_of(parts, *(const uint32_t *)a), entity_of(parts, *(const uint32_t *)b));
}

static void rows_init(struct rows *r, const struct cut *cut, const struct functions *functions,
	const struct functions *parts, struct arena *scratch)
{
	*r = (struct rows){.cut = cut, .functions = functions, .parts = parts};
	if (parts == NULL)
		return;
	const struct functions **of =
		ARENA_ARRAY(scratch, const struct functions *, CONFIDENCE_STRETCHES);
	of[0] = parts;
	for (size_t k = 1; k < cut->stretches; k++)
		of[k] = parts->others[k - 1];
	r->of = of;
	r->by_entity = ARENA_ARRAY(scratch, uint32_t, parts->count);
	for (size_t i = 0; i < parts->count; i++)
		r->by_entity[i] = (uint32_t)i;
	qsort_r(r->by_entity, parts->count, sizeof(*r->by_entity), parts_compare,
		(void *)(uintptr_t)parts);
}

/* A row's figures in each stretch. */
static void find_parts(const struct rows *r, size_t row, double *exclusive, double *inclusive)
{
	const struct entity *entity = entity_of(r->functions, row);
	size_t count = r->parts ? r->parts->count : 0;
	size_t at = partition_point(i, (size_t)0, count,
		entity_compare(entity_of(r->parts, r->by_entity[i]), entity) < 0);
	bool is_there =
		at < count && entity_compare(entity_of(r->parts, r->by_entity[at]), entity) == 0;

	for (size_t k = 0; k < CONFIDENCE_STRETCHES; k++) {
		const struct function_row *part = is_there && k < r->cut->stretches
							  ? &r->of[k]->rows[r->by_entity[at]]
							  : NULL;

		exclusive[k] = part ? (double)part->exclusive : 0;
		inclusive[k] = part ? (double)part->inclusive : 0;
	}
}

/*
 * How many times as many samples would distinguish a row from the next; at most 1: these suffice.
 */
static double times_to_tell(const struct rows *r, size_t row)
{
	const struct functions *f = r->functions;
	double total = (double)f->tree->total, figures[2][CONFIDENCE_STRETCHES],
	       inclusive[CONFIDENCE_STRETCHES];
	double one = (double)f->rows[row].exclusive / total,
	       two = (double)f->rows[row + 1].exclusive / total, apart = one - two;

	find_parts(r, row, figures[0], inclusive);
	find_parts(r, row + 1, figures[1], inclusive);
	for (size_t k = 0; k < r->cut->stretches; k++)
		figures[0][k] -= figures[1][k];
	double independent = NORMAL * sqrt((one + two - apart * apart) / r->cut->independent);
	double stretches = r->cut->stretches
				   ? student_of(r->cut) * standard_error(r->cut, figures[0], apart)
				   : 0;
	double off = fmax(independent, stretches);

	return apart > 0 ? off * off / (apart * apart) : INFINITY;
}

static void find_alike(const struct rows *r, struct confidence *confidence)
{
	const struct functions *f = r->functions;

	if (f->tree->total <= 0 || r->cut->independent <= 0)
		return;
	for (size_t i = 0; i + 1 < f->count; i++) {
		if ((double)f->rows[i + 1].exclusive < ALIKE_MIN * (double)f->tree->total)
			return;
		double times = times_to_tell(r, i);

		if (times > 1) {
			confidence->alike = i;
			confidence->times = times;
			return;
		}
	}
}

struct confidence *confidence_analyse(const struct selection *selection,
	const struct functions *functions, const struct entity_spec *spec, struct arena *arena)
{
	struct confidence *confidence = ARENA_NEW(arena, struct confidence);
	struct confidence_row *margins =
		ARENA_ARRAY(arena, struct confidence_row, functions->count);
	struct arena *scratch = arena_create();
	struct cut cut;
	struct rows rows;

	cut_init(&cut, selection, spec->metrics[0]);
	rows_init(&rows, &cut, functions,
		cut.stretches ? analyse_stretches(&cut, spec, scratch) : NULL, scratch);
	for (size_t i = 0; i < functions->count; i++) {
		const struct function_row *row = &functions->rows[i];
		double exclusive[CONFIDENCE_STRETCHES], inclusive[CONFIDENCE_STRETCHES];

		find_parts(&rows, i, exclusive, inclusive);
		margins[i].exclusive =
			margin(&cut, exclusive, row->exclusive, functions->tree->total);
		margins[i].inclusive =
			margin(&cut, inclusive, row->inclusive, functions->tree->total);
	}
	*confidence = (struct confidence){.rows = margins, .stretches = cut.stretches};
	find_alike(&rows, confidence);
	cut_deinit(&cut);
	arena_destroy(scratch);
	return confidence;
}
