/*
 * Waits on the anchors of the rings, which the kernel makes readable each time a part of the ring
 * has been written.  The rings of tracking records are only checked by time: a readable anchor
 * wakes a single waiter, and that must be the recorder, which opens the files of new programs
 * immediately.  So are those of samples while the recorder waits for each of them.
 */
#include "record/engines/perf/keeper.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/engines/perf/urgency.h"

/* The smallest ring of tracks holds 60 maps; a program's start takes longer. */
#define NAP_NS (SECOND_NS / 100)

struct keeper {
	struct perf_event_set *set;
	int end_fds[2];	     /* a pipe; closing the second end stops the thread */
	uint64_t stop_ns;    /* when to stop sampling; 0: never */
	struct exact *exact; /* NULL: none yet */
	pthread_t thread;
	bool leaves_samples;	   /* as set by the recorder */
	VEC(struct pollfd) polled; /* end_fds[0] first, then the rings of samples */
	size_t samples_end;	   /* of these */
	bool has_left_samples;	   /* they are not polled: their descriptors are inverted */
};

static void move_all(struct perf_event_set *set)
{
	for (size_t i = 0; i < set->cpus.count; i++)
		for (int s = 0; s < PERF_STREAM_COUNT; s++)
			if (set->cpus.data[i].ring[s].page)
				ring_move(&set->cpus.data[i].ring[s]);
}

static void keep_rests(struct keeper *k)
{
	struct exact *exact = __atomic_load_n(&k->exact, __ATOMIC_ACQUIRE);

	if (exact)
		exact_keep(exact);
}

/* Descriptors that hung up would wake us for ever. */
static void drop_hung_up(struct keeper *k)
{
	for (size_t i = 1; i < k->polled.count; i++)
		if (k->polled.data[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			k->polled.data[i].fd = -1;
}

static void choose_polled(struct keeper *k)
{
	bool leave = __atomic_load_n(&k->leaves_samples, __ATOMIC_RELAXED);

	if (leave == k->has_left_samples)
		return;
	k->has_left_samples = leave;
	for (size_t i = 1; i < k->samples_end; i++)
		if (k->polled.data[i].fd != -1)
			k->polled.data[i].fd = ~k->polled.data[i].fd;
}

/* Stops sampling at the time set.  Returns how long the next check may wait. */
static uint64_t watch_time(struct keeper *k)
{
	uint64_t stop_ns = __atomic_load_n(&k->stop_ns, __ATOMIC_RELAXED);

	if (stop_ns == 0 || perf_event_set_is_stopped(k->set))
		return NAP_NS;
	uint64_t now_ns = clock_monotonic_ns();

	if (now_ns >= stop_ns)
		perf_event_set_stop(k->set);
	else if (stop_ns - now_ns < NAP_NS)
		return stop_ns - now_ns;
	return NAP_NS;
}

static void *keep(void *argument)
{
	struct keeper *k = argument;

	urgency_raise_keeper();
	while (!k->polled.data[0].revents) {
		struct timespec nap = {.tv_nsec = (long)watch_time(k)};

		move_all(k->set);
		keep_rests(k);
		choose_polled(k);
		(void)ppoll(k->polled.data, k->polled.count, &nap, NULL);
		drop_hung_up(k);
	}
	return NULL;
}

static void poll_fd(struct keeper *k, int fd)
{
	vec_push(&k->polled, (struct pollfd){.fd = fd, .events = POLLIN});
}

static void poll_stream(struct keeper *k, enum perf_stream stream)
{
	for (size_t i = 0; i < k->set->cpus.count; i++)
		if (k->set->cpus.data[i].anchor_fd[stream] >= 0)
			poll_fd(k, k->set->cpus.data[i].anchor_fd[stream]);
}

static void poll_all(struct keeper *k)
{
	poll_fd(k, k->end_fds[0]);
	poll_stream(k, PERF_STREAM_SAMPLES);
	k->samples_end = k->polled.count;
	for (enum perf_stream s = 0; s < PERF_STREAM_COUNT; s++)
		if (s != PERF_STREAM_TRACK && s != PERF_STREAM_SAMPLES)
			poll_stream(k, s);
}

/* The thread takes no signals: they are for the recorder. */
static bool start(struct keeper *k)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int code = pthread_create(&k->thread, NULL, keep, k);

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return code == 0;
}

static void keeper_free(struct keeper *k)
{
	vec_deinit(&k->polled);
	free(k);
}

struct keeper *keeper_create(struct perf_event_set *set)
{
	struct keeper *k = xalloc(sizeof(*k));

	k->set = set;
	if (pipe2(k->end_fds, O_CLOEXEC) == 0) {
		poll_all(k);
		if (start(k))
			return k;
		close(k->end_fds[0]);
		close(k->end_fds[1]);
	}
	keeper_free(k);
	return NULL;
}

void keeper_stop_at(struct keeper *k, uint64_t time_ns)
{
	__atomic_store_n(&k->stop_ns, time_ns, __ATOMIC_RELAXED);
}

void keeper_leave_samples(struct keeper *k, bool leave)
{
	__atomic_store_n(&k->leaves_samples, leave, __ATOMIC_RELAXED);
}

void keeper_serve(struct keeper *k, struct exact *exact)
{
	__atomic_store_n(&k->exact, exact, __ATOMIC_RELEASE);
}

void keeper_destroy(struct keeper *k)
{
	if (!k)
		return;
	/*
	 * A write could be interrupted, and the thread would continue using what we free.  A close
	 * cannot.
	 */
	close(k->end_fds[1]);
	pthread_join(k->thread, NULL);
	close(k->end_fds[0]);
	keeper_free(k);
}
