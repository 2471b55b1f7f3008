/*
 * The thread and its starter share the loader, and the last one to leave frees it.  So a recording
 * that ends before the program is loaded does not wait for it.
 */
#include "record/engines/exact/exact_loader.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/alloc.h"

struct exact_loader {
	struct exact_options options;
	int done_fd;
	pthread_mutex_t lock;
	/* Under the lock. */
	struct exact *exact;
	struct error *err;
	bool is_done, is_taken, is_left;
};

static void loader_free(struct exact_loader *l)
{
	if (!l->is_taken) {
		exact_close(l->exact);
		error_destroy(l->err);
	}
	close(l->done_fd);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

static void *loader_main(void *argument)
{
	struct exact_loader *l = argument;
	struct exact *exact = NULL;
	struct error *err = exact_open(&l->options, &exact);

	pthread_mutex_lock(&l->lock);
	l->exact = exact;
	l->err = err;
	l->is_done = true;
	bool is_left = l->is_left;

	if (!is_left)
		(void)eventfd_write(l->done_fd, 1);
	pthread_mutex_unlock(&l->lock);
	if (is_left)
		loader_free(l);
	return NULL;
}

/* The thread takes no signals: they are for the recorder, and would make the verifier give up. */
static bool start_thread(struct exact_loader *l)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool started = pthread_create(&thread, NULL, loader_main, l) == 0;

	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

struct exact_loader *exact_loader_start(const struct exact_options *options)
{
	struct exact_loader *l = xalloc(sizeof(*l));

	l->options = *options;
	pthread_mutex_init(&l->lock, NULL);
	l->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (l->done_fd < 0 || !start_thread(l)) {
		loader_free(l);
		return NULL;
	}
	return l;
}

int exact_loader_fd(const struct exact_loader *l)
{
	return l->done_fd;
}

bool exact_loader_is_done(struct exact_loader *l)
{
	pthread_mutex_lock(&l->lock);
	bool is_done = l->is_done;

	pthread_mutex_unlock(&l->lock);
	return is_done;
}

bool exact_loader_take(struct exact_loader *l, struct exact **exact, struct error **err)
{
	pthread_mutex_lock(&l->lock);
	bool is_done = l->is_done && !l->is_taken;

	if (is_done) {
		*exact = l->exact;
		*err = l->err;
		l->is_taken = true;
	}
	pthread_mutex_unlock(&l->lock);
	return is_done;
}

void exact_loader_leave(struct exact_loader *l)
{
	if (l == NULL)
		return;
	pthread_mutex_lock(&l->lock);
	bool is_done = l->is_done;

	l->is_left = true;
	pthread_mutex_unlock(&l->lock);
	if (is_done)
		loader_free(l);
}
