/*
 * /proc/PID/root is itself a link, which the kernel follows to the directory; openat2(2) opens what
 * is below it.
 */
#include "base/process_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"

/* openat2(2), whose header the oldest systems do not have. */
#define OPENAT2		437
#define RESOLVE_IN_ROOT 0x10
/* A rename elsewhere on the machine may make the kernel unsure. */
#define TRIES_MAX 8

struct how {
	uint64_t flags, mode, resolve;
};

static int open_plainly(int64_t pid, const char *path, int flags)
{
	char *whole = xasprintf("/proc/%" PRId64 "/root%s", pid, path);
	int fd = open(whole, flags | O_CLOEXEC), code = errno;

	free(whole);
	errno = code;
	return fd;
}

int process_file_open(int64_t pid, const char *path, int flags)
{
	const struct how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = RESOLVE_IN_ROOT};
	char name[64];
	int fd = -1, code = EAGAIN;

	snprintf(name, sizeof(name), "/proc/%" PRId64 "/root", pid);
	int root = open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (root < 0)
		return -1;
	for (int i = 0; i < TRIES_MAX && fd < 0 && code == EAGAIN; i++) {
		fd = (int)syscall(OPENAT2, root, path, &how, sizeof(how));
		code = errno;
	}
	close(root);
	if (fd < 0 && (code == ENOSYS || code == EPERM))
		return open_plainly(pid, path, flags);
	errno = code;
	return fd;
}
