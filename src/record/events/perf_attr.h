#ifndef SONDE_RECORD_EVENTS_PERF_ATTR_H
#define SONDE_RECORD_EVENTS_PERF_ATTR_H

/*
 * The attributes of the perf events that a recording opens, perf_event_open(2), and what the kernel
 * grants.  They determine the contents of records, which perf_record.h decodes.
 */

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/* A clock: a sample after each interval_ns of CPU time, with stack_bytes of the user stack. */
struct perf_clock {
	uint64_t interval_ns;
	uint32_t stack_bytes;
	bool wakes; /* whoever polls the ring, at each sample */
};

/* An event other than time to count and sample. */
struct perf_counter {
	struct str name, unit; /* of its metric; must live as long as the recording */
	uint32_t type;	       /* PERF_TYPE_… */
	uint64_t config, config1, config2;
	uint64_t period; /* between samples; 0: use frequency_hz */
	uint64_t frequency_hz;
};

/*
 * Whether the kernel itself counts the event.  Then its period is not left to the kernel: a
 * frequency is kept by choosing among COUNTER_GEARS events with fixed periods (see counter_pace.h).
 * Samples do not include their period, because the kernel would then sample every single event.
 */
bool perf_counter_is_software(const struct perf_counter *counter);
/* The number of events that the counter consists of; one runs at a time. */
uint32_t perf_counter_gears(const struct perf_counter *counter);
/* The period of a gear; 0: chosen by the kernel. */
uint64_t perf_counter_period(const struct perf_counter *counter, uint32_t gear);

/* What the kernel granted. */
struct perf_grant {
	bool kernel;	      /* kernel code is sampled, with its frames */
	bool lost_counts;     /* PERF_FORMAT_LOST */
	uint32_t stack_bytes; /* maximum user stack in a sample */
	size_t ring_bytes;    /* for samples, on each CPU */
};

/*
 * An event that owns a ring for other events' records, and has no records itself; wakes us at
 * wake_bytes.
 */
void perf_attr_anchor(
	struct perf_event_attr *attr, const struct perf_grant *grant, uint32_t wake_bytes);
/* A clock event, disabled. */
void perf_attr_clock(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_clock *clock);
/* An event that reports maps, names, forks and exits. */
void perf_attr_track(struct perf_event_attr *attr, const struct perf_grant *grant);
/* A tracepoint by its number, with its data, in a separate ring; wakes us like an anchor. */
void perf_attr_tracepoint(struct perf_event_attr *attr, const struct perf_grant *grant, uint64_t id,
	uint32_t wake_bytes);
/* An event that reports when tasks leave their CPU and return. */
void perf_attr_switch(struct perf_event_attr *attr, const struct perf_grant *grant);
/*
 * An event that samples one in `period` departures of tasks from a CPU, without a period in the
 * samples; needs grant->kernel.  Disabled.
 */
void perf_attr_switch_stack(struct perf_event_attr *attr, const struct perf_grant *grant,
	uint32_t stack_bytes, uint64_t period);
/* A counter, stopped. */
void perf_attr_counter(struct perf_event_attr *attr, const struct perf_grant *grant,
	const struct perf_counter *counter, uint32_t gear, uint32_t stack_bytes);

/*
 * perf_event_open.  cpu -1: any; pid 0: ourselves, -1: all tasks.  Returns the descriptor, or -1
 * with errno.
 */
int perf_attr_open(struct perf_event_attr *attr, pid_t pid, int cpu);
/*
 * Finds out by trying what the kernel grants for that task, starting with *grant.  0, or the errno
 * of the last refusal.
 */
int perf_grant_probe(struct perf_grant *grant, pid_t pid);

/* Tries to open an event on ourselves, or on any process: 0, or the errno. */
int perf_attr_try(uint32_t type, uint64_t config, bool kernel, bool any_process);
/* kernel.perf_event_paranoid, or INT32_MIN. */
int perf_event_paranoid(void);
/* The number in a file in /proc/sys/kernel; fallback if it cannot be read. */
int perf_event_sysctl(const char *name, int fallback);
/* Whether this process has a seccomp filter, which may refuse perf_event_open. */
bool perf_event_is_filtered(void);

#endif
