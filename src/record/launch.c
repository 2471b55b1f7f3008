/*
 * Launching the target.  Two pipes: one on which the child waits for its start, one, close-on-exec,
 * on which the errno of a failed exec comes back.
 */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_state_save(struct launch_state *state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};

	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	sigaction(SIGPIPE, &ignore, &state->pipe);
	sigaction(SIGXFSZ, &ignore, &state->file_size);
	sigaction(SIGCHLD, &usual, &state->child);
	getrlimit(RLIMIT_NOFILE, &state->files);
	getrlimit(RLIMIT_MEMLOCK, &state->locked_memory);
	state->niceness = getpriority(PRIO_PROCESS, 0);
	state->timer_slack_ns = prctl(PR_GET_TIMERSLACK);
}

void launch_state_restore(const struct launch_state *state)
{
	sigaction(SIGPIPE, &state->pipe, NULL);
	sigaction(SIGXFSZ, &state->file_size, NULL);
	sigaction(SIGCHLD, &state->child, NULL);
	sigprocmask(SIG_SETMASK, &state->mask, NULL);
}

static void raise_limit(__rlimit_resource_t resource)
{
	struct rlimit limit;

	if (getrlimit(resource, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

void launch_raise_ourselves(void)
{
	/* A descriptor for each load object, several for each CPU and task; rings are locked. */
	raise_limit(RLIMIT_NOFILE);
	raise_limit(RLIMIT_MEMLOCK);
	(void)setpriority(PRIO_PROCESS, 0, -5);
	prctl(PR_SET_TIMERSLACK, 1000);
}

/* In the child, which is to be as if it had been started without us. */
static void child_restore(const struct launch_state *state)
{
	setrlimit(RLIMIT_NOFILE, &state->files);
	setrlimit(RLIMIT_MEMLOCK, &state->locked_memory);
	(void)setpriority(PRIO_PROCESS, 0, state->niceness);
	prctl(PR_SET_TIMERSLACK, (unsigned long)state->timer_slack_ns);
	launch_state_restore(state);
}

static ssize_t read_retry(int fd, void *bytes, size_t size)
{
	ssize_t got;

	do
		got = read(fd, bytes, size);
	while (got < 0 && errno == EINTR);
	return got;
}

/* In the child: never returns. */
static void child_run(int go_fd, int status_fd, char *const *command, char *const *environment,
	const struct launch_state *state)
{
	char go;

	if (read_retry(go_fd, &go, 1) != 1)
		_exit(125);
	child_restore(state);
	for (size_t i = 0; environment && environment[i]; i++)
		putenv(environment[i]);
	execvp(command[0], command);
	int code = errno;
	ssize_t written = write(status_fd, &code, sizeof(code));

	_exit(written == sizeof(code) ? 127 : 125);
}

/* What is missing is ours, not the command's: no ERROR_SYSTEM, which is its exec's. */
static struct error *start_error(int code, const char *call)
{
	return error_new(ERROR_UNSUPPORTED, "no process could be started for the command: %s: %s",
		call, strerror(code));
}

struct error *launch_start(struct launch *launch, char *const *command, char *const *environment,
	const struct launch_state *state)
{
	int go[2], status[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		return start_error(errno, "pipe");
	if (pipe2(status, O_CLOEXEC) != 0) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return start_error(code, "pipe");
	}
	pid_t pid = fork();

	if (pid == 0) {
		close(go[1]);
		child_run(go[0], status[1], command, environment, state);
	}
	int code = errno;

	close(go[0]);
	close(status[1]);
	*launch = (struct launch){.pid = pid, .go_fd = go[1], .status_fd = status[0]};
	if (pid > 0)
		return NULL;
	close(go[1]);
	close(status[0]);
	return start_error(code, "fork");
}

struct error *launch_release(struct launch *launch, const char *name)
{
	int code = 0;
	ssize_t got = write(launch->go_fd, "", 1);

	close(launch->go_fd);
	if (got == 1)
		got = read_retry(launch->status_fd, &code, sizeof(code));
	close(launch->status_fd);
	if (got == 0)
		return NULL;
	waitpid(launch->pid, NULL, 0);
	return error_system(got == sizeof(code) ? code : EIO, "%s", name);
}

void launch_cancel(struct launch *launch)
{
	close(launch->go_fd);
	close(launch->status_fd);
	waitpid(launch->pid, NULL, 0);
}
