/*
 * Opens files below a folder, step by step, as the kernel's openat2(2) would with RESOLVE_BENEATH
 * and RESOLVE_NO_SYMLINKS; this works on all kernels, and where a sandbox does not know openat2.
 */
#include "obj/source_root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* Deeper and longer paths are not those of sources. */
#define STEPS_MAX 64u

struct source_root {
	int fd;
	char *path;
};

struct error *source_root_open(const char *path, struct source_root **root)
{
	char *whole = realpath(path, NULL);
	int fd = whole ? open(whole, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) : -1;

	if (fd < 0) {
		struct error *err = error_new(
			ERROR_USAGE, "cannot open folder '%s': %s", path, strerror(errno));

		free(whole);
		return err;
	}
	*root = xalloc(sizeof(**root));
	**root = (struct source_root){.fd = fd, .path = whole};
	return NULL;
}

void source_root_close(struct source_root *root)
{
	if (root == NULL)
		return;
	close(root->fd);
	free(root->path);
	free(root);
}

int source_root_fd(const struct source_root *root)
{
	return root->fd;
}

struct str source_root_path(const struct source_root *root)
{
	return str_from(root->path);
}

/* Opens one step of a path; a folder unless it is the last one.  -1: refused, or missing. */
static int open_step(int folder, struct str name, bool is_last)
{
	char step[NAME_MAX + 1];

	if (name.size == 0 || name.size > NAME_MAX || memchr(name.data, '\0', name.size) ||
		str_equal(name, STR("..")) || str_equal(name, STR(".")))
		return -1;
	memcpy(step, name.data, name.size);
	step[name.size] = '\0';
	/* O_NONBLOCK, because opening a fifo would wait. */
	return openat(folder, step,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
			(is_last ? 0 : O_DIRECTORY));
}

static bool is_regular(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

/* Opens a path relative to the root. */
static int open_below(const struct source_root *root, struct str path)
{
	int folder = root->fd, fd = -1;

	for (unsigned step = 0; step < STEPS_MAX; step++) {
		const char *slash = memchr(path.data, '/', path.size);
		struct str name = {path.data, slash ? (size_t)(slash - path.data) : path.size};

		fd = open_step(folder, name, slash == NULL);
		if (folder != root->fd)
			close(folder);
		if (fd < 0 || slash == NULL)
			break;
		folder = fd;
		fd = -1;
		path = (struct str){slash + 1, path.size - name.size - 1};
	}
	if (fd >= 0 && !is_regular(fd)) {
		close(fd);
		return -1;
	}
	return fd;
}

static int open_shown(
	const struct source_root *root, struct str below, struct arena *arena, struct str *shown)
{
	int fd = open_below(root, below);

	if (fd >= 0)
		*shown = str_from(arena_printf(arena, "%s/%.*s", root->path, STR_ARG(below)));
	return fd;
}

int source_root_find(
	const struct source_root *root, struct str path, struct arena *arena, struct str *shown)
{
	struct str prefix = str_from(root->path);
	int fd = -1;

	if (path.size == 0 || path.size > PATH_MAX)
		return -1;
	if (str_starts_with(path, prefix) && path.size > prefix.size &&
		path.data[prefix.size] == '/')
		fd = open_shown(root,
			(struct str){path.data + prefix.size + 1, path.size - prefix.size - 1},
			arena, shown);
	if (fd < 0 && path.data[0] != '/' && memchr(path.data, '/', path.size))
		fd = open_shown(root, path, arena, shown);
	for (size_t at = 0; fd < 0 && at < path.size; at++) {
		struct str below = {path.data + at + 1, path.size - at - 1};

		if (path.data[at] == '/' && memchr(below.data, '/', below.size))
			fd = open_shown(root, below, arena, shown);
	}
	return fd;
}
