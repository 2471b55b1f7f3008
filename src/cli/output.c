/*
 * Output files are written under a temporary name in the same folder and renamed when complete, so
 * that a full disk or a Ctrl-C leaves an older file unchanged.  Anything but a regular file (a
 * device, a fifo) is written in place.
 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

static bool is_in_place(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && !S_ISREG(info.st_mode);
}

static struct error *open_in_place(struct output *output, const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return error_system(errno, "cannot write %s", path);
	*output = (struct output){.fd = fd, .name = path};
	return NULL;
}

/* The permissions that open(2) would give a new file, or those of the file that it replaces. */
static mode_t wanted_mode(const char *path)
{
	struct stat info;
	mode_t mask = umask(0);

	umask(mask);
	return stat(path, &info) == 0 ? info.st_mode & 07777 : 0666 & ~mask;
}

static struct error *open_temporary(struct output *output, const char *path)
{
	/* For a symbolic link, the target file is replaced, not the link. */
	char *target = realpath(path, NULL);
	char *temporary;
	int fd;

	if (target == NULL)
		target = xstrdup(path);
	temporary = xasprintf("%s.XXXXXX", target);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		int code = errno;

		free(temporary);
		free(target);
		return error_system(code, "cannot write %s", path);
	}
	/* A file system without permissions refuses this, which does not matter. */
	if (fchmod(fd, wanted_mode(target)) != 0)
		errno = 0;
	*output = (struct output){.fd = fd, .name = path, .path = target, .temporary = temporary};
	return NULL;
}

struct error *output_open(struct output *output, const char *path)
{
	if (path == NULL || strcmp(path, "-") == 0) {
		*output = (struct output){.fd = STDOUT_FILENO, .name = "standard output"};
		return NULL;
	}
	return is_in_place(path) ? open_in_place(output, path) : open_temporary(output, path);
}

void output_sink(const struct output *output, enum packing packing, struct sink *sink)
{
	struct str stem;

	if (packing == PACKING_NONE && output->fd != STDOUT_FILENO)
		packing = packing_of_name(str_from(output->name), &stem);
	sink_init(sink, output->fd, output->name);
	sink_pack(sink, packing);
}

static void output_free(struct output *output)
{
	free(output->path);
	free(output->temporary);
	*output = (struct output){.fd = -1};
}

struct error *output_commit(struct output *output)
{
	struct error *err = NULL;

	if (output->fd == STDOUT_FILENO)
		return NULL;
	/* Some file systems report a failed write only here. */
	if (close(output->fd) != 0)
		err = error_system(errno, "cannot write %s", output->name);
	else if (output->path && rename(output->temporary, output->path) != 0)
		err = error_system(errno, "cannot write %s", output->name);
	if (err && output->temporary)
		unlink(output->temporary);
	output_free(output);
	return err;
}

void output_abandon(struct output *output)
{
	if (output->fd == STDOUT_FILENO)
		return;
	close(output->fd);
	if (output->temporary)
		unlink(output->temporary);
	output_free(output);
}
