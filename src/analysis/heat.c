/*
 * Weights by time.  A slice's part of an off-CPU time is the difference of two shares, rounded
 * down: up to the slice's end and up to its beginning.  So the parts sum to its whole weight, and
 * all slices to the weight of the selection.
 */
#include "analysis/heat.h"

#include <stdlib.h>

/* A column of the shortest map. */
#define COLUMN_NS_MIN 1000000u
/* Samples that fit in a slice; with fewer, one more or less would look like a pattern. */
#define SAMPLES_MIN 5u

struct heating {
	const struct selection *selection;
	const struct samples *samples;
	const int64_t *cpu, *real; /* [sample]; NULL: the profile has no such metric */
};

static const int64_t *weights_of(const struct profile *p, struct str name)
{
	metric_id metric;

	return profile_find_metric(p, name, &metric) ? p->samples.weight[metric.i] : NULL;
}

/*
 * How long a sample lasted, at most until the end of time: off-CPU times begin at the sample's
 * time.
 */
static uint64_t duration_ns(const struct heating *h, size_t sample)
{
	bool is_off = h->cpu && h->real && h->cpu[sample] == 0 && h->real[sample] > 0;
	uint64_t lasts_ns = is_off ? (uint64_t)h->real[sample] : 0;
	uint64_t most_ns = UINT64_MAX - h->samples->time_ns[sample];

	return lasts_ns < most_ns ? lasts_ns : most_ns;
}

/* The first and the last moment shown; false: nothing is shown. */
static bool find_span(const struct heating *h, uint64_t *begin_ns, uint64_t *last_ns)
{
	*begin_ns = UINT64_MAX;
	*last_ns = 0;
	for (size_t i = 0; i < h->samples->count; i++) {
		uint64_t time_ns = h->samples->time_ns[i], lasts_ns = duration_ns(h, i);
		uint64_t last = time_ns + (lasts_ns > 0 ? lasts_ns - 1 : 0);

		if (!selection_shows_sample(h->selection, i))
			continue;
		*begin_ns = time_ns < *begin_ns ? time_ns : *begin_ns;
		*last_ns = last > *last_ns ? last : *last_ns;
	}
	return *begin_ns <= *last_ns;
}

/* The next of 1, 2, 5, 10, 20 … times a power of ten.  None beyond 2^62 is needed. */
static uint64_t next_step(uint64_t step)
{
	uint64_t digit = step;

	while (digit % 10 == 0)
		digit /= 10;
	return digit == 2 ? step / 2 * 5 : step * 2;
}

/* Of the CPU time of one thread; 0: not known. */
static uint64_t sample_interval_ns(const struct profile *p)
{
	uint64_t interval_ns = p->stats.interval_ns;

	return interval_ns < INT64_MAX / (HEAT_ROWS * SAMPLES_MIN) ? interval_ns : 0;
}

static struct heat choose_slices(const struct heating *h)
{
	uint64_t least_ns = HEAT_ROWS * SAMPLES_MIN * sample_interval_ns(h->selection->profile);
	uint64_t begin_ns, last_ns, column_ns = COLUMN_NS_MIN;

	if (!find_span(h, &begin_ns, &last_ns))
		return (struct heat){0};
	while (column_ns < least_ns ||
		last_ns / column_ns - begin_ns / column_ns >= HEAT_COLUMNS_MAX)
		column_ns = next_step(column_ns);
	uint32_t count = (uint32_t)(last_ns / column_ns - begin_ns / column_ns + 1);

	return (struct heat){.slice_ns = column_ns / HEAT_ROWS,
		.begin_ns = begin_ns / column_ns * column_ns,
		.slices = count * HEAT_ROWS};
}

/* weight * part / whole, rounded towards zero. */
static int64_t share(int64_t weight, uint64_t part, uint64_t whole)
{
	return (int64_t)((__int128)weight * (__int128)part / (__int128)whole);
}

static void spread(const struct heat *heat, int64_t *weights, uint64_t time_ns, uint64_t lasts_ns,
	int64_t weight)
{
	uint64_t since_ns = time_ns - heat->begin_ns, at = since_ns / heat->slice_ns;
	/* The part of it before the slice's end. */
	uint64_t until_ns = heat->slice_ns - since_ns % heat->slice_ns;
	int64_t given = 0;

	for (; until_ns < lasts_ns; until_ns += heat->slice_ns) {
		int64_t part = share(weight, until_ns, lasts_ns);

		weights[at++] += part - given;
		given = part;
	}
	weights[at] += weight - given;
}

static int compare_sizes(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t find_much(const struct heat *heat)
{
	int64_t sizes[HEAT_ROWS * HEAT_COLUMNS_MAX];
	size_t count = 0;

	for (uint32_t i = 0; i < heat->slices; i++)
		if (heat->weight[i])
			sizes[count++] = heat->weight[i] < 0 ? -heat->weight[i] : heat->weight[i];
	if (count == 0)
		return 0;
	qsort(sizes, count, sizeof(*sizes), compare_sizes);
	return sizes[(count * 98 + 99) / 100 - 1];
}

static void weigh(const struct heating *h, struct heat *heat, metric_id metric, struct arena *arena)
{
	int64_t *weights = ARENA_ARRAY(arena, int64_t, heat->slices);

	for (size_t i = 0; i < h->samples->count; i++) {
		int64_t weight = h->samples->weight[metric.i][i];

		if (weight && selection_shows_sample(h->selection, i))
			spread(heat, weights, h->samples->time_ns[i], duration_ns(h, i), weight);
	}
	heat->weight = weights;
	heat->much = find_much(heat);
}

struct heat *heat_analyse(const struct selection *selection, const metric_id *metrics, size_t count,
	struct arena *arena)
{
	const struct profile *p = selection->profile;
	struct heating h = {.selection = selection, .samples = &p->samples};
	const struct heat **others = ARENA_ARRAY(arena, const struct heat *, count);
	struct heat *heat = ARENA_NEW(arena, struct heat);

	if (p->samples.count) {
		h.cpu = weights_of(p, STR("cpu-time"));
		h.real = weights_of(p, STR("real-time"));
	}
	struct heat slices = choose_slices(&h);

	for (size_t m = 0; m < count; m++) {
		struct heat *of = m == 0 ? heat : ARENA_NEW(arena, struct heat);

		*of = slices;
		weigh(&h, of, metrics[m], arena);
		if (m > 0)
			others[m - 1] = of;
	}
	heat->others = others;
	return heat;
}
