/*
 * forks SECONDS: loads a library, forks a child that loads another, has both take and leave memory,
 * and waits for the child; again and again, until so much CPU time was used.  No program is
 * set-uid, and each process is there to its own end.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spin.h"

static double used(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

KEEP uint64_t allocate(uint64_t x)
{
	for (size_t size = 64; size < (size_t)1 << 20; size *= 2) {
		char *memory = malloc(size);

		if (!memory)
			exit(1);
		for (size_t i = 0; i < size; i += 512)
			memory[i] = (char)(x = spin(4, x + i));
		x += (uint64_t)memory[size / 2];
		free(memory);
	}
	return x + 1;
}

KEEP uint64_t work_with(const char *library, uint64_t x)
{
	void *loaded = dlopen(library, RTLD_NOW);

	x = allocate(x);
	if (loaded)
		dlclose(loaded);
	return x + 1;
}

int main(int argc, char **argv)
{
	double most = argc > 1 ? atof(argv[1]) : 1;
	uint64_t x = 1;

	while (used(RUSAGE_SELF) + used(RUSAGE_CHILDREN) < most) {
		pid_t child = fork();

		if (child == 0)
			_exit(work_with("libm.so.6", x) == 0);
		if (child < 0)
			return 1;
		x = work_with("libresolv.so.2", x);
		waitpid(child, NULL, 0);
	}
	return x == 0;
}
