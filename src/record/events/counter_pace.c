/*
 * Changes to a longer period are triggered by samples, because a burst of events fills the ring
 * quickly.  Changes to a shorter one are triggered by the clock, as there may be no samples.  The
 * two thresholds differ by a factor of 16, twice that of a change, so that a steady rate keeps its
 * gear.
 */
#include "record/events/counter_pace.h"

#include "base/clock.h"

/* Approximate ratio of the periods of neighbouring gears. */
#define GEAR_RATIO 8
/* The number of samples that determine a rate. */
#define WINDOW_SAMPLES 16
/*
 * After this time it is certain that samples are few, unlike after the burst at the start of every
 * program.
 */
#define WINDOW_NS (SECOND_NS / 25)

uint64_t counter_gear_period(uint32_t gear)
{
	static const uint16_t periods[COUNTER_GEARS] = {1, 7, 61, 509};

	return periods[gear];
}

static void change(struct counter_pace *p, uint32_t gear, uint64_t now_ns)
{
	p->gear = gear;
	p->window_ns = now_ns;
	p->samples = 0;
}

/* Whether samples in the window come at more than a given rate. */
static bool is_above(const struct counter_pace *p, uint64_t now_ns, double rate_hz)
{
	double seconds = (double)(now_ns - p->window_ns) / (double)SECOND_NS;

	return (double)p->samples > rate_hz * seconds;
}

bool counter_pace_sample(struct counter_pace *p, uint64_t time_ns)
{
	uint32_t gear = p->gear;
	double most_hz = 2 * (double)p->frequency_hz;

	if (p->frequency_hz == 0)
		return false;
	if (p->window_ns == 0 || time_ns < p->window_ns)
		p->window_ns = time_ns;
	if (++p->samples < WINDOW_SAMPLES)
		return false;
	/* During a burst, changes to the right gear immediately. */
	while (gear + 1 < COUNTER_GEARS && is_above(p, time_ns, most_hz)) {
		most_hz *= GEAR_RATIO;
		gear++;
	}
	bool changed = gear != p->gear;

	change(p, gear, time_ns);
	return changed;
}

bool counter_pace_look(struct counter_pace *p, uint64_t now_ns)
{
	if (p->window_ns == 0 || now_ns < p->window_ns + WINDOW_NS || p->gear == 0 ||
		is_above(p, now_ns, (double)p->frequency_hz / GEAR_RATIO))
		return false;
	change(p, p->gear - 1, now_ns);
	return true;
}
