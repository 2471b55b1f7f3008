#ifndef SONDE_RECORD_PERF_EVENT_H
#define SONDE_RECORD_PERF_EVENT_H

/*
 * The perf events of one recording.  Each CPU has two, inherited by every thread and process that
 * the target makes: a clock that samples, and a tracker that reports maps, names, forks and exits.
 * They have rings of their own, so that a flood of samples loses no map.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/vec.h"
#include "record/ring.h"

struct perf_event_cpu {
	int number;
	int sample_fd, track_fd;
	struct ring samples, track;
};

/* What the kernel granted. */
struct perf_event_grant {
	bool kernel;	      /* samples in the kernel, with its frames */
	bool build_id;	      /* maps come with build-ids */
	bool lost_counts;     /* PERF_FORMAT_LOST */
	uint32_t stack_bytes; /* of user stack in each sample */
	size_t ring_bytes;    /* of samples, each CPU */
};

struct perf_event_set {
	VEC(struct perf_event_cpu) cpus; /* the CPUs that are online */
	struct perf_event_grant grant;
	bool is_wide; /* the clocks are the CPUs', not the tasks': all processes are sampled */
};

/*
 * Opens the events for pid (a child that has not called exec yet, or 0: ourselves): sampling begins
 * with its exec, tracking at once.  A sample is due after each interval_ns of CPU time.
 */
must_use struct error *perf_event_set_open(
	struct perf_event_set *set, pid_t pid, uint64_t interval_ns);
/* A zeroed set is fine. */
void perf_event_set_close(struct perf_event_set *set);

/*
 * Makes the clocks go by CPU time of each CPU, whoever runs: a new thread has no clock of its own
 * then, which would first have to run for a whole interval.  It takes privileges; others' samples
 * must be passed over by the caller.  The rings must have been emptied; samples between that and
 * this are lost, so it is to be done at once.  False: not allowed, nothing has changed.
 */
bool perf_event_set_widen(struct perf_event_set *set, uint64_t interval_ns);

/* CPU time that the events have counted, in all processes, those still alive too; not if wide. */
uint64_t perf_event_set_cpu_ns(const struct perf_event_set *set);
/* Records that found no room in the sample rings; 0 where the kernel does not tell. */
uint64_t perf_event_set_lost(const struct perf_event_set *set);
/* Stops the sampling, or lets it go on. */
void perf_event_set_stop(const struct perf_event_set *set);
void perf_event_set_go_on(const struct perf_event_set *set);

/* One event on ourselves, to try what is allowed: 0, or the errno. */
int perf_event_try(uint32_t type, uint64_t config, bool kernel, bool any_process);

/* kernel.perf_event_paranoid, or INT32_MIN. */
int perf_event_paranoid(void);
/* A file in /proc/sys/kernel that holds a number; fallback where it can't be read. */
int perf_event_sysctl(const char *name, int fallback);

#endif
