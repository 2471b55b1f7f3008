/*
 * The counters of a recording.  Periods and why they are ours to choose: see counter_pace.h.
 */
#include "record/engines/perf/counters.h"

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
	/* Others are from before the last change. */
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
