/* Weights by time; all slices sum to the weight of the selection. */
#include "analysis/heat.h"

#include <stdlib.h>

#include "analysis/time_slices.h"

/* A column of the shortest map. */
#define COLUMN_NS_MIN 1000000u
/* Samples that fit in a slice; with fewer, one more or less would look like a pattern. */
#define SAMPLES_MIN 5u

struct heating {
	const struct selection *selection;
	const struct samples *samples;
	struct time_lasting lasting;
};

/* The first and the last moment shown; false: nothing is shown. */
static bool find_span(const struct heating *h, uint64_t *begin_ns, uint64_t *last_ns)
{
	*begin_ns = UINT64_MAX;
	*last_ns = 0;
	for (size_t i = 0; i < h->samples->count; i++) {
		uint64_t time_ns = h->samples->time_ns[i],
			 lasts_ns = time_lasting_ns(&h->lasting, i);
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
	struct time_slices slices = {heat->begin_ns, heat->slice_ns, heat->slices};
	int64_t *weights = ARENA_ARRAY(arena, int64_t, heat->slices);

	for (size_t i = 0; i < h->samples->count; i++) {
		int64_t weight = h->samples->weight[metric.i][i];

		if (weight && selection_shows_sample(h->selection, i))
			time_slices_add(&slices, weights, h->samples->time_ns[i],
				time_lasting_ns(&h->lasting, i), weight);
	}
	heat->weight = weights;
	heat->much = find_much(heat);
}

struct heat *heat_analyse(const struct selection *selection, const metric_id *metrics, size_t count,
	struct arena *arena)
{
	const struct profile *p = selection->profile;
	struct heating h = {
		.selection = selection, .samples = &p->samples, .lasting = time_lasting_of(p)};
	const struct heat **others = ARENA_ARRAY(arena, const struct heat *, count);
	struct heat *heat = ARENA_NEW(arena, struct heat);

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
