/*
 * Files of caches.  Other sonde processes may use them at the same time, so files are only replaced
 * by rename or deleted, never written in place.
 */
#include "base/cache_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/draft.h"
#include "base/own_folder.h"
#include "base/vec.h"

char *cache_directory_path(const char *name)
{
	const char *base = getenv("XDG_CACHE_HOME");

	/* The XDG base directory specification requires ignoring relative paths. */
	if (base && base[0] == '/')
		return xasprintf("%s/sonde/%s", base, name);
	base = getenv("HOME");
	return base && base[0] == '/' ? xasprintf("%s/.cache/sonde/%s", base, name) : NULL;
}

static bool is_our_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

/* Creates path and its missing parents, but nothing in a folder of another user. */
static bool make_directories(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0)
		return is_our_directory(path);
	char *above = xstrdup(path);
	char *slash = strrchr(above, '/');
	bool good = false;
	if (slash && slash != above) {
		*slash = '\0';
		good = (stat(above, &st) == 0 || make_directories(above)) &&
		       is_our_directory(above) && (mkdir(path, 0700) == 0 || errno == EEXIST);
	}
	free(above);
	return good;
}

bool cache_directory_read(
	const char *directory, const char *name, uint64_t size_max, struct file_bytes *bytes)
{
	char *path = xasprintf("%s/%s", directory, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	free(path);
	if (fd < 0)
		return false;
	uint8_t *data = NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
		(uint64_t)st.st_size <= size_max) {
		data = xalloc((size_t)st.st_size + 1);
		if (read(fd, data, (size_t)st.st_size) != st.st_size) {
			free(data);
			data = NULL;
		}
	}
	if (data) {
		*bytes = (struct file_bytes){data, (size_t)st.st_size};
		(void)futimens(fd, NULL);
	}
	close(fd);
	return data != NULL;
}

struct cached_file {
	char *name;
	struct timespec used;
	uint64_t size_bytes;
};

struct cached_files {
	VEC(struct cached_file) list;
	uint64_t total_bytes;
};

static int used_compare(const void *pa, const void *pb)
{
	const struct cached_file *a = pa, *b = pb;

	if (a->used.tv_sec != b->used.tv_sec)
		return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
	return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static void list_files(struct cached_files *files, DIR *dir)
{
	struct dirent *entry;
	struct stat st;

	while ((entry = readdir(dir)) != NULL) {
		if (fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(st.st_mode))
			continue;
		files->total_bytes += (uint64_t)st.st_size;
		vec_push(&files->list, (struct cached_file){xstrdup(entry->d_name), st.st_mtim,
					       (uint64_t)st.st_size});
	}
}

/* Takes the folder. */
static void trim(int folder, uint64_t total_max)
{
	struct cached_files files = {0};
	DIR *dir = fdopendir(folder);

	if (dir == NULL) {
		close(folder);
		return;
	}
	list_files(&files, dir);
	if (files.total_bytes > total_max)
		qsort(files.list.data, files.list.count, sizeof(*files.list.data), used_compare);
	for (size_t i = 0; i < files.list.count; i++) {
		struct cached_file *file = &files.list.data[i];
		if (files.total_bytes > total_max && unlinkat(dirfd(dir), file->name, 0) == 0)
			files.total_bytes -= file->size_bytes;
		free(file->name);
	}
	vec_deinit(&files.list);
	closedir(dir);
}

void cache_directory_write(
	const char *directory, const char *name, struct str contents, uint64_t total_max)
{
	int folder;

	if (!make_directories(directory))
		return;
	/* Files are removed there: it must not be a link to another folder of ours. */
	struct error *err = own_folder_open(directory, &folder);
	struct draft draft;

	if (err) {
		error_destroy(err);
		return;
	}
	err = draft_open(&draft, folder, name, 0600);
	if (err == NULL)
		err = draft_end(
			&draft, file_write_all(draft.fd, contents.data, contents.size, name));
	error_destroy(err);
	trim(folder, total_max);
}
