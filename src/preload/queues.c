/*
 * Waits for semaphores and messages that SA_RESTART does not restart: futexes with a timeout, and
 * all System V waits.  Waits until an absolute time are restarted unchanged.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <semaphore.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>

typedef int sem_timedwait_fn(sem_t *, const struct timespec *);
typedef int sem_clockwait_fn(sem_t *, clockid_t, const struct timespec *);
typedef ssize_t msgrcv_fn(int, void *, size_t, long, int);
typedef int msgsnd_fn(int, const void *, size_t, int);
typedef int semop_fn(int, struct sembuf *, size_t);
typedef int semtimedop_fn(int, struct sembuf *, size_t, const struct timespec *);
PRELOAD_REAL(sem_timedwait, sem_timedwait_fn)
PRELOAD_REAL(sem_clockwait, sem_clockwait_fn)
PRELOAD_REAL(msgrcv, msgrcv_fn)
PRELOAD_REAL(msgsnd, msgsnd_fn)
PRELOAD_REAL(semop, semop_fn)
PRELOAD_REAL(semtimedop, semtimedop_fn)

preload_exported int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict end)
{
	struct preload_wait wait = preload_wait_begin(-1);
	int got = real_sem_timedwait()(semaphore, end);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_sem_timedwait()(semaphore, end);
	return got;
}

/* glibc's, since 2.30. */
preload_exported int sem_clockwait(
	sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict end);

int sem_clockwait(sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict end)
{
	struct preload_wait wait = preload_wait_begin(-1);
	sem_clockwait_fn *real = real_sem_clockwait();

	if (!real) {
		errno = ENOSYS;
		return -1;
	}
	int got = real(semaphore, clock, end);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real(semaphore, clock, end);
	return got;
}

preload_exported ssize_t msgrcv(int queue, void *message, size_t size, long type, int flags)
{
	struct preload_wait wait = preload_wait_begin(-1);
	ssize_t got = real_msgrcv()(queue, message, size, type, flags);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_msgrcv()(queue, message, size, type, flags);
	return got;
}

preload_exported int msgsnd(int queue, const void *message, size_t size, int flags)
{
	struct preload_wait wait = preload_wait_begin(-1);
	int got = real_msgsnd()(queue, message, size, flags);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_msgsnd()(queue, message, size, flags);
	return got;
}

preload_exported int semop(int set, struct sembuf *operations, size_t count)
{
	struct preload_wait wait = preload_wait_begin(-1);
	int got = real_semop()(set, operations, count);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR))
		got = real_semop()(set, operations, count);
	return got;
}

preload_exported int semtimedop(
	int set, struct sembuf *operations, size_t count, const struct timespec *timeout)
{
	struct preload_wait wait = preload_wait_begin(preload_time_to_ns(timeout));
	int got = real_semtimedop()(set, operations, count, timeout);

	while (preload_wait_again(&wait, got < 0 && errno == EINTR)) {
		struct timespec left = preload_wait_left(&wait);

		got = real_semtimedop()(set, operations, count, timeout ? &left : NULL);
	}
	return got;
}
