#ifndef SONDE_RECORD_ENGINES_PERF_TUNING_H
#define SONDE_RECORD_ENGINES_PERF_TUNING_H

/*
 * What the snapshot engine adapts while recording: how much of the stack a sample copies, how long
 * the rings may stay undrained, and whether threads are too short-lived for their own clocks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/perf/counters.h"
#include "record/engines/perf/perf_event.h"

/* ---- the size of copies ---- */

/*
 * A copy costs the target about 0.2 us per KB, so the small one is used if it suffices: with suffix
 * reuse it also suffices for deep stacks that hardly change.  The rest must be read from the live
 * process, which may be too late.  So after very few such reads the large copy is used again, and
 * each time it takes longer until the small one is retried.
 */

struct clock_choice {
	bool small;		/* whether to use the small copy now */
	uint32_t walks, beyond; /* since the last check: all walks, and those that needed more */
	uint32_t patience;	/* walks with the large copy before retrying the small one */
};

void clock_choice_init(struct clock_choice *c);
/*
 * A stack was walked.  beyond: the small copy did not, or would not, contain all of the memory that
 * the walk read.
 */
void clock_choice_walked(struct clock_choice *c, bool beyond);

/* ---- how often the rings are drained ---- */

/*
 * A stack that is not completely in its sample must be read from the process before it changes: as
 * soon as the sample was taken, and never shortly before.  The recorder may have to share its CPU
 * with the target.  If it then looks too early, the target's clock may tick while the kernel is
 * switching back to the target.  Where kernel code is not sampled, that sample is missing, and the
 * kernel is not to blame, as it was there only because of the recorder.  So while stacks are deep,
 * an eager clock wakes the recorder at each sample.  Without one, the time of the next sample is
 * estimated, which is too early wherever something else ran on the CPU of the target.
 *
 * Measured on two CPUs with four busy processes in other sessions, and a recursion 5,000 levels
 * deep: by estimated times, 2 to 10 % of the samples of its CPU time were missing, 5 % on average;
 * with an eager clock, none.  As root, where the kernel is sampled, such samples were in
 * finish_task_switch and irqentry_exit_to_user_mode.  The size of the ring makes no difference.
 */

/* Zeroed at first. */
struct drain_pace {
	uint64_t sampled_ns;	/* when the last sample was taken */
	int64_t sampled_tid;	/* its thread */
	bool takes_turns;	/* the previous sample was another thread's */
	uint64_t deep_until_ns; /* drain often until then, because a stack was deeper than its
				   copy */
	uint64_t reads;		/* reads of live processes, at the last check */
};

/* A sample of the clock was taken. */
void drain_pace_sampled(struct drain_pace *p, uint64_t time_ns, int64_t tid);
/* Whether stacks are deep.  reads: total reads of live processes' memory. */
bool drain_pace_is_deep(struct drain_pace *p, uint64_t now_ns, uint64_t reads);
/*
 * How long to sleep.  interval_ns: between samples, at the present rate.  is_woken: each sample
 * wakes the recorder. is_waiting: there are threads off the CPU whose stacks should be read from
 * outside.
 */
uint64_t drain_pace_wait_ns(const struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns,
	bool is_woken, bool is_waiting);

/* ---- short-lived threads ---- */

/*
 * A task's clock starts with a whole interval, so it misses shorter threads, and half a sample of
 * all others.  If that makes a difference, the CPUs' clocks are used, or if these are not allowed,
 * a quicker clock, which ticks several times even in short threads.
 *
 * Only threads that have ended can be short.  One that lives on has missed less than a sample,
 * once, and a quicker clock would not bring that back.
 */

/* Zeroed at first. */
struct short_lives {
	bool widen_refused;
	bool is_quick;	   /* the quick clock runs, instead of wide ones */
	uint64_t begin_ns; /* of sampling */
	uint64_t ended;	   /* threads that have begun since then, and ended */
	uint64_t threads;  /* total, at the last check */
	uint32_t calm;	   /* checks since many threads began */
	uint64_t forgiven; /* samples missing for other reasons */
};

/* Sampling begins.  Threads that live already are not short. */
void short_lives_begin(struct short_lives *s, const struct perf_tally *tally);
/* Call it for each thread that ends. */
void short_lives_ended(struct short_lives *s, const struct thread *thread);
/*
 * The number of samples that the tasks' clocks should have given so far; 0 if nothing needs to be
 * found out.  interval_ns: between samples, as requested.
 */
uint64_t short_lives_due(const struct short_lives *s, const struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns);
/*
 * The clocks were replaced, and the rings drained.  Therefore half a sample of each thread is
 * missing, which later checks must ignore.
 */
void short_lives_forgive(struct short_lives *s, const struct perf_event_set *events,
	const struct perf_tally *tally, uint64_t interval_ns);
/*
 * Call it every tenth of a second.  due: from short_lives_due before the last drain, as samples
 * still in the rings would count as missing; 0: change nothing.
 */
void short_lives_watch(struct short_lives *s, struct perf_event_set *events,
	struct perf_tally *tally, uint64_t interval_ns, uint64_t due);

#endif
