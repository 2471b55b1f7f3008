/*
 * fdatasync in the background.  Failures are not looked at: a disk that loses data says so to the
 * next write, and a file that cannot be synced (a pipe) has no disk.
 */
#include "record/file/capture_sync.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"

static const uint64_t sync_interval_ns = 5000000000u;

struct capture_sync {
	int fd;
	uint64_t last_ns;
	bool running, refused; /* the thread; that there can be none */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool wanted, stopping; /* under the lock */
};

struct capture_sync *capture_sync_create(int fd)
{
	struct capture_sync *s = xalloc(sizeof(*s));

	s->fd = fd;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	return s;
}

static void *sync_main(void *argument)
{
	struct capture_sync *s = argument;

	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->wanted && !s->stopping)
			pthread_cond_wait(&s->changed, &s->lock);
		if (s->stopping)
			break;
		s->wanted = false;
		pthread_mutex_unlock(&s->lock);
		(void)fdatasync(s->fd);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* The thread takes no signals: they are the recorder's. */
static void sync_start(struct capture_sync *s)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	s->running = pthread_create(&s->thread, NULL, sync_main, s) == 0;
	s->refused = !s->running;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void capture_sync_request(struct capture_sync *s, uint64_t now_ns)
{
	if (s->last_ns == 0)
		s->last_ns = now_ns;
	if (now_ns - s->last_ns < sync_interval_ns || s->refused)
		return;
	s->last_ns = now_ns;
	if (!s->running)
		sync_start(s);
	pthread_mutex_lock(&s->lock);
	s->wanted = true;
	pthread_cond_signal(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

void capture_sync_destroy(struct capture_sync *s)
{
	if (s == NULL)
		return;
	if (s->running) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		pthread_cond_signal(&s->changed);
		pthread_mutex_unlock(&s->lock);
		pthread_join(s->thread, NULL);
	}
	pthread_cond_destroy(&s->changed);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
