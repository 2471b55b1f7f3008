/*
 * The limits are RLIMIT_CPU and RLIMIT_DATA, setrlimit(2).  The kernel ends a process at the
 * former; at the latter it refuses more memory, and base/alloc ends the process with a status of
 * its own.
 */
#include "base/limited_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* ---- in the child ---- */

/* The C library's function of this name is younger than the call. */
static void close_range_of(int first, int last)
{
	if (first <= last)
		syscall(SYS_close_range, (unsigned int)first, (unsigned int)last, 0u);
}

static void close_others(int fd, int kept_fd)
{
	int low = fd < kept_fd ? fd : kept_fd, high = fd < kept_fd ? kept_fd : fd;

	close_range_of(STDERR_FILENO + 1, low - 1);
	close_range_of(low > STDERR_FILENO ? low + 1 : STDERR_FILENO + 1, high - 1);
	close_range_of(high + 1, INT32_MAX);
}

/* For good: what the work reads may take over the process. */
static void set_limits(const struct limited_work *work)
{
	const struct rlimit seconds = {work->cpu_seconds, work->cpu_seconds + 1}, none = {0, 0};
	uint64_t mapped = memory_of(getpid()).mapped_bytes;
	struct rlimit data;

	setrlimit(RLIMIT_CPU, &seconds);
	setrlimit(RLIMIT_CORE, &none);
	if (work->memory_bytes == 0 || mapped == 0 ||
		!memory_limit(0, mapped + work->memory_bytes) || getrlimit(RLIMIT_DATA, &data) != 0)
		return;
	data.rlim_max = data.rlim_cur;
	setrlimit(RLIMIT_DATA, &data);
}

static void be_ordinary(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXCPU};
	sigset_t none;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		signal(numbers[i], SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* base/alloc reports what the parent reports as well, in better words. */
static void be_silent(void)
{
	int null = MEMORY_IS_SANITIZED ? -1 : open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null >= 0)
		dup2(null, STDERR_FILENO);
}

static _Noreturn void run(const struct limited_work *work, int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	be_ordinary();
	set_limits(work);
	be_silent();
	close_others(fd, work->kept_fd);
	_exit(work->run(work->context, fd));
}

/* ---- in the parent ---- */

struct error *limited_child_start(struct limited_child *child, const struct limited_work *work)
{
	pid_t parent = getpid();
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) != 0)
		return error_system(errno, "cannot make a pipe");
	pid_t pid = fork();

	if (pid < 0) {
		int code = errno;

		close(fds[0]);
		close(fds[1]);
		return error_system(code, "cannot start a process");
	}
	if (pid == 0)
		run(work, fds[1], parent);
	close(fds[1]);
	*child = (struct limited_child){.pid = pid, .fd = fds[0]};
	return NULL;
}

void limited_child_read(const struct limited_child *child, struct strbuf *out)
{
	char block[4096];
	ssize_t size;

	do {
		size = read(child->fd, block, sizeof(block));
		if (size > 0)
			strbuf_add(out, (struct str){block, (size_t)size});
	} while (size > 0 || (size < 0 && errno == EINTR));
}

static enum limited_end end_of(int status)
{
	if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
		return LIMITED_DONE;
	if (memory_was_refused(status))
		return LIMITED_BY_MEMORY;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return LIMITED_BY_TIME;
	/* As the kernel does where a machine or a control group has no memory left. */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return LIMITED_BY_MEMORY;
	return LIMITED_FAILED;
}

enum limited_end limited_child_end(struct limited_child *child)
{
	int status = 0;

	while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
		continue;
	close(child->fd);
	*child = (struct limited_child){.fd = -1};
	return end_of(status);
}

void limited_child_kill(struct limited_child *child)
{
	if (child->pid == 0)
		return;
	kill(child->pid, SIGKILL);
	(void)limited_child_end(child);
}
