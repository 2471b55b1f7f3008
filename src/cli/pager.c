/*
 * Runs a pager as a child that reads from a pipe.
 */
#include "cli/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* read_end becomes the pager's standard input. Returns posix_spawn's error. */
static int spawn(pid_t *pid, char *const *argv, int read_end)
{
	posix_spawn_file_actions_t actions;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, read_end, STDIN_FILENO);
	code = posix_spawnp(pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return code;
}

static int spawn_pager(pid_t *pid, int read_end)
{
	char *command = getenv("PAGER");
	char *shell[] = {(char[]){"sh"}, (char[]){"-c"}, command, NULL};
	char *less[] = {(char[]){"less"}, NULL};

	/* Exit if all fits on one screen, pass colours, leave the text on the screen. */
	setenv("LESS", "FRX", 0);
	return spawn(pid, command ? shell : less, read_end);
}

bool pager_start(struct pager *pager)
{
	const char *command = getenv("PAGER");
	int ends[2], code;

	*pager = (struct pager){.fd = STDOUT_FILENO};
	if (command && (*command == '\0' || strcmp(command, "cat") == 0))
		return false;
	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	code = spawn_pager(&pager->pid, ends[0]);
	close(ends[0]);
	if (code != 0) {
		close(ends[1]);
		pager->pid = 0;
		return false;
	}
	pager->fd = ends[1];
	return true;
}

void pager_finish(struct pager *pager)
{
	/* Ctrl-C in the pager is for the pager. */
	void (*interrupt)(int) = signal(SIGINT, SIG_IGN);

	close(pager->fd);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
	signal(SIGINT, interrupt);
	pager->pid = 0;
}
