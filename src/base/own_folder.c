/*
 * The path is walked one name at a time, without following links; a link's text takes its place in
 * the path.  A step from what one user owns to what another owns is safe only if the first is root:
 * otherwise the first user chose where it leads.  systemd's "unsafe path transitions" are the same
 * rule.  A folder that is replaced later changes nothing: its descriptor stays what it was.  Where
 * a user namespace hides who root is, its own "/" shows it.
 */
#include "base/own_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/str.h"

#define LINKS_MAX 40

struct walk {
	const char *shown; /* the path as it was given */
	char *rest;	   /* what is still to be walked */
	int fd;		   /* O_PATH, the folder so far */
	struct stat at;	   /* of fd */
	uid_t root;	   /* who owns "/" */
	int links;
};

static struct error *check_step(const struct walk *w, const struct stat *to)
{
	const struct stat *from = &w->at;

	if (from->st_uid != 0 && from->st_uid != w->root && from->st_uid != to->st_uid)
		return error_new(ERROR_USAGE,
			"%s is not safe: user %u, who owns a part of this path, could replace "
			"what user %u has there; use a folder elsewhere",
			w->shown, (unsigned)from->st_uid, (unsigned)to->st_uid);
	return NULL;
}

/* Moves on to fd, which it takes. */
static struct error *enter(struct walk *w, int fd, const struct stat *st)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	w->at = *st;
	return NULL;
}

static struct error *enter_path(struct walk *w, const char *path)
{
	struct stat st;
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0)
		return error_system(errno, "cannot open %s", path);
	return enter(w, fd, &st);
}

/* Puts the link's text before the rest of the path; its owner is who chose it. */
static struct error *follow(struct walk *w, int link, const struct stat *st)
{
	char text[PATH_MAX];
	ssize_t size = readlinkat(link, "", text, sizeof(text) - 1);

	close(link);
	if (size < 0 || ++w->links > LINKS_MAX)
		return error_system(size < 0 ? errno : ELOOP, "cannot open %s", w->shown);
	text[size] = '\0';
	char *rest = xasprintf("%s/%s", text, w->rest);

	free(w->rest);
	w->rest = rest;
	struct error *err = text[0] == '/' ? enter_path(w, "/") : NULL;

	/* What comes next was chosen by the link's owner, unless that is root. */
	if (!err && st->st_uid != 0 && st->st_uid != w->root)
		w->at.st_uid = st->st_uid;
	return err;
}

/* Takes the next name from the path, to be freed; NULL at its end. */
static char *take_name(struct walk *w)
{
	size_t skip = strspn(w->rest, "/"), size = strcspn(w->rest + skip, "/");
	char *name = size ? xstrndup(w->rest + skip, size) : NULL;
	char *rest = xstrdup(w->rest + skip + size);

	free(w->rest);
	w->rest = rest;
	return name;
}

static struct error *step(struct walk *w, const char *name)
{
	bool is_last = w->rest[strspn(w->rest, "/")] == '\0';
	struct stat st;
	int fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT && is_last && mkdirat(w->fd, name, 0700) == 0)
		fd = openat(w->fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0) {
		int code = errno;

		if (fd >= 0)
			close(fd);
		return error_system(code, "cannot open the folder %s", w->shown);
	}
	struct error *err = check_step(w, &st);

	if (!err && !S_ISLNK(st.st_mode) && !S_ISDIR(st.st_mode))
		err = error_system(ENOTDIR, "cannot create the folder %s", w->shown);
	if (err)
		close(fd);
	else
		err = S_ISLNK(st.st_mode) ? follow(w, fd, &st) : enter(w, fd, &st);
	return err;
}

/* Opens the folder itself, by its O_PATH descriptor, if it is ours. */
static struct error *open_own(
	int parent, const char *name, int flags, const char *shown, int64_t group, int *result)
{
	struct stat st;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	struct error *err = NULL;

	if (fd < 0 || fstat(fd, &st) != 0)
		err = error_system(errno, "cannot open the folder %s", shown);
	else if (st.st_uid != geteuid())
		err = error_new(ERROR_USAGE,
			"%s belongs to user %u, not to the one who runs this (%u); use a folder "
			"of its own",
			shown, (unsigned)st.st_uid, (unsigned)geteuid());
	else if ((st.st_mode & S_IWOTH) || ((st.st_mode & S_IWGRP) && (int64_t)st.st_gid != group))
		err = error_new(ERROR_USAGE,
			"others may write to %s (mode %03o), so what is in it cannot be trusted; "
			"`chmod go-w` it",
			shown, (unsigned)st.st_mode & 07777);
	if (err && fd >= 0)
		close(fd);
	if (!err)
		*result = fd;
	return err;
}

struct error *own_folder_open(const char *path, int *fd)
{
	struct walk w = {.shown = path, .rest = xstrdup(path), .fd = -1};
	struct stat root;
	struct error *err;
	char *name;

	w.root = stat("/", &root) == 0 ? root.st_uid : 0;
	err = enter_path(&w, path[0] == '/' ? "/" : ".");
	while (!err && (name = take_name(&w))) {
		err = step(&w, name);
		free(name);
	}
	if (!err)
		err = open_own(w.fd, ".", 0, path, -1, fd);
	if (w.fd >= 0)
		close(w.fd);
	free(w.rest);
	return err;
}

struct error *own_folder_open_in(
	int parent, const char *name, const char *shown, int64_t group, int *fd)
{
	bool is_new = mkdirat(parent, name, 0700) == 0;
	struct error *err;

	if (!is_new && errno != EEXIST)
		return error_system(errno, "cannot create the folder %s", shown);
	err = open_own(parent, name, O_NOFOLLOW, shown, group, fd);
	if (!err && group >= 0 && fchown(*fd, (uid_t)-1, (gid_t)group) == 0)
		(void)fchmod(*fd, 0770);
	return err;
}
