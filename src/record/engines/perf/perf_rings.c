/*
 * What may be locked in memory is budgeted per user, so ring sizes are halved until all CPUs have
 * theirs.
 */
#include "record/engines/perf/perf_rings.h"

#include <errno.h>
#include <unistd.h>

#include "record/engines/perf/perf_event.h"
#include "record/switches/waking.h"

/* All rings together, where that much may be locked; beyond RING_BYTES_MAX nothing is gained. */
#define RINGS_BYTES    ((size_t)64 << 20)
#define RING_BYTES_MAX ((size_t)8 << 20)
/* A dozen of the smallest samples: little, but one user's recordings share what they may lock. */
#define RING_BYTES_MIN ((size_t)16 << 10)
/* The other rings are a sixteenth of it: a map is about 130 bytes, a thread's life 150. */
#define OTHER_BYTES_MIN ((size_t)8 << 10)
/* About what a new program reports: its files are best opened while it lives. */
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
	return size / 16 > OTHER_BYTES_MIN ? size / 16 : OTHER_BYTES_MIN;
}

/* Half of the ring at least is empty then, for the time until the keeper gets a CPU. */
static uint32_t wake_bytes(const struct perf_event_set *set, enum perf_stream stream)
{
	if (stream == PERF_STREAM_TRACK)
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

/* What may be known of the records in a ring. */
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

/* The event that a ring belongs to; -1 with errno. */
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

/* 0, or an errno; ENODEV: the CPU is not there. */
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

void perf_rings_close(struct perf_event_set *set)
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

struct error *perf_rings_open(struct perf_event_set *set)
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

enum perf_stream perf_event_set_stream(const struct perf_event_set *set, const struct ring *ring)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++)
			if (ring == &set->cpus.data[i].ring[s])
				return s;
	return PERF_STREAM_SAMPLES;
}
