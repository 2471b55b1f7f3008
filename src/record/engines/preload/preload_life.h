#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIFE_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIFE_H

/*
 * A thread's time off the CPU where nobody tells of its switches: what went by between two points
 * of its life less the CPU time that it used in between.  At a point time and CPU time are known:
 * the thread wrote a record, or was found asleep.  How long it has waited for a CPU, and how often
 * it was given one, the system tells at each look.
 *
 *	preload_life_begin(&life, …)	its first record
 *	preload_life_ran(…), preload_life_slept(…), preload_life_sleeps_on(…),
 *	preload_life_waited(…)
 *	preload_life_end(…)		its end, or the recording's
 *
 * What is handed out and the CPU time between the first point and the last add up to the time
 * between them.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/samples/offcpu.h"
#include "record/processes/proc_stat.h"

/* Off the CPU at one stack, not handed out yet. */
struct preload_span {
	uint64_t begin_ns, end_ns;
	uint64_t off_ns;
	uint32_t node;
};

struct preload_life {
	bool is_on;
	uint64_t at_ns, cpu_ns; /* the last point */
	uint64_t debt_ns;	/* more CPU time than time went by, as clocks are read in turn */
	uint64_t waited_ns;	/* for a CPU, as far as that was handed out */
	uint64_t turns;		/* when last found asleep */
	bool is_asleep;		/* it was, and nothing is known of it since */
	uint64_t asleep_ns;	/* since when at the latest */
	/* The first and the last look since the last point that found it awake. */
	uint64_t woke_ns, runs_ns;
	uint64_t handed_ns; /* when time was last handed out */
	/* The next look: not before the first, and the recorder wakes for it at the second. */
	uint64_t due_ns, look_by_ns;
	uint64_t awake_ns;	     /* from a record to the latter, while it does not sleep */
	uint64_t seen_waited_ns;     /* for a CPU, at the last look */
	uint32_t run_node;	     /* where it last ran; OFFCPU_NO_NODE: not known */
	struct preload_span between; /* short times off the CPU, among those in which it ran */
	struct preload_span block;   /* the block at hand, or the last one */
};

struct preload_lives {
	void (*interval)(
		void *context, struct preload_life *life, const struct offcpu_interval *interval);
	void *context;
	uint64_t estimated, estimated_ns; /* times whose stack is another one near them */
};

/* sched: at some time not long after. */
void preload_life_begin(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns,
	const struct proc_sched *sched);
/* It ran then, with that stack, or one that is not known.  A point before the last is none. */
void preload_life_ran(struct preload_life *life, uint64_t time_ns, uint64_t cpu_ns, uint32_t node);
/* It was found awake: it runs, or waits for a CPU. */
void preload_life_runs(struct preload_life *life, uint64_t time_ns);
/* It was found asleep, in another block than before. */
void preload_life_slept(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	const struct proc_sched *sched, uint32_t node);
/* It is still in the block in which it was found. */
void preload_life_sleeps_on(
	struct preload_lives *lives, struct preload_life *life, uint64_t time_ns);
/* So long has it waited for a CPU by now: hands out what is known. */
void preload_life_waited(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns,
	uint64_t waited_ns);
/* If it sleeps it did so until then; hands out all that is left. */
void preload_life_end(struct preload_lives *lives, struct preload_life *life, uint64_t time_ns);

#endif
