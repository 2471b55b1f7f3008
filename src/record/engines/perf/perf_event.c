/*
 * Opens perf events on tasks or CPUs, with their output to the CPU's rings, and switches them on
 * and off.
 *
 * A user may lock a limited amount of memory, so ring sizes are halved until all CPUs have theirs.
 *
 * Rates and sizes that may be needed later are opened at the start, as separate, disabled events; a
 * change means disabling one and enabling another.  For each rate of the clock there is an event
 * with a large copy of the stack; if that makes a difference, one with a small copy; and, where
 * stacks may have to be read from the process, one that wakes the recorder at each sample.  For
 * counters there is one for each gear; for stacks at switches, one for each period.
 *
 * The events' counts are read with read(2), perf_event_open(2).  The kernel includes the counts of
 * threads that inherited an event, even after their end.
 */
#include "record/engines/perf/perf_event.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/search.h"
#include "record/switches/waking.h"

/* The smallest copy of the user stack in a sample, used to probe whether the kernel allows it. */
#define PERF_STACK_BYTES_MIN 1024u

#define PERF_ROLE_COUNT 5

struct perf_role_count {
	enum perf_role role;
	size_t count;
};

/* ---- rings ---- */

/*
 * For all rings together, if that much may be locked; a ring larger than RING_BYTES_MAX has no
 * benefit.
 */
#define RINGS_BYTES    ((size_t)64 << 20)
#define RING_BYTES_MAX ((size_t)8 << 20)
/*
 * About a dozen of the smallest samples.  That is little, but all recordings of a user share the
 * limit on locked memory.
 */
#define RING_BYTES_MIN ((size_t)16 << 10)
/* The other rings have a sixteenth of it: a map takes about 130 bytes, a thread's life 150. */
#define OTHER_BYTES_MIN ((size_t)8 << 10)
/* Approximate size of a new program's reports.  Its files are best opened while it lives. */
#define TRACK_WAKE_BYTES 1024u

static size_t stream_bytes(const struct perf_event_set *set, enum perf_stream stream)
{
	size_t size = set->grant.ring_bytes;

	switch (stream) {
	case PERF_STREAM_SAMPLES:
		return size;
	case PERF_STREAM_COUNTERS:
		return size / 4;
	case PERF_STREAM_SWITCHES:
	case PERF_STREAM_SWITCH_STACKS:
	case PERF_STREAM_WAKINGS:
		return size / 8;
	case PERF_STREAM_TRACK:
	case PERF_STREAM_COUNT:
		break;
	}
	if (set->spec.is_patient)
		return size / 4;
	return size / 16 > OTHER_BYTES_MIN ? size / 16 : OTHER_BYTES_MIN;
}

/* Leaves room for records until the keeper gets a CPU. */
static uint32_t wake_bytes(const struct perf_event_set *set, enum perf_stream stream)
{
	if (stream == PERF_STREAM_TRACK && !set->spec.is_patient)
		return TRACK_WAKE_BYTES;
	return (uint32_t)(stream_bytes(set, stream) / 4);
}

static bool has_stream(const struct perf_event_set *set, enum perf_stream stream)
{
	if (stream == PERF_STREAM_SWITCH_STACKS)
		return perf_event_set_has_switch_stacks(set);
	if (stream == PERF_STREAM_COUNTERS)
		return set->spec.counter_count > 0;
	if (stream == PERF_STREAM_WAKINGS)
		return set->spec.waking != NULL;
	return stream != PERF_STREAM_SWITCHES || set->spec.switches;
}

static void cpu_close(struct perf_event_cpu *cpu)
{
	for (int s = 0; s < PERF_STREAM_COUNT; s++) {
		ring_unmap(&cpu->ring[s]);
		if (cpu->anchor_fd[s] >= 0)
			close(cpu->anchor_fd[s]);
	}
}

