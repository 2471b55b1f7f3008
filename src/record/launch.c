/*
 * Launching the target.  Two pipes: one on which the child waits for its start, one, close-on-exec,
 * on which the errno of a failed exec comes back.
 */
#include "record/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

void launch_state_save(struct launch_state *state)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN}, usual = {.sa_handler = SIG_DFL};

	sigprocmask(SIG_SETMASK, NULL, &state->mask);
	sigaction(SIGPIPE, &ignore, &state->pipe);
	sigaction(SIGXFSZ, &ignore, &state->file_size);
	sigaction(SIGCHLD, &usual, &state->child);
}

void launch_state_restore(const struct launch_state *state)
{
	sigaction(SIGPIPE, &state->pipe, NULL);
	sigaction(SIGXFSZ, &state->file_size, NULL);
	sigaction(SIGCHLD, &state->child, NULL);
	sigprocmask(SIG_SETMASK, &state->mask, NULL);
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
static void child_run(
	int go_fd, int status_fd, char *const *command, const struct launch_state *state)
{
	char go;

	if (read_retry(go_fd, &go, 1) != 1)
		_exit(125);
	launch_state_restore(state);
	execvp(command[0], command);
	int code = errno;
	ssize_t written = write(status_fd, &code, sizeof(code));

	_exit(written == sizeof(code) ? 127 : 125);
}

struct error *launch_start(
	struct launch *launch, char *const *command, const struct launch_state *state)
{
	int go[2], status[2];

	if (pipe2(go, O_CLOEXEC) != 0)
		return error_system(errno, "pipe");
	if (pipe2(status, O_CLOEXEC) != 0) {
		int code = errno;

		close(go[0]);
		close(go[1]);
		return error_system(code, "pipe");
	}
	pid_t pid = fork();

	if (pid == 0) {
		close(go[1]);
		child_run(go[0], status[1], command, state);
	}
	int code = errno;

	close(go[0]);
	close(status[1]);
	*launch = (struct launch){.pid = pid, .go_fd = go[1], .status_fd = status[0]};
	if (pid > 0)
		return NULL;
	close(go[1]);
	close(status[0]);
	return error_system(code, "fork");
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
