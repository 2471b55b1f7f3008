#ifndef SONDE_TESTS_SLOW_SLOW_CALLERS_H
#define SONDE_TESTS_SLOW_SLOW_CALLERS_H

/*
 * Attributed weights (semantics.md section 1), stack by stack, for one centre and one line of it at
 * a time.
 */

#include "slow_analysis.h"

/* A run of names: bit i of places[name] says that the name may stand at its place i. */
struct slow_run {
	const uint64_t *places; /* [names.count] */
	uint32_t length;
};

/* Makes equal stacks one, and takes out those that come to nothing. */
void slow_stacks_merge(struct slow_stacks *s);

int64_t slow_run_exclusive(const struct slow_stacks *s, const struct slow_run *run);
int64_t slow_run_inclusive(const struct slow_stacks *s, const struct slow_run *run);

/* Of callers, NO_ID stands for the root. */
int64_t slow_from_caller(const struct slow_stacks *s, const struct slow_run *run, uint32_t name);
int64_t slow_to_callee(const struct slow_stacks *s, const struct slow_run *run, uint32_t name);
/*
 * The same as gprofng computes it: along each stack, at each occurrence, add to its neighbours and
 * subtract from those of the occurrence before.
 */
int64_t slow_from_caller_by_walk(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name);
int64_t slow_to_callee_by_walk(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name);

/* Whether some stack holds the edge at an innermost occurrence, or at another one. */
struct slow_edge {
	bool innermost, elsewhere;
};
struct slow_edge slow_caller_edge(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name);
struct slow_edge slow_callee_edge(
	const struct slow_stacks *s, const struct slow_run *run, uint32_t name);

#endif
