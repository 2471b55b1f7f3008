/*
 * Changing up is for the samples to find out, quickly, as a storm fills the ring; changing down for
 * the clock, as there may be no samples.  Between the two thresholds lies a factor of 16, twice
 * what a change makes, so that a steady rate has one gear.
 */
#include "record/events/counter_pace.h"

#include "base/clock.h"

/* Each gear's period is about so many times that of the one below. */
#define GEAR_RATIO 8
/* So many samples tell a rate. */
#define WINDOW_SAMPLES 16
/* So long tells that there are few, as after the burst that every program begins with. */
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

/* Whether the window's samples come at more than that rate. */
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
	/* A storm goes to where it belongs at once. */
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
