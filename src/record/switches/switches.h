#ifndef SONDE_RECORD_SWITCHES_SWITCHES_H
#define SONDE_RECORD_SWITCHES_SWITCHES_H

/*
 * Turns an engine's records of context switches into time off the CPU, with the threads' stacks.
 * The kernel may take stacks at switches; others are read from outside while their threads sleep.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/events/perf_record.h"
#include "record/recording.h"
#include "record/samples/offcpu.h"
#include "record/switches/blocked_stack.h"
#include "record/switches/locks.h"

struct switches {
	struct recording *recording;
	struct offcpu offcpu;
	struct blocked_stack reader;
	struct locks *locks; /* NULL: locks are not recorded */
	bool on;	     /* the target runs; before that, its switches are the recorder's */
	uint64_t begin_ns;   /* earlier switches are not counted */
	uint64_t reads_left; /* number of stacks that may be read from outside; grows with time */
	uint64_t tick_ns;
	uint64_t window_ns;
	uint64_t outs, waits, stacks; /* in the current window */
	bool waited;		      /* threads waited in the last full window */
	/* Rates of switches, and of stacks that came with them, in the last full window. */
	double switches_hz, stacks_hz;
};

/*
 * Hooks into the recording's process table.  on: the target runs already, with the threads in the
 * table; else it begins with its first exec.  wakers: switches_wake will be called.  locks: the
 * caller's; NULL: locks are not recorded.  The struct must not move.
 */
void switches_init(
	struct switches *s, struct recording *recording, bool on, bool wakers, struct locks *locks);
/* A zeroed one is allowed. */
void switches_deinit(struct switches *s);

/* Takes a record of a switch. */
void switches_take(struct switches *s, const struct perf_switch *record);
/* A thread is woken by that waker (waking.h). */
void switches_wake(struct switches *s, struct thread *thread, uint64_t time_ns, uint32_t waker);
/* The sample of a thread that is about to be switched out. */
void switches_take_stack(struct switches *s, const struct perf_sample *sample);
/*
 * The same for a known preemption.  False: call switches_take_stack, as no stack of the clock can
 * represent this one.
 */
bool switches_take_preempted(struct switches *s, const struct perf_sample *sample);
/* The clock found a thread running there. */
void switches_take_clock(struct switches *s, struct snapshot_place place, uint64_t time_ns);
/* Call it often, after all records up to now_ns have been taken. */
void switches_tick(struct switches *s, uint64_t now_ns);
/* Whether threads have begun to wait recently, so that their stacks should be read soon. */
bool switches_are_waiting(const struct switches *s);
/* The recording ends, and with it all blocks. */
void switches_end(struct switches *s, uint64_t now_ns);

#endif
