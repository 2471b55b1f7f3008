/*
 * The budget of a recording.  It checks seconds in which the target has worked.  Two of them in a
 * row over the limit halve the rate; several in a row at less than a third of the limit double it
 * again.
 */
#include "record/budget.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "record/engines/perf/perf_event.h"

#define LOOK_NS SECOND_NS
/* Minimum CPU time of the target between checks; less would not show the cost. */
#define WORK_LEAST_NS (SECOND_NS / 20)
enum { OVER_LOOKS = 2, UNDER_LOOKS = 5 };

/* To measure the price: the size of the stack copied, the rate, and the duration. */
#define SMALL_BYTES	  1024
#define LARGE_BYTES	  32768
#define SMALL_INTERVAL_NS 20011
#define LARGE_INTERVAL_NS 200011
#define TRIED_NS	  (SECOND_NS / 200)
/* If two readings of the clock are this far apart, something came between them. */
#define GAP_NS	 700
#define GAPS_MAX 1024

void budget_init(struct budget *b, double most, uint32_t halvings_most)
{
	*b = (struct budget){.most = most, .halvings_most = halvings_most};
}

static double cost_since(const struct budget_use *last, const struct budget_use *use)
{
	uint64_t cost_ns = use->own_cpu_ns - last->own_cpu_ns + use->stolen_ns - last->stolen_ns;

	return (double)cost_ns / (double)(use->target_cpu_ns - last->target_cpu_ns);
}

bool budget_look(struct budget *b, const struct budget_use *use)
{
	struct budget_use last = b->last;

	if (b->most <= 0 || use->time_ns < last.time_ns + LOOK_NS)
		return false;
	b->last = *use;
	/* The first check includes the cost of the start. */
	if (last.time_ns == 0 || use->target_cpu_ns < last.target_cpu_ns + WORK_LEAST_NS)
		return false;
	double cost = cost_since(&last, use);

	b->over = cost > b->most ? b->over + 1 : 0;
	b->under = cost < b->most / 3 ? b->under + 1 : 0;
	if (b->over >= OVER_LOOKS && b->halvings < b->halvings_most)
		b->halvings++;
	else if (b->under >= UNDER_LOOKS && b->halvings > 0)
		b->halvings--;
	else
		return false;
	b->over = b->under = 0;
	return true;
}

/* ---- the price ---- */

static int compare_gaps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Reads the clock for TRIED_NS; returns the median of the gaps between readings. */
static uint64_t median_gap_ns(void)
{
	uint64_t gaps[GAPS_MAX];
	size_t count = 0;
	uint64_t begin_ns = clock_monotonic_ns(), last_ns = begin_ns;

	while (last_ns < begin_ns + TRIED_NS && count < GAPS_MAX) {
		uint64_t now_ns = clock_monotonic_ns();

		if (now_ns > last_ns + GAP_NS)
			gaps[count++] = now_ns - last_ns;
		last_ns = now_ns;
	}
	if (count == 0)
		return 0;
	qsort(gaps, count, sizeof(gaps[0]), compare_gaps);
	return gaps[count / 2];
}

/* The same with a stack of more than LARGE_BYTES. */
static uint64_t median_gap_deep_ns(void)
{
	volatile uint8_t stack[2 * LARGE_BYTES];

	stack[0] = stack[sizeof(stack) - 1] = 0;
	uint64_t gap_ns = median_gap_ns();

	return gap_ns + stack[0];
}

/* The cost of a sample, measured on this process; 0: not allowed. */
static uint64_t try_samples(uint64_t interval_ns, uint32_t stack_bytes)
{
	struct perf_event_spec spec = {.interval_ns = interval_ns, .stack_bytes_most = stack_bytes};
	struct perf_event_set set;
	struct error *err = perf_event_set_open(&set, &spec, 0, false);

	if (err) {
		error_destroy(err);
		return 0;
	}
	perf_event_set_go_on(&set);
	uint64_t gap_ns = median_gap_deep_ns();

	perf_event_set_close(&set);
	return gap_ns;
}

bool budget_measure_price(struct budget_price *price)
{
	uint64_t small_ns = try_samples(SMALL_INTERVAL_NS, SMALL_BYTES);
	uint64_t large_ns = try_samples(LARGE_INTERVAL_NS, LARGE_BYTES);

	if (small_ns == 0 || large_ns == 0)
		return false;
	price->sample_ns = small_ns;
	price->kilobyte_ns = large_ns > small_ns
				     ? (large_ns - small_ns) * 1024 / (LARGE_BYTES - SMALL_BYTES)
				     : 0;
	return true;
}
