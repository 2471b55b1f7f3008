/*
 * cost FILE COMMAND...: runs a command and writes to FILE its CPU seconds and its peak memory in
 * bytes, as the system accounts them.
 *
 * A large parent cannot ask that itself: what a process had before it became another program counts
 * as its peak too.  So the command is the child of this small one.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}

	int status;
	struct rusage used;

	if (pid < 0 || wait4(pid, &status, 0, &used) < 0)
		return 1;
	FILE *out = fopen(argv[1], "w");

	if (!out)
		return 1;
	fprintf(out, "%.6f %ld\n",
		(double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
			(double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6,
		used.ru_maxrss * 1024);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