/* Sets the form of a ring's records. */
static void describe_ring(
	const struct perf_event_set *set, struct ring *ring, enum perf_stream stream)
{
	static const enum backlog_rank ranks[] = {
		[PERF_STREAM_SAMPLES] = BACKLOG_USUAL,
		[PERF_STREAM_COUNTERS] = BACKLOG_USUAL,
		[PERF_STREAM_TRACK] = BACKLOG_VITAL,
		[PERF_STREAM_SWITCHES] = BACKLOG_VITAL,
		[PERF_STREAM_SWITCH_STACKS] = BACKLOG_SPARE,
		[PERF_STREAM_WAKINGS] = BACKLOG_USUAL,
	};

	ring->rank = ranks[stream];
	ring->has_stacks = stream == PERF_STREAM_SAMPLES || stream == PERF_STREAM_SWITCH_STACKS;
	ring->has_chain = set->grant.kernel;
}

/* The event that owns a ring; -1 with errno. */
static int open_anchor(const struct perf_event_set *set, enum perf_stream stream, int number)
{
	struct perf_event_attr attr;

	if (stream == PERF_STREAM_WAKINGS) {
		perf_attr_tracepoint(
			&attr, &set->grant, set->spec.waking->id, wake_bytes(set, stream));
		return perf_attr_open(&attr, -1, number);
	}
	perf_attr_anchor(&attr, &set->grant, wake_bytes(set, stream));
	return perf_attr_open(&attr, 0, number);
}

/* Opens a CPU's rings: 0, or an errno; ENODEV: no such CPU. */
static int cpu_open(struct perf_event_set *set, struct perf_event_cpu *cpu, int number)
{
	*cpu = (struct perf_event_cpu){.number = number, .anchor_fd = {-1, -1, -1, -1, -1, -1}};
	for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++) {
		int code = 0;

		if (!has_stream(set, s))
			continue;
		cpu->anchor_fd[s] = open_anchor(set, s, number);
		if (cpu->anchor_fd[s] < 0)
			code = errno;
		else
			code = ring_map(&cpu->ring[s], &set->backlog, cpu->anchor_fd[s],
				stream_bytes(set, s));
		if (code) {
			cpu_close(cpu);
			return code;
		}
		describe_ring(set, &cpu->ring[s], s);
	}
	return 0;
}

static void perf_rings_close(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		cpu_close(&set->cpus.data[i]);
	vec_deinit(&set->cpus);
	backlog_deinit(&set->backlog);
}

/* Opens the rings of all CPUs. 0, or the first errno, with none left open. */
static int open_rings(struct perf_event_set *set)
{
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	backlog_init(&set->backlog, BACKLOG_BYTES);
	for (int number = 0; number < configured; number++) {
		struct perf_event_cpu cpu;
		int code = cpu_open(set, &cpu, number);

		if (code == ENODEV)
			continue;
		if (code) {
			perf_rings_close(set);
			return code;
		}
		vec_push(&set->cpus, cpu);
	}
	return set->cpus.count > 0 ? 0 : ENODEV;
}

static size_t first_ring_bytes(const struct perf_event_spec *spec)
{
	size_t cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	size_t size = spec->ring_bytes_most ? spec->ring_bytes_most : RING_BYTES_MAX;

	while (size > RING_BYTES_MIN && size * cpus > RINGS_BYTES)
		size /= 2;
	return size;
}

static struct error *ring_error(const struct perf_event_set *set, int code)
{
	return error_system(code, "a ring buffer of %zu KB for each CPU%s",
		set->grant.ring_bytes >> 10,
		code == EPERM ? " (other recordings hold the memory that you may lock: wait for "
				"them, or allow more with `ulimit -l` or `sudo sysctl "
				"kernel.perf_event_mlock_kb=4096`)"
			      : "");
}

static struct error *perf_rings_open(struct perf_event_set *set)
{
	set->grant.ring_bytes = first_ring_bytes(&set->spec);
	for (;;) {
		int code = open_rings(set);

		if (!code)
			return NULL;
		if ((code != EPERM && code != ENOMEM) || set->grant.ring_bytes <= RING_BYTES_MIN)
			return ring_error(set, code);
		set->grant.ring_bytes /= 2;
	}
}

struct perf_event_cpu *perf_event_set_cpu(struct perf_event_set *set, const struct ring *ring)
{
	size_t i = 0;

