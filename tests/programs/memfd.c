/*
 * memfd exec PROGRAM ARG...: copies a program into a memfd and becomes it.
 * memfd dlopen LIBRARY MILLISECONDS: copies a library (plugin.c) into a memfd, opens it as
 * /proc/self/fd/N and works in it for so much CPU time.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cpu_time.h"
#include "spin.h"

extern char **environ;

static int copy(const char *path)
{
	int from = open(path, O_RDONLY), to = memfd_create("copied", MFD_CLOEXEC);
	struct stat st;

	if (from < 0 || to < 0 || fstat(from, &st) != 0)
		exit(1);
	for (off_t left = st.st_size; left > 0;) {
		ssize_t sent = sendfile(to, from, NULL, (size_t)left);
		if (sent <= 0)
			exit(1);
		left -= sent;
	}
	close(from);
	return to;
}

KEEP uint64_t use_library(const char *path, double milliseconds)
{
	void *library = dlopen(path, RTLD_NOW);
	uint64_t (*entry)(double, uint64_t) =
		library ? (uint64_t(*)(double, uint64_t))dlsym(library, "plugin_entry") : NULL;

	if (!entry)
		exit(1);
	return entry(milliseconds, 1) + 1;
}

int main(int argc, char **argv)
{
	char path[64];

	if (argc < 3)
		return 2;
	int fd = copy(argv[2]);

	if (strcmp(argv[1], "exec") == 0) {
		fexecve(fd, argv + 2, environ);
		return 1;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return use_library(path, argc > 3 ? atof(argv[3]) : 100) == 0;
}
