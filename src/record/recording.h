#ifndef SONDE_RECORD_RECORDING_H
#define SONDE_RECORD_RECORDING_H

/*
 * The destination of every engine's samples: the file being written, the processes and load objects
 * seen so far, the unwinder, and the weights of samples.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "formats/sonde/layout/capture_rows.h"
#include "formats/sonde/layout/capture_samples.h"
#include "record/events/perf_attr.h"
#include "record/file/capture_writer.h"
#include "record/processes/object_table.h"
#include "record/processes/process_table.h"
#include "record/recent.h"
#include "record/samples/sample_labels.h"
#include "record/samples/weights.h"
#include "record/stacks/snapshot.h"

/* ---- pauses ---- */

/*
 * When samples are wanted: after a recording's delay, and depending on later commands.  Sampling
 * and tracking of processes always continue; samples in a pause are dropped by time when they come
 * out of the rings.
 */

/* Zeroed at first: on for ever. */
struct pauses {
	VEC(uint64_t) changes; /* times, ascending: off from the first, on from the second, … */
	uint64_t end_ns;       /* nothing is wanted from then on, whatever changes; 0: no end */
};

void pauses_deinit(struct pauses *p);
/* Switches off or on from that time on; forgets later changes. */
void pauses_set(struct pauses *p, uint64_t time_ns, bool off);
/* Leaves out everything from begin_ns, which is before all changes, to until_ns. */
void pauses_leave_out(struct pauses *p, uint64_t begin_ns, uint64_t until_ns);
bool pauses_is_off(const struct pauses *p, uint64_t time_ns);
/*
 * The wanted part of from_ns ≤ t < to_ns.  *first_ns: the start of the first wanted part, if there
 * is any.
 */
uint64_t pauses_on_ns(const struct pauses *p, uint64_t from_ns, uint64_t to_ns, uint64_t *first_ns);

/* ---- the recording ---- */

/* Numbers of the metrics in the file; CAPTURE_NO_ID: not recorded. */
struct recording_metrics {
	uint32_t count;
	uint32_t cpu_time;	 /* ns */
	uint32_t samples;	 /* 1 for a sample of the clock, else 0 */
	uint32_t real_time;	 /* ns: CPU time and all time off the CPU */
	uint32_t blocked_time;	 /* ns: waiting for something */
	uint32_t preempted_time; /* ns: able to run, but waits for a CPU */
	uint32_t wakeup_delay;	 /* ns: woken, but waits for a CPU */
	uint32_t counters;	 /* the first of the other events, in their order */
};

/* Samples and their weight. */
struct recording_tally {
	uint64_t samples, ns; /* of the clock */
	uint64_t counter_samples[CAPTURE_METRIC_MAX], counter_weight[CAPTURE_METRIC_MAX];
};

struct recording {
	struct capture_writer *writer; /* the caller's */
	struct object_table *objects;
	struct process_table *processes;
	struct snapshot snapshot;
	struct recording_metrics metrics;
	struct weights weights;
	struct sample_labels labels;
	struct pauses pauses;
	uint64_t off_ns;		/* weight of samples left out in pauses */
	struct weights_account machine; /* of all samples, if the machine is the target */
	bool is_machine;
	bool services;	     /* samples have the labels of their services, not of their groups */
	bool by_process;     /* samples follow the accounts of processes, not of threads */
	uint64_t start_ns;   /* CLOCK_MONOTONIC */
	uint64_t samples;    /* of the clock */
	uint64_t sampled_ns; /* their weight */
	struct zones *zones; /* the caller's; NULL: zones are not recorded */
	uint64_t lost_sideband, throttled;
	/* For events other than time: samples, and their weight. */
	uint64_t counter_samples[CAPTURE_METRIC_MAX], counter_weight[CAPTURE_METRIC_MAX];
	uint64_t counter_off[CAPTURE_METRIC_MAX]; /* weight of samples left out */
	bool keeps;				  /* samples are queued until
						     recording_write_recent */
	struct recent recent;			  /* the queue */
	struct recording_tally forgotten;
	bool *wanted; /* [wanted_count] by node: it has kept samples; NULL: all are wanted */
	size_t wanted_count;
	uint64_t slow_ns;	/* a tick at least this long is slow; 0: none is */
	struct str slow_stream; /* for ticks of that stream; data NULL: of all; the caller's */
	uint64_t slow_ticks;
};

/* Begins at start_ns, CLOCK_MONOTONIC, which may be to come. */
void recording_begin(struct recording *r, struct capture_writer *writer, uint64_t start_ns);
/*
 * Writes the metrics, before the first sample: CPU time; with `real`, also time off the CPU; with
 * `wakers`, separate wake-up delays; and the given counters.
 */
void recording_measure(struct recording *r, bool real, bool wakers,
	const struct perf_counter *counters, size_t counter_count);
/* A recording that was not begun must be zeroed. */
void recording_end(struct recording *r);

/*
 * Walks and writes a sample of the clock.  It weighs what the system accounts for its period and
 * for the thread's dropped samples before it.  Returns its place.
 */
struct snapshot_place recording_take_clock(struct recording *r, const struct perf_sample *sample);
/*
 * Writes the weight of the thread's last dropped samples (weights.h) as one more sample, at the
 * stack of the last one kept.  False: there are none.
 */
bool recording_take_dropped(struct recording *r, struct thread *thread);
/* Walks and writes a sample of another event, by its number. */
void recording_take_counter(
	struct recording *r, const struct perf_sample *sample, uint32_t counter);
/* Writes a time off the CPU; without a stack, it is rooted at "[truncated]". */
void recording_take_off_cpu(
	struct recording *r, struct thread *thread, const struct offcpu_interval *interval);
/* Rows and ticks of zones; times since the recording's start. */
void recording_take_zone_row(struct recording *r, const struct capture_zone_row *row);
void recording_take_tick(struct recording *r, const struct capture_tick *tick);
/*
 * Forgets queued entries that had ended by until_ns, CLOCK_MONOTONIC.  The figures above include
 * them until recording_write_recent.
 */
void recording_forget(struct recording *r, uint64_t until_ns);
/*
 * Writes the queue without entries that had ended by until_ns, and without the earlier part of a
 * time off the CPU, as for pauses.
 */
void recording_write_recent(struct recording *r, uint64_t until_ns);
/*
 * Writes CPU time without samples as a separate row: "[lost]", "[kernel, not permitted]".  It
 * belongs to the only process or, if there were several, to a process with that name.
 */
void recording_take_unsampled(struct recording *r, struct str name, uint64_t cpu_ns);

#endif