	while (i + 1 < set->cpus.count &&
		(ring < set->cpus.data[i].ring ||
			ring >= set->cpus.data[i].ring + PERF_STREAM_COUNT))
		i++;
	return &set->cpus.data[i];
}

uint64_t perf_event_set_ring_bytes(const struct perf_event_set *set)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < set->cpus.count; i++)
		for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++)
			bytes += set->cpus.data[i].ring[s].size_bytes;
	return bytes;
}

enum perf_stream perf_event_set_stream(const struct perf_event_set *set, const struct ring *ring)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++)
			if (ring == &set->cpus.data[i].ring[s])
				return s;
	return PERF_STREAM_SAMPLES;
}

/* ---- the plan ---- */

/*
 * A record is at most 65,535 bytes, including its other fields; the kernel truncates the stack to
 * fit.
 */
#define STACK_BYTES_MAX 65528u
/* Most stacks of most programs fit into this. */
#define STACK_BYTES_SMALL 16384u
/* One in so many switches is sampled; primes, to avoid running in step with a program. */
static const uint64_t stack_periods[] = {1, 31, 499};
/* Stacks per second and CPU: too many, and few enough. */
#define STACKS_MANY_HZ 2500
#define STACKS_FEW_HZ  1500
/* The period if there is only one event for switches. */
#define STACK_PERIOD_SLIM 31
/*
 * A new thread inherits each event of each CPU, enabled or not.  For two CPUs, an eager clock adds
 * 3 us to the 28 us that the shortest thread costs without rights.  With more CPUs than this,
 * clocks that may never run are not worth it.
 */
#define SPARE_CPUS_MAX 16
/* The quick clock's factor, and its maximum rate. */
#define QUICK	       8
#define QUICK_LEAST_NS 50000u
/* A ring has room for the samples of this much time, so that a late wake-up loses none. */
#define RING_TIME_NS UINT64_C(80000000)
/*
 * While an eager clock runs, the keeper does not wait for samples, as a single waiter is woken.  So
 * a ring must have room for several of its naps.
 */
#define EAGER_TIME_NS UINT64_C(40000000)
/* A sample without its copy of the stack, at most, unless it has a long chain of kernel frames. */
#define SAMPLE_BYTES 512u

/*
 * The largest copy with which the ring has room for the samples of RING_TIME_NS, at least 32; if it
 * is rarely drained, for those of a longer time, at least 8.
 */
static uint32_t stack_bytes_for(const struct perf_event_set *set)
{
	uint64_t records = (set->spec.is_patient ? PERF_PATIENT_TIME_NS : RING_TIME_NS) /
			   set->spec.interval_ns;
	uint32_t most = set->spec.stack_bytes_most ? set->spec.stack_bytes_most : STACK_BYTES_MAX;
	uint64_t least = set->spec.is_patient ? 8 : 32;

	if (records < least)
		records = least;
	uint64_t bytes = set->grant.ring_bytes / records;

	if (bytes > most)
		return most;
	if (bytes < PERF_STACK_BYTES_MIN)
		return PERF_STACK_BYTES_MIN;
	return (uint32_t)bytes & ~7u;
}

/* Whether an eager clock is possible, with copies of that size. */
static bool has_room_for_naps(const struct perf_event_set *set, uint32_t stack_bytes)
{
	uint64_t records = set->grant.ring_bytes / (stack_bytes + SAMPLE_BYTES);

	return records * set->spec.interval_ns >= EAGER_TIME_NS;
}

static void plan_clock(struct perf_event_set *set, uint64_t interval_ns, uint32_t stack_bytes,
	enum perf_clock_kind kind)
{
	assert(set->clock_count < PERF_CLOCK_MAX);
	set->clocks[set->clock_count++] =
		(struct perf_clock){interval_ns, stack_bytes, kind == PERF_CLOCK_EAGER};
}

