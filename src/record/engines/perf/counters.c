/*
 * The counts of perf events.
 *
 * Rings report losses only when there is room again.  Events report them only when they are read,
 * and not on all kernels.  So the larger of the two numbers is used.
 *
 * counter_pace.h explains how the periods of other events are chosen.
 */
#include "record/engines/perf/counters.h"

#include "base/clock.h"

/* ---- CPU time and losses ---- */

/* At most this part of the time is spent on reading the events. */
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

/* ---- other events ---- */

void counters_init(struct counters *c, struct perf_event_set *events, struct recording *recording)
{
	*c = (struct counters){.events = events, .recording = recording};
	counters_slow_down(c, 0);
}

bool counters_read(const struct counters *c, const struct perf_event_header *header,
	const struct perf_source *source, struct counted_sample *counted)
{
	const struct perf_gear *gear = perf_event_set_gear(c->events, source);
	bool has_chain = c->events->grant.kernel;

	if (!gear)
		return false;
	counted->gear = gear;
	if (gear->period == 0)
		return perf_record_sample(header, has_chain, &counted->sample);
	return perf_record_sample_of_period(header, has_chain, gear->period, &counted->sample);
}

void counters_take(struct counters *c, const struct counted_sample *counted)
{
	const struct perf_gear *gear = counted->gear;
	struct counter_pace *pace = &c->paces[gear->counter];

	recording_take_counter(c->recording, &counted->sample, gear->counter);
	/* Other samples precede the last change. */
	if (gear->period && gear->gear == pace->gear &&
		counter_pace_sample(pace, counted->sample.time_ns))
		perf_event_set_shift(c->events, gear->counter, pace->gear);
}

void counters_look(struct counters *c, uint64_t now_ns)
{
	for (uint32_t i = 0; i < c->events->spec.counter_count; i++)
		if (counter_pace_look(&c->paces[i], now_ns))
			perf_event_set_shift(c->events, i, c->paces[i].gear);
}

void counters_slow_down(struct counters *c, uint32_t halvings)
{
	for (uint32_t i = 0; i < c->events->spec.counter_count; i++) {
		const struct perf_counter *counter = &c->events->spec.counters[i];
		uint64_t frequency_hz = counter->frequency_hz >> halvings;

		if (perf_counter_gears(counter) > 1)
			c->paces[i].frequency_hz = frequency_hz > 0 ? frequency_hz : 1;
	}
}

void counters_tell(const struct counters *c, const struct perf_event_counts *counted, bool is_whole,
	struct engine_counts *counts)
{
	for (uint32_t i = 0; i < c->events->spec.counter_count; i++) {
		counts->counters[i].lost = counted->counters[i].lost;
		counts->counters[i].events = is_whole ? counted->counters[i].events : UINT64_MAX;
	}
}
