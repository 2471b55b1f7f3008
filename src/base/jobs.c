/*
 * Threads that live for one jobs_run and take the next part from a counter.  Signals are blocked
 * in them, so that handlers run in the threads that the program knows of.
 */
#include "base/jobs.h"

#include <stdlib.h>
#ifdef __linux__
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#endif

#include "base/alloc.h"

#ifdef __linux__

/* Threads at once; more would wait for memory rather than work. */
#define THREADS_MAX 64u

struct jobs {
	jobs_fn *fn;
	void *context;
	size_t count;
	atomic_size_t next;
};

size_t jobs_processors(void)
{
	cpu_set_t cpus;
	int count;

	/* More than CPU_SETSIZE processors are refused; they are enough. */
	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0)
		return THREADS_MAX;
	count = CPU_COUNT(&cpus);
	return count > 0 ? (size_t)count : 1;
}

static void *work(void *jobs)
{
	struct jobs *j = jobs;
	size_t part;

	while ((part = atomic_fetch_add(&j->next, 1)) < j->count)
		j->fn(j->context, part);
	return NULL;
}

/* Starts `wanted` threads; returns how many there are. */
static size_t start(struct jobs *j, pthread_t *threads, size_t wanted)
{
	sigset_t all, before;
	size_t count = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	while (count < wanted && pthread_create(&threads[count], NULL, work, j) == 0)
		count++;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return count;
}

void jobs_run(size_t threads, size_t count, jobs_fn *fn, void *context)
{
	struct jobs jobs = {.fn = fn, .context = context, .count = count};
	pthread_t others[THREADS_MAX];
	size_t wanted = threads < count ? threads : count;

	wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
	wanted = start(&jobs, others, wanted > 1 ? wanted - 1 : 0);
	work(&jobs);
	while (wanted > 0)
		pthread_join(others[--wanted], NULL);
}

#else
/* Without threads (WebAssembly), the calling one does all parts. */
size_t jobs_processors(void)
{
	return 1;
}

void jobs_run(size_t threads, size_t count, jobs_fn *fn, void *context)
{
	(void)threads;
	for (size_t part = 0; part < count; part++)
		fn(context, part);
}
#endif

/* ---- Items prepared ahead */

struct window {
	char *items;
	size_t count;
};

struct ahead {
	const struct jobs_ahead *work;
	void *context;
	size_t most; /* items in a window */
	struct window using, preparing;
};

static void *item_at(const struct ahead *a, const struct window *w, size_t i)
{
	return w->items + i * a->work->item_bytes;
}

static void window_fill(const struct ahead *a, struct window *w)
{
	w->count = 0;
	while (w->count < a->most && a->work->next(a->context, item_at(a, w, w->count)))
		w->count++;
}

static void window_destroy(const struct ahead *a, const struct window *w)
{
	for (size_t i = 0; a->work->deinit && i < a->most; i++)
		a->work->deinit(item_at(a, w, i));
	free(w->items);
}

/* Part 0 uses one window's items, each other part prepares one item of the next window. */
static void do_part(void *ahead, size_t part)
{
	const struct ahead *a = ahead;

	if (part > 0)
		a->work->prepare(a->context, item_at(a, &a->preparing, part - 1));
	for (size_t i = 0; part == 0 && i < a->using.count; i++)
		a->work->use(a->context, item_at(a, &a->using, i));
}

void jobs_run_ahead(size_t threads, size_t window, const struct jobs_ahead *work, void *context)
{
	struct ahead a = {.work = work,
		.context = context,
		.most = window,
		.using = {xcalloc(window, work->item_bytes), 0},
		.preparing = {xcalloc(window, work->item_bytes), 0}};

	do {
		struct window used = a.using;

		window_fill(&a, &a.preparing);
		jobs_run(threads, 1 + a.preparing.count, do_part, &a);
		a.using = a.preparing;
		a.preparing = used;
	} while (a.using.count);
	window_destroy(&a, &a.using);
	window_destroy(&a, &a.preparing);
}
