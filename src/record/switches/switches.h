#ifndef SONDE_RECORD_SWITCHES_SWITCHES_H
#define SONDE_RECORD_SWITCHES_SWITCHES_H

/*
 * What an engine with records of context switches makes of them: time off the CPU, with the stacks
 * of those who are.  Stacks come with the switches where the kernel takes them; others are read
 * from outside while their threads sleep.
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
	struct locks *locks; /* NULL: locks are not asked for */
	bool on;	     /* the target runs: before that, its switches are ours */
	uint64_t begin_ns;   /* what was before is not counted */
	uint64_t reads_left; /* from outside; more come with the time */
	uint64_t tick_ns;
	uint64_t window_ns;
	uint64_t outs, waits, stacks; /* in the window that goes on */
	bool waited;		      /* in the last full window */
	/* Of switches, and of stacks that came with them, in the last full window. */
	double switches_hz, stacks_hz;
};

/*
 * The recording's process table tells it of threads from now on.  on: the target runs, and the
 * threads in the table exist; else it begins with its first exec.  wakers: switches_wake will be
 * called.  locks: what tells of locks, the caller's; NULL: nobody asks.  The struct must stay where
 * it is.
 */
void switches_init(
	struct switches *s, struct recording *recording, bool on, bool wakers, struct locks *locks);
/* A zeroed one is fine. */
void switches_deinit(struct switches *s);

/* A record of a switch. */
void switches_take(struct switches *s, const struct perf_switch *record);
/* A thread is woken, by that waker (record/switches/waking.h). */
void switches_wake(struct switches *s, struct thread *thread, uint64_t time_ns, uint32_t waker);
/* The sample of a thread that is about to be switched out. */
void switches_take_stack(struct switches *s, const struct perf_sample *sample);
/*
 * The same where it is known that it will be preempted.  False: that stack is to be walked after
 * all, the clock has seen none that may stand for it.
 */
bool switches_take_preempted(struct switches *s, const struct perf_sample *sample);
/* Where the clock found a thread running. */
void switches_take_clock(struct switches *s, struct snapshot_place place, uint64_t time_ns);
/* To be called often, when all records up to now_ns have been taken. */
void switches_tick(struct switches *s, uint64_t now_ns);
/* Whether threads have begun to wait of late, so that their stacks should soon be looked at. */
bool switches_are_waiting(const struct switches *s);
/* The recording ends: so do all blocks. */
void switches_end(struct switches *s, uint64_t now_ns);

#endif
