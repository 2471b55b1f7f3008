#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_OFFCPU_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_OFFCPU_H

/*
 * Time off the CPU for the preload engine, which has no records of context switches.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "preload/shared.h"
#include "record/processes/proc.h"
#include "record/recording.h"
#include "record/samples/offcpu.h"
#include "record/switches/blocked_stack.h"

/* ---- a thread's life ---- */

/*
 * A thread's time off the CPU is the time between two points of its life minus the CPU time used in
 * between.  At a point both are known: the thread wrote a record, or was found asleep. /proc has
 * the time it has waited for a CPU, and how often it got one; both are read at each check.
 *
 * 	preload_life_begin(&life, …)	its first record
 * 	preload_life_ran(…), preload_life_slept(…), preload_life_sleeps_on(…),
 * 	preload_life_waited(…)
 * 	preload_life_end(…)		its end, or the recording's
 *
 * The output times and the CPU time between the first point and the last add up to the time between
 * them.
 */

/* Time off the CPU at one stack, not output yet. */
struct preload_span {
	uint64_t begin_ns, end_ns;
	uint64_t off_ns;
	uint32_t node;
};

struct preload_life {
	bool is_on;
	uint64_t at_ns, cpu_ns; /* the last point */
	uint64_t debt_ns;	/* CPU time beyond the elapsed time, as clocks are read one after
				   the other */
	uint64_t waited_ns;	/* waiting for a CPU, as far as output */
	uint64_t turns;		/* how often it had got a CPU when last found asleep */
	bool is_asleep;		/* when last checked */
	uint64_t asleep_ns;	/* asleep since this time at the latest */
	/* The first and the last check since the last point that found it awake. */
	uint64_t woke_ns, runs_ns;
	uint64_t handed_ns; /* when time was last output */
	/* The next check: not before due_ns; the recorder wakes for it at look_by_ns. */
	uint64_t due_ns, look_by_ns;
	uint64_t awake_ns;	     /* from a record to look_by_ns, while it does not sleep */
	uint64_t seen_waited_ns;     /* for a CPU, at the last check */
	uint32_t run_node;	     /* where it last ran; OFFCPU_NO_NODE: unknown */
	struct preload_span between; /* short times off the CPU between times in which it ran */
	struct preload_span block;   /* the current block, or the last one */
};

struct preload_lives {
	void (*interval)(
		void *context, struct preload_life *life, const struct offcpu_interval *interval);
	void *context;
	uint64_t estimated, estimated_ns; /* times attributed to a nearby stack */
};

/* sched: read shortly afterwards. */
void preload_life_begin(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns,
	const struct proc_sched *sched);
/*
 * It was running then, with that stack, or an unknown one.  A time before the last point is
 * ignored.
 */
void preload_life_ran(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns, uint32_t node);
/* It was found awake: it is running, or waiting for a CPU. */
void preload_life_runs(struct preload_life *life, uint64_t time_ns);
/* It was found asleep, in another block than before. */
void preload_life_slept(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	const struct proc_sched *sched, uint32_t node);
/* It is still in the block in which it was found. */
void preload_life_sleeps_on(
	struct preload_lives *lives, struct preload_life *life, uint64_t time_ns);
/* Its total wait for a CPU: outputs what is known. */
void preload_life_waited(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	uint64_t waited_ns);
/* If it sleeps, it slept until then.  Outputs the rest. */
void preload_life_end(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns);

/* ---- checks ---- */

/*
 * Checks threads that have written nothing for a while from outside.  A sleeping thread is not
 * woken, and its stack is read while it sleeps.
 */

struct preload_looks {
	struct recording *recording;
	struct preload_lives lives;
	struct blocked_stack reader;
	pid_t pid, tid; /* the thread being checked */
	double looks_left, reads_left;
	uint64_t granted_ns;
};

/* The result of a check. */
enum preload_found {
	PRELOAD_FOUND_NOTHING, /* nothing new */
	PRELOAD_FOUND_STACK,   /* a stack, in *sample; it was walked, and is the last one */
	PRELOAD_FOUND_GONE,
};

/* Whether /proc has what checks need. */
bool preload_looks_are_possible(void);
/* The struct must not move. */
void preload_looks_init(struct preload_looks *l, struct recording *recording);
/* A zeroed one is allowed. */
void preload_looks_deinit(struct preload_looks *l);

/* Call it before several checks.  False: no check is allowed now. */
bool preload_looks_grant(struct preload_looks *l, uint64_t now_ns);

/* The thread's first record. */
void preload_looks_begin(struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid,
	uint64_t time_ns, uint64_t cpu_ns);
/*
 * The thread has written a record, with that stack or OFFCPU_NO_NODE.  The next one is due in
 * interval_ns.
 */
void preload_looks_ran(struct preload_life *life, pid_t tid, const struct preload_record *head,
	uint32_t node, uint64_t interval_ns);
/* Checks the thread, after life->due_ns. */
enum preload_found preload_looks_look(struct preload_looks *l, struct preload_life *life, pid_t pid,
	pid_t tid, uint64_t now_ns, struct perf_sample *sample);
/* The thread's end, or the recording's. */
void preload_looks_end(
	struct preload_looks *l, struct preload_life *life, pid_t pid, pid_t tid, uint64_t time_ns);

#endif
