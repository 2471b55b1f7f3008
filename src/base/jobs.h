#ifndef SONDE_BASE_JOBS_H
#define SONDE_BASE_JOBS_H

/*
 * Work in numbered parts, done by several threads at once.  What the parts make must not depend on
 * the number of threads: each has a place of its own for its result, and results are joined in
 * order, by one thread.
 */

#include <stdbool.h>
#include <stddef.h>

/* The processors that this process may run on, at least 1. */
size_t jobs_processors(void);

/* Does one part.  It may use nothing that another part changes. */
typedef void jobs_fn(void *context, size_t part);
/*
 * Does parts 0 to count - 1 on the calling thread and at most threads - 1 others, and returns when
 * all are done.  Parts begin in order.  If the system refuses more threads, the calling one does
 * the rest.  threads 0 counts as 1.  A thread costs about 50 us, so parts should take longer.
 */
void jobs_run(size_t threads, size_t count, jobs_fn *fn, void *context);

/*
 * Work on a sequence of items, which threads prepare ahead: while one uses the items of a window,
 * in order, the others prepare those of the next window.
 */
struct jobs_ahead {
	size_t item_bytes;
	/* Sets up the next item; false: there are no more.  An item is zero, or was used before. */
	bool (*next)(void *context, void *item);
	/* It may use nothing that `use`, or preparing another item, changes. */
	void (*prepare)(void *context, void *item);
	void (*use)(void *context, void *item);
	/* Frees what the item holds; NULL: nothing. */
	void (*deinit)(void *item);
};

/* Does all items on at most that many threads, at most 2 * window items being in memory. */
void jobs_run_ahead(size_t threads, size_t window, const struct jobs_ahead *work, void *context);

#endif
