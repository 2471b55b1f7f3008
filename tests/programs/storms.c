/*
 * storms KIND ROUNDS: children one after the other, each of which works for 1 ms in `in_child` and
 * ends.  KIND: fork; vfork, then exec; spawn (posix_spawn); exec, one process that becomes itself
 * again and again.
 */
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

extern char **environ;
static const char *program;

KEEP uint64_t in_child(uint64_t x)
{
	return spin(100000, x) + 1;
}

KEEP int work(void)
{
	struct cpu_time time = cpu_time_of_process(1);
	uint64_t x = 1;

	do
		x = in_child(x);
	while (cpu_time_is_left(&time));
	return x != 0;
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		exit(1);
}

static void run_fork(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(!work());
	wait_for(pid);
}

static void run_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl(program, program, "child", (char *)NULL);
		_exit(1);
	}
	wait_for(pid);
}

static void run_spawn(void)
{
	char *arguments[] = {(char *)(uintptr_t)program, (char *)(uintptr_t) "child", NULL};
	pid_t pid;

	if (posix_spawn(&pid, program, NULL, NULL, arguments, environ) != 0)
		exit(1);
	wait_for(pid);
}

static void run_exec(int rounds)
{
	char left[16];

	snprintf(left, sizeof(left), "%d", rounds - 1);
	if (work() && rounds > 1)
		execl(program, program, "exec", left, (char *)NULL);
	exit(rounds > 1);
}

int main(int argc, char **argv)
{
	program = argv[0];
	if (argc == 2)
		return !work();
	if (argc < 3)
		return 2;
	for (int rounds = atoi(argv[2]); rounds > 0; rounds--) {
		if (strcmp(argv[1], "fork") == 0)
			run_fork();
		else if (strcmp(argv[1], "vfork") == 0)
			run_vfork();
		else if (strcmp(argv[1], "spawn") == 0)
			run_spawn();
		else
			run_exec(rounds);
	}
	return 0;
}
