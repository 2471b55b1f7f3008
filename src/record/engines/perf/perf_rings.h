#ifndef SONDE_RECORD_ENGINES_PERF_PERF_RINGS_H
#define SONDE_RECORD_ENGINES_PERF_PERF_RINGS_H

/*
 * The rings that the perf events of a recording write to.
 *
 * Each CPU has rings for samples, for tracks (maps, names, forks and exits), for switches, for the
 * stacks at switches and for wakings, so that a flood of one loses nothing of another.  A ring
 * belongs to an event of our own that does nothing else; but that of wakings is to the event on the
 * CPU that reports them, whoever wakes and is woken.  The events on the recorded tasks, inherited
 * by every thread and process that these make, write to the ring of their CPU.  So tasks come and
 * go, and the rings stay.
 */

#include "base/error.h"
#include "record/engines/perf/ring.h"

struct perf_event_set;

enum perf_stream {
	PERF_STREAM_SAMPLES,
	PERF_STREAM_TRACK,
	PERF_STREAM_SWITCHES,
	PERF_STREAM_SWITCH_STACKS,
	PERF_STREAM_COUNTERS,
	PERF_STREAM_WAKINGS,
	PERF_STREAM_COUNT
};

struct perf_event_cpu {
	int number;
	int anchor_fd[PERF_STREAM_COUNT]; /* the rings' events; -1: no such stream */
	struct ring ring[PERF_STREAM_COUNT];
	/* For who takes switches: the task that left it last, and when. */
	int64_t left_tid;
	uint64_t left_ns;
};

/*
 * Opens the rings of all CPUs that are online, of the largest size that is granted, which goes into
 * set->grant.ring_bytes.  On failure none is left open.
 */
must_use struct error *perf_rings_open(struct perf_event_set *set);
void perf_rings_close(struct perf_event_set *set);
/* The CPU that a ring is of. */
struct perf_event_cpu *perf_event_set_cpu(struct perf_event_set *set, const struct ring *ring);
/* Which stream a ring is. */
enum perf_stream perf_event_set_stream(const struct perf_event_set *set, const struct ring *ring);

#endif
