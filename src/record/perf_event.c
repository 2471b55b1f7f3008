/*
 * Opens perf events and their rings: perf_event_open(2).
 *
 * What can be had differs with the kernel's age and with who asks, so two things are found out by
 * trying.  Attributes: kernel samples, build-ids, lost counts, dropped one by one while the kernel
 * refuses.  Ring sizes: what may be locked in memory is budgeted per user, so sizes are halved
 * until all CPUs have a ring.
 *
 * The clock is cpu-clock with a fixed period: an hrtimer, so it needs no hardware counters, and its
 * count is the CPU time of the target to the nanosecond.
 */
#include "record/perf_event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "record/perf_record.h"

/* All rings together, where that much may be locked; a ring beyond RING_BYTES_MOST gains nothing.
 */
#define RINGS_BYTES	 ((size_t)64 << 20)
#define RING_BYTES_MOST	 ((size_t)8 << 20)
#define RING_BYTES_LEAST ((size_t)64 << 10)
/* The tracker's ring is a sixteenth of it: a map is about 130 bytes, a thread's life 150. */
#define TRACK_BYTES_LEAST ((size_t)16 << 10)
/* About what a new program reports: its files are best opened while it lives. */
#define TRACK_WAKE_BYTES 1024u
/* A record is at most 65,535 bytes, its other fields included; the kernel cuts the stack to fit. */
#define STACK_BYTES_MOST  65528u
#define STACK_BYTES_LEAST 1024u
/* A ring holds the samples of this time, so that a late wake-up loses none. */
#define RING_TIME_NS UINT64_C(80000000)

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void attr_init_common(struct perf_event_attr *attr, const struct perf_event_grant *grant)
{
	*attr = (struct perf_event_attr){.size = sizeof(*attr), .type = PERF_TYPE_SOFTWARE};
	attr->inherit = 1;
	attr->sample_id_all = 1;
	attr->exclude_hv = 1;
	attr->exclude_kernel = !grant->kernel;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->read_format = grant->lost_counts ? PERF_FORMAT_LOST : 0;
}

static void attr_init_sample(
	struct perf_event_attr *attr, const struct perf_event_grant *grant, uint64_t interval_ns)
{
	attr_init_common(attr, grant);
	attr->config = PERF_COUNT_SW_CPU_CLOCK;
	attr->disabled = 1;
	attr->enable_on_exec = 1;
	attr->sample_period = interval_ns;
	attr->sample_type = PERF_RECORD_SAMPLE_FIELDS;
	if (grant->kernel)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = PERF_RECORD_USER_REGS;
	attr->sample_stack_user = grant->stack_bytes;
	attr->wakeup_watermark = (uint32_t)(grant->ring_bytes / 2);
}

static size_t track_bytes(const struct perf_event_grant *grant)
{
	size_t size = grant->ring_bytes / 16;

	return size > TRACK_BYTES_LEAST ? size : TRACK_BYTES_LEAST;
}

static void attr_init_track(struct perf_event_attr *attr, const struct perf_event_grant *grant)
{
	attr_init_common(attr, grant);
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = PERF_RECORD_TRACK_FIELDS;
	attr->mmap = 1;
	attr->mmap2 = 1;
	attr->build_id = grant->build_id;
	attr->comm = 1;
	attr->comm_exec = 1;
	attr->task = 1;
	attr->wakeup_watermark = TRACK_WAKE_BYTES;
}

/*
 * Drops the newest or most privileged thing that the kernel may have refused with code.  False:
 * there is nothing left to drop.
 */
static bool grant_reduce(struct perf_event_grant *grant, int code)
{
	if ((code == EACCES || code == EPERM) && grant->kernel) {
		grant->kernel = false;
		return true;
	}
	if (code != EINVAL && code != E2BIG)
		return false;
	if (grant->lost_counts)
		grant->lost_counts = false;
	else if (grant->build_id)
		grant->build_id = false;
	else
		return false;
	return true;
}

