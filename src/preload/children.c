/*
 * Waits for children.  The kernel itself restarts them after the library's signal (SA_RESTART).
 * But the timer of a parent that was found asleep is disabled, and sampling must resume as soon as
 * the parent continues.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

typedef pid_t wait_fn(int *);
typedef pid_t waitpid_fn(pid_t, int *, int);
typedef pid_t wait3_fn(int *, int, struct rusage *);
typedef pid_t wait4_fn(pid_t, int *, int, struct rusage *);
typedef int waitid_fn(idtype_t, id_t, siginfo_t *, int);
PRELOAD_REAL(wait, wait_fn)
PRELOAD_REAL(waitpid, waitpid_fn)
PRELOAD_REAL(wait3, wait3_fn)
PRELOAD_REAL(wait4, wait4_fn)
PRELOAD_REAL(waitid, waitid_fn)

preload_exported pid_t wait(int *status)
{
	struct preload_wait again = preload_wait_begin(-1);
	pid_t got;

	do
		got = real_wait()(status);
	while (preload_wait_again(&again, got < 0 && errno == EINTR));
	return got;
}

preload_exported pid_t waitpid(pid_t pid, int *status, int options)
{
	struct preload_wait again = preload_wait_begin(-1);
	pid_t got;

	do
		got = real_waitpid()(pid, status, options);
	while (preload_wait_again(&again, got < 0 && errno == EINTR));
	return got;
}

preload_exported pid_t wait3(int *status, int options, struct rusage *used)
{
	struct preload_wait again = preload_wait_begin(-1);
	pid_t got;

	do
		got = real_wait3()(status, options, used);
	while (preload_wait_again(&again, got < 0 && errno == EINTR));
	return got;
}

preload_exported pid_t wait4(pid_t pid, int *status, int options, struct rusage *used)
{
	struct preload_wait again = preload_wait_begin(-1);
	pid_t got;

	do
		got = real_wait4()(pid, status, options, used);
	while (preload_wait_again(&again, got < 0 && errno == EINTR));
	return got;
}

preload_exported int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	struct preload_wait again = preload_wait_begin(-1);
	int got;

	do
		got = real_waitid()(type, id, info, options);
	while (preload_wait_again(&again, got < 0 && errno == EINTR));
	return got;
}
