/*
 * The plan of a recording's events.  At each rate of the clock there is one event with a large copy
 * of the stack and, where that makes a difference, one with a small one; of counters one for each
 * gear; of stacks at switches one for each period.
 */
#include "record/engines/perf/perf_plan.h"

#include <assert.h>

/* A record is at most 65,535 bytes, its other fields included; the kernel cuts the stack to fit. */
#define STACK_BYTES_MAX 65528u
/* What most stacks of most programs fit into. */
#define STACK_BYTES_SMALL 16384u
/* One in so many switches' stacks is taken: primes, so as not to be in step with a program. */
static const uint64_t stack_periods[] = {1, 31, 499};
/* So many a second and CPU are too many; so few are fine. */
#define STACKS_MANY_HZ 2500
#define STACKS_FEW_HZ  1500
/* Where there is one event for it only. */
#define STACK_PERIOD_SLIM 31
/*
 * A new thread inherits each event of each CPU, whether it runs or not.  Where there are many CPUs,
 * clocks that may never run are not worth that.
 */
#define SPARE_CPUS_MAX 16
/* How much quicker the quick clock is, and how quick at most. */
#define QUICK	       8
#define QUICK_LEAST_NS 50000u
/* A ring holds the samples of this time, so that a late wake-up loses none. */
#define RING_TIME_NS UINT64_C(80000000)

/* The largest copy of which the ring holds RING_TIME_NS, and never fewer than 32. */
static uint32_t stack_bytes_for(const struct perf_event_set *set)
{
	uint64_t records = RING_TIME_NS / set->spec.interval_ns;
	uint32_t most = set->spec.stack_bytes_most ? set->spec.stack_bytes_most : STACK_BYTES_MAX;

	if (records < 32)
		records = 32;
	uint64_t bytes = set->grant.ring_bytes / records;

	if (bytes > most)
		return most;
	if (bytes < PERF_STACK_BYTES_MIN)
		return PERF_STACK_BYTES_MIN;
	return (uint32_t)bytes & ~7u;
}

/* At each rate one with the large copy and, where that makes a difference, one with a small one. */
static void plan_clocks(struct perf_event_set *set)
{
	uint32_t large = stack_bytes_for(set);

	set->grant.stack_bytes = large;
	set->stack_rates = set->cpus.count <= SPARE_CPUS_MAX ? ARRAY_SIZE(stack_periods) : 1;
	set->size_count =
		large >= 2 * STACK_BYTES_SMALL && set->cpus.count <= SPARE_CPUS_MAX ? 2 : 1;
	assert((set->spec.halvings + 1) * set->size_count < PERF_CLOCK_MAX);
	for (uint32_t i = 0; i <= set->spec.halvings; i++)
		for (uint32_t size = 0; size < set->size_count; size++)
			set->clocks[set->clock_count++] = (struct perf_clock){
				set->spec.interval_ns << i, size == 0 ? large : STACK_BYTES_SMALL};
	set->quick = PERF_NO_CLOCK;
	if (!set->spec.quick || set->spec.interval_ns / QUICK < QUICK_LEAST_NS)
		return;
	set->quick = set->clock_count;
	set->clocks[set->clock_count++] = (struct perf_clock){set->spec.interval_ns / QUICK,
		large < STACK_BYTES_SMALL ? large : STACK_BYTES_SMALL};
}

static void plan_gears(struct perf_event_set *set)
{
	for (uint32_t i = 0; i < set->spec.counter_count; i++) {
		const struct perf_counter *counter = &set->spec.counters[i];

		for (uint32_t g = 0; g < perf_counter_gears(counter); g++)
			vec_push(&set->gears, (struct perf_gear){i, g,
						      perf_counter_is_software(counter)
							      ? perf_counter_period(counter, g)
							      : 0});
	}
}

void perf_plan(struct perf_event_set *set)
{
	plan_clocks(set);
	plan_gears(set);
}

void perf_event_set_slim(struct perf_event_set *set)
{
	for (uint32_t i = 0; i <= set->spec.halvings; i++)
		set->clocks[i] = set->clocks[i * set->size_count];
	set->clock_count = set->spec.halvings + 1;
	set->size_count = 1;
	set->stack_rates = 1;
	set->quick = PERF_NO_CLOCK;
}