/* Finds out by trying what attributes the kernel grants. 0, or the errno of the last refusal. */
static int grant_attributes(struct perf_event_grant *grant, pid_t pid, uint64_t interval_ns)
{
	for (;;) {
		struct perf_event_attr sample, track;
		int fd, code;

		attr_init_sample(&sample, grant, interval_ns);
		attr_init_track(&track, grant);
		fd = open_event(&sample, pid, -1);
		if (fd >= 0) {
			close(fd);
			fd = open_event(&track, pid, -1);
		}
		if (fd >= 0) {
			close(fd);
			return 0;
		}
		code = errno;
		if (!grant_reduce(grant, code))
			return code;
	}
}

static void cpu_close(struct perf_event_cpu *cpu)
{
	ring_unmap(&cpu->samples);
	ring_unmap(&cpu->track);
	if (cpu->sample_fd >= 0)
		close(cpu->sample_fd);
	if (cpu->track_fd >= 0)
		close(cpu->track_fd);
}

/* 0, or an errno; ENODEV: the CPU is not there. */
static int cpu_open(struct perf_event_cpu *cpu, const struct perf_event_grant *grant, pid_t pid,
	int number, uint64_t interval_ns)
{
	struct perf_event_attr attr;
	int code = 0;

	*cpu = (struct perf_event_cpu){.sample_fd = -1, .track_fd = -1, .number = number};
	attr_init_sample(&attr, grant, interval_ns);
	cpu->sample_fd = open_event(&attr, pid, number);
	if (cpu->sample_fd < 0)
		return errno;
	attr_init_track(&attr, grant);
	cpu->track_fd = open_event(&attr, pid, number);
	if (cpu->track_fd < 0)
		code = errno;
	if (!code)
		code = ring_map(&cpu->samples, cpu->sample_fd, grant->ring_bytes);
	if (!code)
		code = ring_map(&cpu->track, cpu->track_fd, track_bytes(grant));
	if (code)
		cpu_close(cpu);
	return code;
}

/* Opens all CPUs with rings of grant->ring_bytes. 0, or the first errno, with none left open. */
static int set_open_cpus(struct perf_event_set *set, pid_t pid, uint64_t interval_ns)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	for (int number = 0; number < configured; number++) {
		struct perf_event_cpu cpu;
		int code = cpu_open(&cpu, &set->grant, pid, number, interval_ns);

		if (code == ENODEV)
			continue;
		if (code) {
			perf_event_set_close(set);
			return code;
		}
		vec_push(&set->cpus, cpu);
	}
	return set->cpus.count > 0 ? 0 : ENODEV;
}

/* The largest dump of which the ring holds RING_TIME_NS, and never fewer than 32. */
static uint32_t stack_bytes_for(size_t ring_bytes, uint64_t interval_ns)
{
	uint64_t records = RING_TIME_NS / interval_ns;

	if (records < 32)
		records = 32;
	uint64_t bytes = ring_bytes / records;

	if (bytes > STACK_BYTES_MOST)
		return STACK_BYTES_MOST;
	if (bytes < STACK_BYTES_LEAST)
		return STACK_BYTES_LEAST;
	return (uint32_t)bytes & ~7u;
}

static size_t first_ring_bytes(void)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN), size = RING_BYTES_MOST;

	while (size > RING_BYTES_LEAST && size * cpus > RINGS_BYTES)
		size /= 2;
	return size;
}

struct error *perf_event_set_open(struct perf_event_set *set, pid_t pid, uint64_t interval_ns)
{
	int code;

