#ifndef SONDE_BASE_JOBS_H
#define SONDE_BASE_JOBS_H

/*
 * Work in numbered parts, done by several threads at once.  What the parts make must not depend on
 * the number of threads: each has a place of its own for its result, and results are joined in
 * order, by one thread.
 */

#include <stddef.h>

/* The processors that this process may run on, at least 1. */
size_t jobs_processors(void);

/* Does one part.  It may use nothing that another part changes. */
typedef void jobs_fn(void *context, size_t part);
/*
 * Does parts 0 … count - 1 on at most `threads` threads, of which the caller's is one; returns when
 * all are done.  Parts begin in order.  If the system refuses more threads, the caller's does what
 * is left.  threads 0 counts as 1.  Takes some 50 us for each thread, so parts should be larger.
 */
void jobs_run(size_t threads, size_t count, jobs_fn *fn, void *context);

#endif
