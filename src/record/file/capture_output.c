/*
 * The output of a capture file.  A copy to another file uses sendfile(2); writes block the signals
 * that they may cause, and discard them.
 */
#include "record/file/capture_output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

/* Opens an existing file that is not a regular one, if writing to it makes sense. */
static struct error *open_existing(struct capture_output *o, mode_t mode)
{
	if (S_ISDIR(mode))
		return error_new(ERROR_USAGE, "cannot write %s: it is a directory", o->path);
	if (S_ISLNK(mode))
		return error_new(ERROR_USAGE,
			"cannot write %s: it is a symbolic link, and those are not followed",
			o->path);
	if (!S_ISCHR(mode) && !S_ISFIFO(mode))
		return error_new(ERROR_USAGE, "cannot write %s: not a regular file", o->path);
	/* Non-blocking, or opening a pipe would wait for a reader. */
	o->fd = open(o->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (o->fd < 0)
		return error_system(errno, "cannot write %s", o->path);
	int flags = fcntl(o->fd, F_GETFL);
	if (flags >= 0)
		(void)fcntl(o->fd, F_SETFL, flags & ~O_NONBLOCK);
	return NULL;
}

static char *old_path(const struct capture_output *o)
{
	return xasprintf("%s.old", o->path);
}

static struct error *keep_old(struct capture_output *o)
{
	struct error *err = NULL;
	char *old = old_path(o);

	if (rename(o->path, old) < 0)
		err = error_system(errno, "cannot keep %s as %s", o->path, old);
	else
		o->kept_old = true;
	free(old);
	return err;
}

static struct error *make_new(struct capture_output *o)
{
	struct stat st;

	o->fd = open(o->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (o->fd < 0 || fstat(o->fd, &st) < 0)
		return error_system(errno, "cannot write %s", o->path);
	o->is_regular = true;
	o->device = st.st_dev;
	o->inode = st.st_ino;
	return NULL;
}

static struct error *open_path(struct capture_output *o)
{
	struct stat st;

	if (strcmp(o->path, "-") == 0) {
		o->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
		return o->fd < 0 ? error_system(errno, "cannot write to standard output") : NULL;
	}
	if (lstat(o->path, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			return open_existing(o, st.st_mode);
		struct error *err = keep_old(o);
		if (err)
			return err;
	} else if (errno != ENOENT) {
		return error_system(errno, "cannot write %s", o->path);
	}
	return make_new(o);
}

static void put_old_back(struct capture_output *o)
{
	char *old = old_path(o);

	if (o->kept_old)
		(void)rename(old, o->path);
	o->kept_old = false;
	free(old);
}

struct error *capture_output_open(struct capture_output *o, const char *path)
{
	*o = (struct capture_output){.fd = -1, .path = xstrdup(path)};
	struct error *err = open_path(o);
	if (err) {
		put_old_back(o);
		capture_output_deinit(o);
	}
	return err;
}

/* 0, or an errno. */
static int copy_bytes(int from, int to, uint64_t size)
{
	off_t at = 0;

	while ((uint64_t)at < size) {
		ssize_t put = sendfile(to, from, &at, size - (uint64_t)at);
		if (put < 0 && errno != EINTR)
			return errno;
		if (put == 0)
			return EIO;
	}
	return 0;
}

struct error *capture_output_copy(
	struct capture_output *o, const char *path, const struct capture_output *from)
{
	struct error *err = capture_output_open(o, path);

	if (err)
		return err;
	int failure = copy_bytes(from->fd, o->fd, from->size);
	if (failure == 0) {
		o->size = from->size;
		return NULL;
	}
	capture_output_remove(o);
	capture_output_deinit(o);
	return error_system(failure, "cannot write %s", path);
}

void capture_output_close(struct capture_output *o)
{
	if (o->fd >= 0 && close(o->fd) < 0 && errno != EINTR && o->failure == 0)
		o->failure = errno;
	o->fd = -1;
}

void capture_output_deinit(struct capture_output *o)
{
	capture_output_close(o);
	free(o->path);
	o->path = NULL;
}

bool capture_output_is_in_place(const struct capture_output *o)
{
	struct stat st;

	return o->is_regular && lstat(o->path, &st) == 0 && st.st_dev == o->device &&
	       st.st_ino == o->inode;
}

/* Copies all bytes of a deleted file to a new one at its old path. */
static struct error *make_again(struct capture_output *o)
{
	struct capture_output again = {.fd = -1, .path = o->path};
	struct error *err = make_new(&again);

	if (err)
		return error_prefix(err, "the recording was removed while it was made");
	int failure = copy_bytes(o->fd, again.fd, o->size);
	if (failure && o->failure == 0)
		o->failure = failure;
	(void)close(o->fd);
	o->fd = again.fd;
	o->device = again.device;
	o->inode = again.inode;
	return NULL;
}

struct error *capture_output_settle(struct capture_output *o)
{
	struct stat st;

	if (!o->is_regular || capture_output_is_in_place(o))
		return NULL;
	if (fstat(o->fd, &st) == 0 && st.st_nlink == 0)
		return make_again(o);
	return error_new(ERROR_USAGE,
		"%s was moved while it was recorded; it is whole, where it is now", o->path);
}

void capture_output_remove(struct capture_output *o)
{
	if (!capture_output_is_in_place(o))
		return;
	(void)unlink(o->path);
	put_old_back(o);
}

static int write_all(int fd, struct str bytes)
{
	while (bytes.size) {
		ssize_t put = write(fd, bytes.data, bytes.size);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		if (put == 0)
			return ENOSPC;
		bytes.data += put;
		bytes.size -= (size_t)put;
	}
	return 0;
}

/* write_all with SIGXFSZ and SIGPIPE blocked, and discarded if it caused them. */
static int write_quietly(int fd, struct str bytes)
{
	static const struct timespec at_once;
	sigset_t ours, before, pending;

	sigemptyset(&ours);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	int failure = write_all(fd, bytes);
	if (failure == EFBIG && !sigismember(&pending, SIGXFSZ))
		sigdelset(&ours, SIGPIPE);
	else if (failure == EPIPE && !sigismember(&pending, SIGPIPE))
		sigdelset(&ours, SIGXFSZ);
	else
		sigemptyset(&ours);
	if (!sigisemptyset(&ours))
		while (sigtimedwait(&ours, NULL, &at_once) < 0 && errno == EINTR)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure;
}

bool capture_output_put(void *context, struct str bytes)
{
	return capture_output_write(context, bytes);
}

bool capture_output_write_anyway(struct capture_output *o, struct str bytes)
{
	int failure = write_quietly(o->fd, bytes);

	if (failure == 0) {
		o->size += bytes.size;
		return true;
	}
	if (o->failure == 0)
		o->failure = failure;
	if (o->is_regular && ftruncate(o->fd, (off_t)o->size) == 0)
		(void)lseek(o->fd, (off_t)o->size, SEEK_SET);
	return false;
}

bool capture_output_write(struct capture_output *o, struct str bytes)
{
	return o->failure == 0 && capture_output_write_anyway(o, bytes);
}
