/*
 * Threads that live for one jobs_run and take the next part from a counter.  Signals are blocked
 * in them, so that handlers run in the threads that the program knows of.
 */
#include "base/jobs.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>

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