	*set = (struct perf_event_set){
		.grant = {.kernel = true, .build_id = true, .lost_counts = true}};
	set->grant.ring_bytes = first_ring_bytes();
	set->grant.stack_bytes = stack_bytes_for(set->grant.ring_bytes, interval_ns);
	code = grant_attributes(&set->grant, pid, interval_ns);
	if (code)
		return error_system(code, "perf_event_open");
	for (;;) {
		set->grant.stack_bytes = stack_bytes_for(set->grant.ring_bytes, interval_ns);
		code = set_open_cpus(set, pid, interval_ns);
		if (!code)
			return NULL;
		if ((code != EPERM && code != ENOMEM) || set->grant.ring_bytes <= RING_BYTES_LEAST)
			return error_system(code, "a ring buffer of %zu KB for each CPU",
				set->grant.ring_bytes >> 10);
		set->grant.ring_bytes /= 2;
	}
}

void perf_event_set_close(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		cpu_close(&set->cpus.data[i]);
	vec_deinit(&set->cpus);
}

/* The CPU's own clock, stopped, with its ring. 0, or an errno. */
static int wide_clock_open(
	struct perf_event_cpu *cpu, const struct perf_event_grant *grant, uint64_t interval_ns)
{
	struct perf_event_attr attr;
	int code;

	*cpu = (struct perf_event_cpu){.track_fd = -1, .number = cpu->number};
	attr_init_sample(&attr, grant, interval_ns);
	attr.inherit = 0;
	attr.enable_on_exec = 0;
	attr.exclude_idle = 1;
	cpu->sample_fd = open_event(&attr, -1, cpu->number);
	if (cpu->sample_fd < 0)
		return errno;
	code = ring_map(&cpu->samples, cpu->sample_fd, grant->ring_bytes);
	if (code)
		close(cpu->sample_fd);
	return code;
}

/* The new clock takes the place of the old one, whose ring is put into *wide. */
static void swap_clocks(struct perf_event_cpu *cpu, struct perf_event_cpu *wide)
{
	struct ring ring = cpu->samples;
	int fd = cpu->sample_fd;

	cpu->samples = wide->samples;
	cpu->sample_fd = wide->sample_fd;
	wide->samples = ring;
	wide->sample_fd = fd;
}

bool perf_event_set_widen(struct perf_event_set *set, uint64_t interval_ns)
{
	VEC(struct perf_event_cpu) clocks = {0};
	bool is_allowed = true;

	for (size_t i = 0; i < set->cpus.count && is_allowed; i++) {
		struct perf_event_cpu clock = {.number = set->cpus.data[i].number};

		is_allowed = wide_clock_open(&clock, &set->grant, interval_ns) == 0;
		if (is_allowed)
			vec_push(&clocks, clock);
	}
	for (size_t i = 0; i < set->cpus.count && is_allowed; i++)
		swap_clocks(&set->cpus.data[i], &clocks.data[i]);
	if (is_allowed)
		perf_event_set_go_on(set);
	set->is_wide = is_allowed;
	for (size_t i = 0; i < clocks.count; i++)
		cpu_close(&clocks.data[i]);
	vec_deinit(&clocks);
	return is_allowed;
}

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

uint64_t perf_event_set_cpu_ns(const struct perf_event_set *set)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->cpus.count; i++)
		sum += read_count(set->cpus.data[i].sample_fd).value;
	return sum;
}

uint64_t perf_event_set_lost(const struct perf_event_set *set)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < set->cpus.count; i++)
		sum += read_count(set->cpus.data[i].sample_fd).lost;
	return sum;
}

void perf_event_set_stop(const struct perf_event_set *set)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		ioctl(set->cpus.data[i].sample_fd, PERF_EVENT_IOC_DISABLE, 0);
}

void perf_event_set_go_on(const struct perf_event_set *set)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		ioctl(set->cpus.data[i].sample_fd, PERF_EVENT_IOC_ENABLE, 0);
}

int perf_event_try(uint32_t type, uint64_t config, bool kernel, bool any_process)
{
	struct perf_event_attr attr = {.size = sizeof(attr), .type = type, .config = config};

	attr.disabled = 1;
	attr.exclude_hv = 1;
	attr.exclude_kernel = !kernel;
	int fd = open_event(&attr, any_process ? -1 : 0, any_process ? 0 : -1);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
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
