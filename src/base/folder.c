/*
 * Folders as input: opened once; everything inside is opened with openat from there, never through
 * a link.
 */
#include "base/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

struct folder {
	char *path;
	int fd;
	VEC(char *) names;
};

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Lists the folder; its descriptor stays open. */
static struct error *list(struct folder *f)
{
	int copy = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	DIR *entries = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *entry;

	if (entries == NULL) {
		int code = errno;
		if (copy >= 0)
			close(copy);
		return error_system(code, "cannot read %s", f->path);
	}
	while ((entry = readdir(entries)))
		if (!is_dots(entry->d_name))
			vec_push(&f->names, xstrdup(entry->d_name));
	closedir(entries);
	if (f->names.count)
		qsort(f->names.data, f->names.count, sizeof(*f->names.data), name_compare);
	return NULL;
}

/* Takes ownership of the path. */
static struct error *open_at(
	int where, const char *name, int flags, char *path, struct folder **out)
{
	struct folder *f = xalloc(sizeof(*f));

	f->path = path;
	f->fd = openat(where, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	struct error *err = f->fd < 0 ? error_system(errno, "cannot open %s", path) : list(f);
	if (err)
		folder_close(f);
	else
		*out = f;
	return err;
}

struct error *folder_open(const char *path, struct folder **folder)
{
	size_t size = strlen(path);

	/* Messages append the names of its files to it. */
	while (size > 1 && path[size - 1] == '/')
		size--;
	return open_at(AT_FDCWD, path, 0, xstrndup(path, size), folder);
}

/* NULL if the name is valid for an entry of a folder. */
static struct error *check_name(const struct folder *f, const char *name)
{
	if (name[0] && !strchr(name, '/') && !is_dots(name))
		return NULL;
	return error_new(
		ERROR_INPUT, "%s: '%s' is not the name of a file in this folder", f->path, name);
}

struct error *folder_open_in(const struct folder *parent, const char *name, struct folder **folder)
{
	struct error *err = check_name(parent, name);

	if (err)
		return err;
	return open_at(
		parent->fd, name, O_NOFOLLOW, xasprintf("%s/%s", parent->path, name), folder);
}

void folder_close(struct folder *folder)
{
	if (folder == NULL)
		return;
	if (folder->fd >= 0)
		close(folder->fd);
	for (size_t i = 0; i < folder->names.count; i++)
		free(folder->names.data[i]);
	vec_deinit(&folder->names);
	free(folder->path);
	free(folder);
}

const char *folder_path(const struct folder *folder)
{
	return folder->path;
}

size_t folder_count(const struct folder *folder)
{
	return folder->names.count;
}

const char *folder_name(const struct folder *folder, size_t i)
{
	return folder->names.data[i];
}

bool folder_has(const struct folder *folder, const char *name)
{
	return folder->names.count &&
	       bsearch(&name, folder->names.data, folder->names.count, sizeof(name), name_compare);
}

bool folder_has_file(const struct folder *folder, const char *name)
{
	struct stat info;

	return folder_has(folder, name) &&
	       fstatat(folder->fd, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode);
}

int folder_bid(const char *path, const char *name, int (*bid)(const uint8_t *data, size_t size))
{
	enum { LOOK_BYTES = 4096 };
	struct file_bytes bytes = {0};
	struct folder *folder = NULL;
	struct error *err = folder_open(path, &folder);
	int sure = 0;

	if (err == NULL) {
		char *shown = xasprintf("%s/%s", path, name);
		err = file_read_start_in(folder->fd, name, shown, LOOK_BYTES, &bytes);
		free(shown);
	}
	if (err == NULL)
		sure = bid(bytes.data, bytes.size);
	error_destroy(err);
	file_bytes_deinit(&bytes);
	folder_close(folder);
	return sure;
}

struct error *folder_read(
	const struct folder *folder, const char *name, uint64_t limit, struct file_bytes *bytes)
{
	struct error *err = check_name(folder, name);

	if (err)
		return err;
	char *shown = xasprintf("%s/%s", folder->path, name);
	err = file_read_in(folder->fd, name, shown, limit, bytes);
	free(shown);
	return err;
}
