/*
 * Attributes of perf events.
 *
 * The clock is cpu-clock with a fixed period: an hrtimer, so it needs no hardware counters, and its
 * count is the CPU time of the target to the nanosecond.  What the kernel grants depends on its
 * version and our privileges, so attributes are dropped one by one while it refuses.
 *
 * All events have PERF_SAMPLE_IDENTIFIER, as several write into one ring.
 */
#include "record/events/perf_attr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/events/counter_pace.h"
#include "record/events/perf_record.h"

/* The period of an event opened as a test. */
#define TRIED_PERIOD_NS 1000001

static void attr_init(
	struct perf_event_attr *attr, const struct perf_grant *grant, uint64_t software_event)
{
	*attr = (struct perf_event_attr){.size = sizeof(*attr), .type = PERF_TYPE_SOFTWARE};
	attr->config = software_event;
	attr->inherit = 1;
	attr->sample_id_all = 1;
	attr->sample_type = PERF_RECORD_OTHER_FIELDS;
	attr->exclude_hv = 1;
	attr->exclude_kernel = !grant->kernel;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->read_format = grant->lost_counts ? PERF_FORMAT_LOST : 0;
}

void perf_attr_anchor(
	struct perf_event_attr *attr, const struct perf_grant *grant, uint32_t wake_bytes)
{
	attr_init(attr, grant, PERF_COUNT_SW_DUMMY);
	attr->inherit = 0;
	attr->disabled = 1;
	attr->wakeup_watermark = wake_bytes;
}

void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_grant *grant, uint64_t id,
	uint32_t wake_bytes)
{
	attr_init(attr, grant, id);
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->inherit = 0;
	attr->sample_type = PERF_RECORD_WAKING_FIELDS;
	attr->sample_period = 1;
	attr->wakeup_watermark = wake_bytes;
}

/* Sets up samples with registers, stack, and kernel frames if granted. */
static void attr_sample(
	struct perf_event_attr *attr, const struct perf_grant *grant, uint32_t stack_bytes)
{
	attr->disabled = 1;
	attr->sample_type = PERF_RECORD_SAMPLE_FIELDS;
	if (grant->kernel)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = arch_here()->perf_mask;
	attr->sample_stack_user = stack_bytes;
}

void perf_attr_clock(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_clock *clock)
{
	attr_init(attr, grant, PERF_COUNT_SW_CPU_CLOCK);
	attr_sample(attr, grant, clock->stack_bytes);
	attr->sample_period = clock->interval_ns;
	if (!clock->wakes)
		return;
	/* In addition to the watermark of the ring, which is its owner's. */
	attr->watermark = 0;
	attr->wakeup_events = 1;
}

/*
 * attr->build_id is not set.  The kernel would mark the mappings that it reports to us as having a
 * build ID, and then forgets to remove the mark before it reports the same mapping to other
 * programs' events: those get a device and an inode that look like a build ID (seen up to Linux
 * 6.18).  Older perf overruns its buffer and dies.  So build IDs are read from files.
 */
void perf_attr_track(struct perf_event_attr *attr, const struct perf_grant *grant)
{
	attr_init(attr, grant, PERF_COUNT_SW_DUMMY);
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
}

void perf_attr_switch(struct perf_event_attr *attr, const struct perf_grant *grant)
{
	attr_init(attr, grant, PERF_COUNT_SW_DUMMY);
	attr->context_switch = 1;
}

/*
 * With PERF_SAMPLE_PERIOD, the kernel samples a software event each time, whatever its period.  And
 * a frequency depends on timer ticks, which sleeping threads do not get.  So these samples have no
 * CPU and period, but a meaningless address and stream id in their places.
 */
void perf_attr_switch_stack(struct perf_event_attr *attr, const struct perf_grant *grant,
	uint32_t stack_bytes, uint64_t period)
{
	attr_init(attr, grant, PERF_COUNT_SW_CONTEXT_SWITCHES);
	attr_sample(attr, grant, stack_bytes);
	attr->sample_type ^=
		PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_ADDR | PERF_SAMPLE_STREAM_ID;
	attr->sample_period = period;
}

bool perf_counter_is_software(const struct perf_counter *counter)
{
	return counter->type == PERF_TYPE_SOFTWARE || counter->type == PERF_TYPE_TRACEPOINT;
}

uint32_t perf_counter_gears(const struct perf_counter *counter)
{
	return perf_counter_is_software(counter) && counter->period == 0 ? COUNTER_GEARS : 1;
}

uint64_t perf_counter_period(const struct perf_counter *counter, uint32_t gear)
{
	if (counter->period > 0 || !perf_counter_is_software(counter))
		return counter->period;
	return counter_gear_period(gear);
}

void perf_attr_counter(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_counter *counter, uint32_t gear, uint32_t stack_bytes)
{
	uint64_t period = perf_counter_period(counter, gear);

	attr_init(attr, grant, counter->config);
	attr_sample(attr, grant, stack_bytes);
	attr->type = counter->type;
	attr->config1 = counter->config1;
	attr->config2 = counter->config2;
	/*
	 * If there are more events than counters in the processor, they take turns; these fields
	 * report for how long.
	 */
	attr->read_format |= PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (perf_counter_is_software(counter))
		attr->sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
	attr->freq = period == 0;
	if (period > 0)
		attr->sample_period = period;
	else
		attr->sample_freq = counter->frequency_hz;
}

int perf_attr_open(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Tries to open an event: 0, or the errno. */
static int try_open(struct perf_event_attr *attr, pid_t pid)
{
	int fd = perf_attr_open(attr, pid, pid < 0 ? 0 : -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/*
 * Drops the newest or most privileged feature that the kernel may have refused with code.  False:
 * nothing is left to drop.
 */
static bool grant_reduce(struct perf_grant *grant, int code)
{
	if ((code == EACCES || code == EPERM) && grant->kernel) {
		grant->kernel = false;
		return true;
	}
	if (code != EINVAL && code != E2BIG)
		return false;
	if (!grant->lost_counts)
		return false;
	grant->lost_counts = false;
	return true;
}

int perf_grant_probe(struct perf_grant *grant, pid_t pid)
{
	int code;

	do {
		struct perf_clock clock = {TRIED_PERIOD_NS, grant->stack_bytes, false};
		struct perf_event_attr sample, track;

		perf_attr_clock(&sample, grant, &clock);
		perf_attr_track(&track, grant);
		code = try_open(&sample, pid);
		if (!code)
			code = try_open(&track, pid);
	} while (code && grant_reduce(grant, code));
	return code;
}

int perf_attr_try(uint32_t type, uint64_t config, bool kernel, bool any_process)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = type, .config = config};

	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_kernel = !kernel;
	return try_open(&attr, any_process ? -1 : 0);
}

int perf_event_sysctl(const char *name, int fallback)
{
	char path[128];
	int value = fallback;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	FILE *f = fopen(path, "re");

	if (!f)
		return fallback;
	if (fscanf(f, "%d", &value) != 1)
		value = fallback;
	fclose(f);
	return value;
}

int perf_event_paranoid(void)
{
	return perf_event_sysctl("perf_event_paranoid", INT32_MIN);
}

bool perf_event_is_filtered(void)
{
	char *line = NULL;
	size_t capacity = 0;
	int mode = 0;
	FILE *f = fopen("/proc/self/status", "re");

	if (!f)
		return false;
	while (mode == 0 && getline(&line, &capacity, f) > 0)
		if (sscanf(line, "Seccomp: %d", &mode) != 1)
			continue;
	free(line);
	fclose(f);
	return mode != 0;
}