bool perf_plan_runs(const struct perf_event_set *set, struct perf_source source)
{
	if (source.role == PERF_ROLE_SWITCH_STACK)
		return source.index == set->thinning || set->stack_rates == 1;
	if (source.role == PERF_ROLE_COUNTER) {
		const struct perf_gear *gear = &set->gears.data[source.index];

		return gear->gear == set->gear_of[gear->counter];
	}
	return source.role != PERF_ROLE_CLOCK || source.index == set->clock;
}

static uint64_t stack_period(const struct perf_event_set *set, uint32_t index)
{
	return set->stack_rates == 1 ? STACK_PERIOD_SLIM : stack_periods[index];
}

static uint32_t small_or_less(const struct perf_event_set *set)
{
	uint32_t most = set->grant.stack_bytes;

	return most < STACK_BYTES_SMALL ? most : STACK_BYTES_SMALL;
}

static void attr_for_gear(const struct perf_event_set *set, const struct perf_gear *gear,
	struct perf_event_attr *attr)
{
	perf_attr_counter(attr, &set->grant, &set->spec.counters[gear->counter], gear->gear,
		small_or_less(set));
}

void perf_plan_attr(
	const struct perf_event_set *set, struct perf_source source, struct perf_event_attr *attr)
{
	const struct perf_grant *grant = &set->grant;

	switch (source.role) {
	case PERF_ROLE_CLOCK:
		perf_attr_clock(attr, grant, &set->clocks[source.index]);
		break;
	case PERF_ROLE_TRACK:
		perf_attr_track(attr, grant);
		break;
	case PERF_ROLE_SWITCH:
		perf_attr_switch(attr, grant);
		break;
	case PERF_ROLE_SWITCH_STACK:
		perf_attr_switch_stack(
			attr, grant, small_or_less(set), stack_period(set, source.index));
		break;
	case PERF_ROLE_COUNTER:
		attr_for_gear(set, &set->gears.data[source.index], attr);
		break;
	}
}

void perf_plan_task(const struct perf_event_set *set, pid_t task,
	struct perf_role_count (*wanted)[PERF_ROLE_COUNT])
{
	const struct perf_event_spec *spec = &set->spec;
	bool clocks = task < 0 || !set->is_wide;

	(*wanted)[0] = (struct perf_role_count){PERF_ROLE_TRACK, 1};
	(*wanted)[1] = (struct perf_role_count){PERF_ROLE_SWITCH, spec->switches};
	(*wanted)[2] = (struct perf_role_count){PERF_ROLE_SWITCH_STACK,
		perf_event_set_has_switch_stacks(set) ? set->stack_rates : 0};
	(*wanted)[3] = (struct perf_role_count){PERF_ROLE_COUNTER, set->gears.count};
	(*wanted)[4] = (struct perf_role_count){PERF_ROLE_CLOCK, clocks ? set->clock_count : 0};
}

size_t perf_event_set_task_fds(const struct perf_event_set *set)
{
	struct perf_role_count wanted[PERF_ROLE_COUNT];
	size_t count = 0;

	perf_plan_task(set, 0, &wanted);
	for (size_t k = 0; k < PERF_ROLE_COUNT; k++)
		count += wanted[k].count;
	return count * set->cpus.count;
}

uint32_t perf_event_set_small_bytes(const struct perf_event_set *set)
{
	return set->size_count > 1 ? STACK_BYTES_SMALL : 0;
}

bool perf_event_set_has_switch_stacks(const struct perf_event_set *set)
{
	return set->spec.switch_stacks && set->grant.kernel;
}

uint32_t perf_plan_thinning(const struct perf_event_set *set, double stacks_hz, double switches_hz)
{
	double cpus = (double)set->cpus.count;
	uint32_t thinning = set->thinning;

	if (!perf_event_set_has_switch_stacks(set) || set->stack_rates == 1)
		return thinning;
	if (stacks_hz > STACKS_MANY_HZ * cpus && thinning + 1 < set->stack_rates)
		return thinning + 1;
	if (thinning > 0 &&
		switches_hz < STACKS_FEW_HZ * cpus * (double)stack_period(set, thinning - 1))
		return thinning - 1;
	return thinning;
}
