/*
 * Rings tell of losses only when there is room again, and events only when they are asked, and not
 * of all kernels: so the larger of the two holds.
 */
#include "record/engines/perf/perf_tally.h"

#include "base/clock.h"

/* Such a part of the time, at most, goes into asking the events what they count. */
#define COUNTS_PART 200

struct perf_event_counts perf_tally_counts(struct perf_tally *t)
{
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns < t->due_ns && !perf_event_set_is_stopped(t->events))
		return t->counts;
	t->counts = perf_event_set_counts(t->events);
	t->asked_ns = now_ns;
	uint64_t took_ns = clock_monotonic_ns() - now_ns;

	t->due_ns = now_ns + took_ns * COUNTS_PART;
	return t->counts;
}

uint64_t perf_tally_lost(struct perf_tally *t)
{
	uint64_t lost = perf_tally_counts(t).lost, samples = t->recording->samples;

	if (lost < t->lost_records)
		lost = t->lost_records;
	if (lost == 0 || t->passed_over == 0)
		return lost;
	return (lost * samples + samples + t->passed_over - 1) / (samples + t->passed_over);
}
