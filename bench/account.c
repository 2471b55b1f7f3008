/*
 * Runs a command and writes what the system accounts of it: CPU seconds of the command and of all
 * its descendants, those that outlived their parents too (prctl(2), PR_SET_CHILD_SUBREAPER).  The
 * figure is compared with a profiler's total, so it must not come from a profiler.
 *
 *	account FILE COMMAND [ARG...]
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

int main(int count, char **words)
{
	struct rusage used;
	int status = 0, code = 0;
	FILE *file;
	pid_t first, pid;

	if (count < 3 || !(file = fopen(words[1], "w")))
		return 125;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	first = fork();
	if (first == 0) {
		execvp(words[2], words + 2);
		_exit(127);
	}
	while ((pid = wait(&status)) > 0 || errno == EINTR)
		if (pid == first)
			code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	getrusage(RUSAGE_CHILDREN, &used);
	fprintf(file, "%.6f\n", seconds(used.ru_utime) + seconds(used.ru_stime));
	return fclose(file) == 0 ? code : 125;
}