/* Plans a clock with the large copy for each rate, and those of other kinds that are useful. */
static void plan_clocks(struct perf_event_set *set)
{
	bool spare = set->cpus.count <= SPARE_CPUS_MAX;
	uint32_t large = stack_bytes_for(set);
	bool small = spare && large >= 2 * STACK_BYTES_SMALL;
	bool eager = spare && set->spec.eager && has_room_for_naps(set, large);

	set->grant.stack_bytes = large;
	set->stack_rates = spare ? ARRAY_SIZE(stack_periods) : 1;
	set->kind_count = 1;
	set->kind_at[PERF_CLOCK_SMALL] = small ? set->kind_count++ : 0;
	set->kind_at[PERF_CLOCK_EAGER] = eager ? set->kind_count++ : 0;
	for (uint32_t i = 0; i <= set->spec.halvings; i++) {
		uint64_t interval_ns = set->spec.interval_ns << i;

		plan_clock(set, interval_ns, large, PERF_CLOCK_LARGE);
		if (small)
			plan_clock(set, interval_ns, STACK_BYTES_SMALL, PERF_CLOCK_SMALL);
		if (eager)
			plan_clock(set, interval_ns, large, PERF_CLOCK_EAGER);
	}
	set->quick = PERF_NO_CLOCK;
	if (!set->spec.quick || set->spec.interval_ns / QUICK < QUICK_LEAST_NS)
		return;
	set->quick = set->clock_count;
	plan_clock(set, set->spec.interval_ns / QUICK,
		large < STACK_BYTES_SMALL ? large : STACK_BYTES_SMALL, PERF_CLOCK_SMALL);
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

static void perf_plan(struct perf_event_set *set)
{
	plan_clocks(set);
	plan_gears(set);
}

void perf_event_set_slim(struct perf_event_set *set)
{
	for (uint32_t i = 0; i <= set->spec.halvings; i++)
		set->clocks[i] = set->clocks[i * set->kind_count];
	set->clock_count = set->spec.halvings + 1;
	set->kind_count = 1;
	memset(set->kind_at, 0, sizeof(set->kind_at));
	set->stack_rates = 1;
	set->quick = PERF_NO_CLOCK;
}

static bool perf_plan_runs(const struct perf_event_set *set, struct perf_source source)
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

static void perf_plan_attr(
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

static void perf_plan_task(const struct perf_event_set *set, pid_t task,
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
	return set->kind_at[PERF_CLOCK_SMALL] > 0 ? STACK_BYTES_SMALL : 0;
}

bool perf_event_set_has_eager(const struct perf_event_set *set)
{
	return set->kind_at[PERF_CLOCK_EAGER] > 0;
}

bool perf_event_set_is_eager(const struct perf_event_set *set)
{
	return set->clocks[set->clock].wakes;
}

bool perf_event_set_has_switch_stacks(const struct perf_event_set *set)
{
	return set->spec.switch_stacks && set->grant.kernel;
}

static uint32_t perf_plan_thinning(
	const struct perf_event_set *set, double stacks_hz, double switches_hz)
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

/* ---- counts ---- */

/* What read(2) returns for an event with our read_format. */
struct event_count {
	uint64_t value, lost;
};

static struct event_count read_count(int fd)
{
	struct event_count count = {0};

	/* Without PERF_FORMAT_LOST there is only the first number. */
	if (read(fd, &count, sizeof(count)) < (ssize_t)sizeof(count.value))
		count = (struct event_count){0};
	return count;
}

/* The same for a counter. */
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
 * If there are more hardware events than counters, they take turns; the count is scaled by the
 * share of time in which the event was counted.  A task's events, one for each CPU, are always
 * enabled, and run where the task does.
 */
static double turns(
	const struct perf_event_set *set, const struct counter_count *sum, bool of_tasks)
{
	double enabled_ns = (double)sum->enabled_ns;

	if (of_tasks)
		enabled_ns /= (double)set->cpus.count;
	/* Reading takes time, too. */
	if (sum->running_ns == 0 || enabled_ns < 1.01 * (double)sum->running_ns)
		return 1;
	return enabled_ns / (double)sum->running_ns;
}

/* The counts of the first `end` events. */
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

static void perf_event_set_remember(struct perf_event_set *set, size_t end)
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

/* ---- events ---- */

/* ---- events ---- */

static enum perf_stream stream_of(enum perf_role role)
{
	switch (role) {
	case PERF_ROLE_TRACK:
		return PERF_STREAM_TRACK;
	case PERF_ROLE_SWITCH:
		return PERF_STREAM_SWITCHES;
	case PERF_ROLE_SWITCH_STACK:
		return PERF_STREAM_SWITCH_STACKS;
	case PERF_ROLE_COUNTER:
		return PERF_STREAM_COUNTERS;
	case PERF_ROLE_CLOCK:
		break;
	}
	return PERF_STREAM_SAMPLES;
}

static bool is_sampler(struct perf_source source)
{
	return source.role != PERF_ROLE_TRACK && source.role != PERF_ROLE_SWITCH;
}

/* Opens one event, with its output to the CPU's ring. 0, or an errno. */
static int event_open(struct perf_event_set *set, const struct perf_event_cpu *cpu,
	struct perf_source source, pid_t task, bool on_exec)
{
	struct perf_event event = {.source = source, .cpu_number = cpu->number, .task = task};
	struct perf_event_attr attr = {0};
	int code = 0;

	perf_plan_attr(set, source, &attr);
	attr.disabled |= set->is_held;
	attr.enable_on_exec = on_exec && is_sampler(source) && perf_plan_runs(set, source);
	if (task < 0) {
		attr.inherit = 0;
		attr.exclude_idle = source.role == PERF_ROLE_CLOCK;
	}
	event.fd = perf_attr_open(&attr, task, cpu->number);
	if (event.fd < 0)
		return errno;
	if (ioctl(event.fd, PERF_EVENT_IOC_SET_OUTPUT, cpu->anchor_fd[stream_of(source.role)]) ||
		ioctl(event.fd, PERF_EVENT_IOC_ID, &event.id))
		code = errno;
	if (!code && set->spec.exact && is_sampler(source))
		code = exact_attach(set->spec.exact, event.fd);
	if (code) {
		close(event.fd);
		return code;
	}
	vec_push(&set->events, event);
	return 0;
}

static void drop_events(struct perf_event_set *set, size_t from)
{
	while (set->events.count > from)
		close(set->events.data[--set->events.count].fd);
}

static int events_open_on(struct perf_event_set *set, const struct perf_event_cpu *cpu, pid_t task,
	bool on_exec, enum perf_role role, size_t count)
{
	int code = 0;

	for (uint32_t i = 0; i < count && !code; i++)
		code = event_open(
			set, cpu, (struct perf_source){role, i, set->rank}, task, on_exec);
	return code;
}

static int task_open(struct perf_event_set *set, pid_t task, bool on_exec)
{
	struct perf_role_count wanted[PERF_ROLE_COUNT];
	size_t before = set->events.count;
	int code = 0;

	perf_plan_task(set, task, &wanted);
	set->rank++;
	for (size_t i = 0; i < set->cpus.count; i++)
		for (size_t k = 0; k < PERF_ROLE_COUNT && !code; k++)
			code = events_open_on(set, &set->cpus.data[i], task, on_exec,
				wanted[k].role, wanted[k].count);
	if (code)
		drop_events(set, before);
	return code;
}

static void switch_event(const struct perf_event *event, bool on)
{
	ioctl(event->fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* Enables or disables the samplers from `from` on as required; old ones stay disabled. */
static void switch_samplers(struct perf_event_set *set, size_t from)
{
	for (size_t i = from < set->old ? set->old : from; i < set->events.count; i++) {
		struct perf_event *event = &set->events.data[i];

		if (is_sampler(event->source))
			switch_event(event, !set->is_stopped && perf_plan_runs(set, event->source));
	}
}

static int add_task(struct perf_event_set *set, pid_t task)
{
	size_t before = set->events.count;
	int code = task_open(set, task, false);

	if (code)
		return code;
	if (task < 0)
		set->is_wide = set->tracks_all = true;
	if (!set->is_stopped)
		switch_samplers(set, before);
	return 0;
}

int perf_event_set_add(struct perf_event_set *set, pid_t task)
{
	pthread_mutex_lock(&set->lock);
	int code = add_task(set, task);

	pthread_mutex_unlock(&set->lock);
	return code;
}

struct error *perf_event_set_prepare(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t tried_on)
{
	struct error *err;

	*set = (struct perf_event_set){.spec = *spec, .is_stopped = true};
	pthread_mutex_init(&set->lock, NULL);
	set->grant = (struct perf_grant){
		.kernel = true, .lost_counts = true, .stack_bytes = PERF_STACK_BYTES_MIN};
	int code = perf_grant_probe(&set->grant, tried_on);

	if (code)
		return error_system(code, "perf_event_open");
	err = perf_rings_open(set);
	if (err)
		return err;
	perf_plan(set);
	return NULL;
}

struct error *perf_event_set_open(
	struct perf_event_set *set, const struct perf_event_spec *spec, pid_t first, bool on_exec)
{
	struct error *err = perf_event_set_prepare(set, spec, first);

	if (err)
		return err;
	set->is_stopped = !on_exec;
	int code = task_open(set, first, on_exec);

	if (!code)
		return NULL;
	perf_event_set_close(set);
	return error_system(code, "perf_event_open");
}

void perf_event_set_close(struct perf_event_set *set)
{
	drop_events(set, 0);
	vec_deinit(&set->events);
	vec_deinit(&set->gears);
	perf_rings_close(set);
}

const struct perf_source *perf_event_set_find(const struct perf_event_set *set, uint64_t id)
{
	/* The kernel's ids ascend, so the events are sorted by them. */
	size_t at = partition_point(i, 0, set->events.count, set->events.data[i].id < id);
	if (at < set->events.count && set->events.data[at].id == id)
		return &set->events.data[at].source;
	return NULL;
}

/* ---- while recording ---- */

/* Closes the events before `end`, and stores their counts. */
static void drop_first_events(struct perf_event_set *set, size_t end)
{
	perf_event_set_remember(set, end);
	for (size_t i = 0; i < end; i++)
		close(set->events.data[i].fd);
	set->events.count -= end;
	memmove(set->events.data, set->events.data + end,
		set->events.count * sizeof(*set->events.data));
}

static bool widen(struct perf_event_set *set)
{
	size_t before = set->events.count;
	bool was_stopped = set->is_stopped;

	/* No task may be sampled twice; tracking twice does no harm. */
	set->is_stopped = true;
	int code = add_task(set, -1);

	set->is_stopped = was_stopped;
	if (code)
		return false;
	drop_first_events(set, before);
	switch_samplers(set, 0);
	return true;
}

bool perf_event_set_widen(struct perf_event_set *set)
{
	pthread_mutex_lock(&set->lock);
	bool is_done = widen(set);

	pthread_mutex_unlock(&set->lock);
	return is_done;
}

/* ---- renewing ---- */

void perf_event_set_renew(const struct perf_event_set *set, struct exact *exact,
	uint32_t stack_bytes, struct perf_event_set *fresh)
{
	uint32_t halvings = set->chosen / set->kind_count;

	*fresh = (struct perf_event_set){.spec = set->spec,
		.grant = set->grant,
		.rank = set->rank,
		.thinning = set->thinning,
		.is_stopped = true,
		.is_held = true,
		.lock = PTHREAD_MUTEX_INITIALIZER};
	fresh->spec.exact = exact;
	fresh->spec.stack_bytes_most = stack_bytes;
	memcpy(&fresh->cpus, &set->cpus, sizeof(fresh->cpus));
	memcpy(fresh->gear_of, set->gear_of, sizeof(fresh->gear_of));
	perf_plan(fresh);
	fresh->chosen = fresh->clock = halvings * fresh->kind_count;
	if (fresh->stack_rates == 1)
		fresh->thinning = 0;
}

static void take_plan(struct perf_event_set *set, struct perf_event_set *fresh)
{
	set->spec = fresh->spec;
	set->grant = fresh->grant;
	memcpy(set->clocks, fresh->clocks, sizeof(set->clocks));
	set->clock_count = fresh->clock_count;
	set->kind_count = fresh->kind_count;
	memcpy(set->kind_at, fresh->kind_at, sizeof(set->kind_at));
	set->quick = fresh->quick;
	set->chosen = set->clock = fresh->chosen;
	set->rank = fresh->rank;
	set->stack_rates = fresh->stack_rates;
	set->thinning = fresh->thinning;
	set->is_wide = fresh->is_wide;
	set->tracks_all = fresh->tracks_all;
	vec_deinit(&set->gears);
	memcpy(&set->gears, &fresh->gears, sizeof(set->gears));
}

static void take_events(struct perf_event_set *set, struct perf_event_set *fresh)
{
	set->old = set->events.count;
	for (size_t i = 0; i < fresh->events.count; i++)
		vec_push(&set->events, fresh->events.data[i]);
	vec_deinit(&fresh->events);
}

/* Tracking a task twice for a moment does no harm; sampling it twice does. */
void perf_event_set_replace(struct perf_event_set *set, struct perf_event_set *fresh)
{
	pthread_mutex_lock(&set->lock);
	for (size_t i = 0; i < fresh->events.count; i++)
		if (!is_sampler(fresh->events.data[i].source))
			switch_event(&fresh->events.data[i], true);
	for (size_t i = 0; i < set->events.count; i++)
		switch_event(&set->events.data[i], false);
	take_plan(set, fresh);
	take_events(set, fresh);
	switch_samplers(set, set->old);
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_drop_old(struct perf_event_set *set)
{
	pthread_mutex_lock(&set->lock);
	drop_first_events(set, set->old);
	set->old = 0;
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_cancel(struct perf_event_set *fresh)
{
	drop_events(fresh, 0);
	vec_deinit(&fresh->events);
	vec_deinit(&fresh->gears);
}

/* ---- choosing the clock ---- */

/* Changes which events run. */
static void change(struct perf_event_set *set, uint32_t *choice, uint32_t value)
{
	if (*choice == value)
		return;
	pthread_mutex_lock(&set->lock);
	*choice = value;
	switch_samplers(set, 0);
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_choose(struct perf_event_set *set, uint32_t halvings, enum perf_clock_kind kind)
{
	uint32_t clock = halvings * set->kind_count + set->kind_at[kind];

	assert(clock < set->clock_count);
	set->chosen = clock;
	if (set->clock != set->quick)
		change(set, &set->clock, clock);
}

bool perf_event_set_quicken(struct perf_event_set *set, bool quick)
{
	if (set->quick == PERF_NO_CLOCK || set->is_wide)
		return false;
	change(set, &set->clock, quick ? set->quick : set->chosen);
	return true;
}

void perf_event_set_thin(struct perf_event_set *set, double stacks_hz, double switches_hz)
{
	change(set, &set->thinning, perf_plan_thinning(set, stacks_hz, switches_hz));
}

void perf_event_set_shift(struct perf_event_set *set, uint32_t counter, uint32_t gear)
{
	change(set, &set->gear_of[counter], gear);
}

bool perf_event_set_hung_up(const struct perf_event_set *set)
{
	for (size_t i = 0; i < set->events.count; i++) {
		struct pollfd fd = {.fd = set->events.data[i].fd};

		if (set->events.data[i].source.role != PERF_ROLE_CLOCK)
			continue;
		if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))
			return false;
	}
	return true;
}

static void set_stopped(struct perf_event_set *set, bool is_stopped)
{
	pthread_mutex_lock(&set->lock);
	if (set->is_stopped != is_stopped) {
		__atomic_store_n(&set->is_stopped, is_stopped, __ATOMIC_RELAXED);
		switch_samplers(set, 0);
	}
	pthread_mutex_unlock(&set->lock);
}

void perf_event_set_stop(struct perf_event_set *set)
{
	set_stopped(set, true);
}

void perf_event_set_go_on(struct perf_event_set *set)
{
	set_stopped(set, false);
}

bool perf_event_set_is_stopped(const struct perf_event_set *set)
{
	return __atomic_load_n(&set->is_stopped, __ATOMIC_RELAXED);
}
