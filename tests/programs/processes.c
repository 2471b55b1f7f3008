/*
 * processes MILLISECONDS: so much CPU time in all, as much in each of four places, in many short
 * turns: in itself, in a forked child, in a child made by fork and exec, and in one made by vfork
 * and exec; each under a function of its own name.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

#define TURNS 20

static const char *program, *milliseconds;

#define PLACE(name)                                                                                \
	KEEP uint64_t name(uint64_t x)                                                             \
	{                                                                                          \
		struct cpu_time time = cpu_time_of_process(atof(milliseconds) / TURNS / 4);        \
		do                                                                                 \
			x = spin(100000, x);                                                       \
		while (cpu_time_is_left(&time));                                                   \
		return x + 1;                                                                      \
	}
PLACE(in_parent)
PLACE(in_fork)
PLACE(in_exec)
PLACE(in_vfork)

static void exec_as(const char *role)
{
	execl(program, program, milliseconds, role, (char *)NULL);
	_exit(1);
}

static void wait_for(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		_exit(1);
}

static void run_children(void)
{
	fflush(stdout);
	pid_t pid = fork();

	if (pid == 0)
		_exit(in_fork(1) == 0);
	wait_for(pid);
	pid = fork();
	if (pid == 0)
		exec_as("exec");
	wait_for(pid);
	pid = vfork();
	if (pid == 0)
		exec_as("vfork");
	wait_for(pid);
}

int main(int argc, char **argv)
{
	program = argv[0];
	milliseconds = argc > 1 ? argv[1] : "1";
	if (argc > 2)
		return (strcmp(argv[2], "exec") == 0 ? in_exec(1) : in_vfork(1)) == 0;
	puts("in_parent 0.25 0.25\nin_fork 0.25 0.25\nin_exec 0.25 0.25\nin_vfork 0.25 0.25");
	uint64_t x = 1;

	for (int turn = 0; turn < TURNS; turn++) {
		x = in_parent(x);
		run_children();
	}
	return x == 0;
}
