/*
 * Whole files.  Input is read, not mapped: a file that another process cuts short under a
 * mapping would end us with SIGBUS, a read just comes back short.
 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static const char *file_kind(mode_t mode)
{
	if (S_ISDIR(mode))
		return "is a directory";
	if (S_ISFIFO(mode))
		return "is a pipe";
	if (S_ISSOCK(mode))
		return "is a socket";
	return "is a device";
}

static struct error *read_fd(
	int fd, const char *name, uint64_t limit, size_t hint, struct file_bytes *bytes)
{
	size_t capacity = hint + 1, size = 0;
	uint8_t *data = xrealloc_array(NULL, capacity, 1);

	for (;;) {
		if (size == capacity) {
			capacity += capacity / 2 + 65536;
			data = xrealloc_array(data, capacity, 1);
		}
		ssize_t got = read(fd, data + size, capacity - size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = errno;
			free(data);
			return error_system(code, "cannot read %s", name);
		}
		if (got == 0)
			break;
		size += (size_t)got;
		if (limit && size > limit) {
			free(data);
			return error_new(ERROR_INPUT, "%s: larger than %llu bytes", name,
				(unsigned long long)limit);
		}
	}
	*bytes = (struct file_bytes){.data = data, .size = size};
	return NULL;
}

struct error *file_read(const char *path, uint64_t limit, struct file_bytes *bytes)
{
	struct stat st;

	if (strcmp(path, "-") == 0)
		return read_fd(STDIN_FILENO, "standard input", limit, 65536, bytes);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_system(errno, "cannot open %s", path);
	if (fstat(fd, &st) < 0) {
		int code = errno;
		close(fd);
		return error_system(code, "cannot read %s", path);
	}
	struct error *err;
	if (!S_ISREG(st.st_mode))
		err = error_new(ERROR_INPUT, "%s: %s, not a file", path, file_kind(st.st_mode));
	else if (limit && (uint64_t)st.st_size > limit)
		err = error_new(
			ERROR_INPUT, "%s: larger than %llu bytes", path, (unsigned long long)limit);
	else
		err = read_fd(fd, path, limit, (size_t)st.st_size, bytes);
	close(fd);
	return err;
}

void file_bytes_deinit(struct file_bytes *bytes)
{
	free((void *)(uintptr_t)bytes->data);
	*bytes = (struct file_bytes){0};
}

struct error *file_write_all(int fd, const void *data, size_t size, const char *name)
{
	const char *p = data;

	while (size) {
		ssize_t put = write(fd, p, size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return error_system(errno, "cannot write %s", name);
		p += put;
		size -= (size_t)put;
	}
	return NULL;
}
