#ifndef SONDE_RECORD_ENGINES_EXACT_EXACT_MARKS_H
#define SONDE_RECORD_ENGINES_EXACT_EXACT_MARKS_H

/*
 * What the BPF program of the exact engine knows of threads, so that it need not copy what the
 * walker will take from the thread's last stack.
 */

#include <stdbool.h>
#include <stdint.h>

#include "record/engines/exact/exact_layout.h"
#include "unwind/walk.h"

/*
 * Return addresses of frames that are gone can stay in the holes of new frames, where they look as
 * if nothing had changed.  A thread in which that has misled us does without marks for a while, and
 * each time twice as long.  Zero at the thread's start.
 */
struct marks_trust {
	uint32_t samples_without; /* that are still to come */
	uint32_t lately;	  /* how many there were the last time */
};
/* A mark has misled us. */
void marks_trust_lose(struct marks_trust *trust);
/* Counts a sample.  False: it is one to do without marks after. */
bool marks_trust_ask(struct marks_trust *trust);

/* Chooses marks in a thread's last stack, innermost first; returns how many. */
uint32_t exact_marks_choose(
	const struct unwind_history *history, struct exact_mark marks[EXACT_MARKS]);

/* The entry of a thread in the table of EXACT_THREADS; NULL: it has none. */
struct exact_thread *exact_threads_find(struct exact_thread *threads, uint32_t tid);
/*
 * The same, made if need be: with no marks, and no limit but limit_bytes.  When there is no room,
 * another thread loses its entry, which costs it nothing but copies.
 */
struct exact_thread *exact_threads_add(
	struct exact_thread *threads, uint32_t tid, uint64_t limit_bytes);
/* Replaces a thread's marks, while the program may be reading them, with those of a sample. */
void exact_thread_mark(struct exact_thread *thread, const struct exact_mark *marks,
	uint32_t mark_count, uint64_t marks_ns);

#endif
