/*
 * What the events of a recording have counted: read(2) of each, perf_event_open(2).  The kernel
 * adds what threads that inherited an event have counted, also after their end.
 */
#include "record/engines/perf/perf_event.h"

#include <stddef.h>
#include <unistd.h>

/* What read(2) of an event gives with our read_format. */
struct event_count {
	uint64_t value, lost;
};

static struct event_count read_count(int fd)
{
	struct event_count count = {0};

	/* Without PERF_FORMAT_LOST it is the first number alone. */
	if (read(fd, &count, sizeof(count)) < (ssize_t)sizeof(count.value))
		count = (struct event_count){0};
	return count;
}

/* The same of a counter's. */
struct counter_count {
	uint64_t value, enabled_ns, running_ns, lost;
};

static void add_count(struct counter_count *sum, int fd)
{
	struct counter_count count = {0};

	if (read(fd, &count, sizeof(count)) < (ssize_t)offsetof(struct counter_count, lost))
		return;
	sum->value += count.value;
	sum->enabled_ns += count.enabled_ns;
	sum->running_ns += count.running_ns;
	sum->lost += count.lost;
}

/*
 * Where there are more hardware events than counters they take turns, and the part of the time that
 * one had its turn tells how many there were.  A task's events, one for each CPU, are enabled all
 * the time, and run where the task does.
 */
static double turns(
	const struct perf_event_set *set, const struct counter_count *sum, bool of_tasks)
{
	double enabled_ns = (double)sum->enabled_ns;

	if (of_tasks)
		enabled_ns /= (double)set->cpus.count;
	/* Reading takes its time, too. */
	if (sum->running_ns == 0 || enabled_ns < 1.01 * (double)sum->running_ns)
		return 1;
	return enabled_ns / (double)sum->running_ns;
}

/* Of the first `end` events. */
static struct perf_counted counted(const struct perf_event_set *set, uint32_t counter, size_t end)
{
	struct counter_count sum = {0};
	bool of_tasks = true;

	for (size_t i = 0; i < end; i++) {
		const struct perf_event *event = &set->events.data[i];

		if (event->source.role != PERF_ROLE_COUNTER ||
			set->gears.data[event->source.index].counter != counter)
			continue;
		add_count(&sum, event->fd);
		of_tasks = event->task >= 0;
	}
	if (!perf_counter_is_software(&set->spec.counters[counter]))
		sum.value = (uint64_t)((double)sum.value * turns(set, &sum, of_tasks));
	return (struct perf_counted){sum.value, sum.lost};
}

static struct perf_event_counts counts_to(const struct perf_event_set *set, size_t end)
{
	struct perf_event_counts sum = set->before;

	for (size_t i = 0; i < end; i++) {
		const struct perf_event *event = &set->events.data[i];

		if (event->source.role != PERF_ROLE_CLOCK)
			continue;
		struct event_count count = read_count(event->fd);

		sum.lost += count.lost;
		sum.cpu_ns += count.value;
	}
	for (uint32_t i = 0; i < set->spec.counter_count; i++) {
		struct perf_counted one = counted(set, i, end);

		sum.counters[i].events += one.events;
		sum.counters[i].lost += one.lost;
	}
	return sum;
}

struct perf_event_counts perf_event_set_counts(const struct perf_event_set *set)
{
	return counts_to(set, set->events.count);
}

void perf_event_set_remember(struct perf_event_set *set, size_t end)
{
	set->before = counts_to(set, end);
}

const struct perf_gear *perf_event_set_gear(
	const struct perf_event_set *set, const struct perf_source *source)
{
	if (source && source->role == PERF_ROLE_COUNTER)
		return &set->gears.data[source->index];
	for (size_t i = 0; i < set->gears.count; i++) {
		const struct perf_gear *gear = &set->gears.data[i];
		const struct perf_counter *counter = &set->spec.counters[gear->counter];

		if (counter->type == PERF_TYPE_SOFTWARE &&
			counter->config == PERF_COUNT_SW_CONTEXT_SWITCHES &&
			gear->gear == set->gear_of[gear->counter])
			return gear;
	}
	return NULL;
}
