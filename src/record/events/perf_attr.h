#ifndef SONDE_RECORD_EVENTS_PERF_ATTR_H
#define SONDE_RECORD_EVENTS_PERF_ATTR_H

/*
 * The attributes of the perf events that a recording opens, perf_event_open(2), and what of them
 * the kernel grants.  What is in the records follows from here; perf_record.c is the other half of
 * that agreement.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* A clock: a sample is due after each interval_ns of CPU time, with so much of the user stack. */
struct perf_clock {
	uint64_t interval_ns;
	uint32_t stack_bytes;
};

/* An event that is counted and sampled beside time. */
struct perf_counter {
	struct str name, unit; /* of its metric; they must live as long as the recording */
	uint32_t type;	       /* PERF_TYPE_… */
	uint64_t config, config1, config2;
	uint64_t period; /* a sample after so many; 0: as many as come to frequency_hz */
	uint64_t frequency_hz;
};

/*
 * Whether the kernel counts the event itself.  It then has no say in its period: a frequency is
 * kept by the choice among COUNTER_GEARS events of fixed periods (see counter_pace.h), and samples
 * do not tell their period, as the kernel would then sample every single event.
 */
bool perf_counter_is_software(const struct perf_counter *counter);
/* Of how many events, one running at a time, the counter is made. */
uint32_t perf_counter_gears(const struct perf_counter *counter);
/* The period in a gear; 0: the kernel chooses it. */
uint64_t perf_counter_period(const struct perf_counter *counter, uint32_t gear);

/* What the kernel granted. */
struct perf_grant {
	bool kernel;	      /* samples in the kernel, with its frames */
	bool build_id;	      /* maps come with build-ids */
	bool lost_counts;     /* PERF_FORMAT_LOST */
	uint32_t stack_bytes; /* of user stack in a sample, at most */
	size_t ring_bytes;    /* of samples, each CPU */
};

/* Owns a ring of others' records, and has none itself; it wakes us at wake_bytes. */
void perf_attr_anchor(
	struct perf_event_attr *attr, const struct perf_grant *grant, uint32_t wake_bytes);
/* Stopped. */
void perf_attr_clock(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_clock *clock);
/* Maps, names, forks and exits. */
void perf_attr_track(struct perf_event_attr *attr, const struct perf_grant *grant);
/* The tracepoint of that number, with its data, into a ring of its own; it wakes us as an anchor.
 */
void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_grant *grant, uint64_t id,
	uint32_t wake_bytes);
/* When tasks leave their CPU and come back to it. */
void perf_attr_switch(struct perf_event_attr *attr, const struct perf_grant *grant);
/*
 * A sample each `period` times that a task leaves a CPU, without a period in it; takes
 * grant->kernel.  Stopped.
 */
void perf_attr_switch_stack(struct perf_event_attr *attr, const struct perf_grant *grant,
	uint32_t stack_bytes, uint64_t period);
/* Stopped. */
void perf_attr_counter(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_counter *counter, uint32_t gear, uint32_t stack_bytes);

/* perf_event_open; cpu -1: any, pid 0: ourselves, -1: everybody. The fd, or -1 and errno. */
int perf_attr_open(struct perf_event_attr *attr, pid_t pid, int cpu);
/*
 * Finds out by trying what the kernel grants on that task, beginning with what *grant has. 0, or
 * the errno of the last refusal.
 */
int perf_grant_probe(struct perf_grant *grant, pid_t pid);

/* One event on ourselves, or on any process, to try what is allowed: 0, or the errno. */
int perf_attr_try(uint32_t type, uint64_t config, bool kernel, bool any_process);
/* kernel.perf_event_paranoid, or INT32_MIN. */
int perf_event_paranoid(void);
/* A file in /proc/sys/kernel that holds a number; fallback where it can't be read. */
int perf_event_sysctl(const char *name, int fallback);
/* Whether a seccomp filter is on us, which may refuse perf_event_open. */
bool perf_event_is_filtered(void);

#endif
