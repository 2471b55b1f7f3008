#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_TUNING_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_TUNING_H

/*
 * How much of each thread's stack is copied, learned from earlier walks.  The BPF program has three
 * things for each thread: marks, outside which the stack is unchanged; a request for a whole stack,
 * for the checks of suffix reuse; and a limit, for stacks with an unknown end, such as a
 * coroutine's within a large heap.  The preloaded library also has marks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/exact/exact.h"
#include "record/engines/exact/exact_layout.h"
#include "record/events/perf_record.h"
#include "unwind/walk.h"

/* ---- marks ---- */

/*
 * Return addresses of former frames may remain in unused parts of new frames, where they look as if
 * nothing had changed.  A thread for which this was wrong does without marks for a while, each time
 * twice as long.  Zero at the thread's start.
 */
struct marks_trust {
	uint32_t samples_without; /* how many samples without marks are left */
	uint32_t lately;	  /* how many there were last time */
};
/* A mark was wrong. */
void marks_trust_lose(struct marks_trust *trust);
/* Counts a sample.  False: set no marks after it. */
bool marks_trust_ask(struct marks_trust *trust);

/* Chooses marks in a thread's last stack, innermost first; returns their number. */
uint32_t exact_marks_choose(
	const struct unwind_history *history, struct exact_mark marks[EXACT_MARKS]);

/* The entry of a thread in the table of EXACT_THREADS; NULL: none. */
struct exact_thread *exact_threads_find(struct exact_thread *threads, uint32_t tid);
/*
 * The same, added if missing: without marks, and with limit_bytes.  If there is no room, another
 * thread loses its entry, which only leads to larger copies.
 */
struct exact_thread *exact_threads_add(
	struct exact_thread *threads, uint32_t tid, uint64_t limit_bytes);
/* Replaces a thread's marks with those of a sample, even while the program reads them. */
void exact_thread_mark(struct exact_thread *thread, const struct exact_mark *marks,
	uint32_t mark_count, uint64_t marks_ns);

/* ---- learning ---- */

/* Deeper stacks are truncated. */
#define EXACT_STACK_BYTES_MAX ((uint64_t)64 << 20)

/* The recorder's own data about the thread in the same entry of the table. */
struct exact_request {
	bool is_open;	     /* a whole stack was requested */
	uint32_t age;	     /* samples since then */
	uint32_t limit_hold; /* number of samples to hold the limit after it was too low */
	uint32_t limit_held; /* how many of them are left */
	struct marks_trust trust;
};

struct exact_tuning {
	struct exact_thread *threads; /* [EXACT_THREADS], shared with the program */
	struct exact_request requests[EXACT_THREADS];
	uint64_t slack_ns; /* maximum difference between the program's time of a sample and the
			      sample's */
};

/* Like exact_learn, exact.h. */
void exact_tuning_learn(struct exact_tuning *t, const struct perf_sample *sample,
	const struct stack_rest *rest, const struct unwind_history *history, bool is_short);

#endif
