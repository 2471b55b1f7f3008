#ifndef SONDE_RECORD_ENGINES_PERF_PERF_PLAN_H
#define SONDE_RECORD_ENGINES_PERF_PERF_PLAN_H

/*
 * Which perf events a recording has, what their attributes are, and which of them run.  Rates and
 * sizes that may be wanted later are opened at first, as events of their own that stand still: to
 * change from one to another is then to enable and disable.
 */

#include "record/engines/perf/perf_event.h"

/* The least of the user stack that a sample is to have; the kernel is asked whether it gives it. */
#define PERF_STACK_BYTES_MIN 1024u

/* Plans clocks, gears and rates of stacks at switches by the spec; the rings are there. */
void perf_plan(struct perf_event_set *set);
/* Whether it is one of those that run while sampling is on. */
bool perf_plan_runs(const struct perf_event_set *set, struct perf_source source);
void perf_plan_attr(
	const struct perf_event_set *set, struct perf_source source, struct perf_event_attr *attr);
/*
 * Of the rates at which stacks at switches can be taken the one for so many of both a second: a
 * neighbour of that which holds, or that.
 */
uint32_t perf_plan_thinning(const struct perf_event_set *set, double stacks_hz, double switches_hz);

#define PERF_ROLE_COUNT 5

struct perf_role_count {
	enum perf_role role;
	size_t count;
};

/*
 * What is opened on a task and CPU, -1: on everybody.  The tracker is first: what it reports must
 * not be missed.
 */
void perf_plan_task(const struct perf_event_set *set, pid_t task,
	struct perf_role_count (*wanted)[PERF_ROLE_COUNT]);

#endif
