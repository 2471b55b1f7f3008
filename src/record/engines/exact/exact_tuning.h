#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_TUNING_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_TUNING_H

/*
 * How much of each thread's stack the BPF program copies, learned from what came of the walks.
 *
 * It knows three things of a thread: marks (exact_marks.h), where the rest of the stack is what
 * it was; a request for a whole one, for the checks of suffix reuse; and a limit, for stacks whose
 * end nothing tells, such as a coroutine's within a large heap.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/exact/exact_layout.h"
#include "record/events/perf_record.h"
#include "record/engines/exact/stack_rest.h"
#include "record/engines/exact/exact_marks.h"
#include "unwind/walk.h"

/* A stack is not deeper, or is cut. */
#define EXACT_STACK_BYTES_MAX ((uint64_t)64 << 20)

/* What the recorder alone knows of the thread in the same entry of the table. */
struct exact_request {
	bool is_open;	     /* a whole stack was asked for */
	uint32_t age;	     /* samples since then */
	uint32_t limit_hold; /* so many samples the limit is held after it was too low */
	uint32_t limit_held; /* how many of them are still to come */
	struct marks_trust trust;
};

struct exact_tuning {
	struct exact_thread *threads; /* [EXACT_THREADS], shared with the program */
	struct exact_request requests[EXACT_THREADS];
	uint64_t slack_ns; /* the program's time of a sample may be that much off the sample's */
};

/* As exact_learn, exact.h. */
void exact_tuning_learn(struct exact_tuning *t, const struct perf_sample *sample,
	const struct stack_rest *rest, const struct unwind_history *history, bool is_short);

#endif
