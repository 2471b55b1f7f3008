/*
 * Finds the file of a mapping.  The kernel reports a path, which means something only in the
 * process's mount namespace, a device and an inode.  The opened file must be the mapped one: its
 * inode is compared or, where file systems show another one than the kernel (overlayfs), its build
 * ID with the one in the process's memory.
 *
 * The kernel could report build IDs as well, but asking for them disturbs other programs: see
 * perf_attr_track.
 */
#include "record/processes/mapped_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/process_file.h"
#include "obj/vdso.h"
#include "record/processes/proc.h"

static const struct str deleted_mark = {" (deleted)", 10};

/* ---- opening ---- */

#define OPEN_FLAGS (O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* The descriptor if it is that file, which it takes; inode 0: any. */
static int check_regular(int fd, uint64_t inode)
{
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (inode == 0 || st.st_ino == inode))
		return fd;
	close(fd);
	return -1;
}

static int open_below(int64_t pid, struct str file_path, uint64_t inode)
{
	char *path = xstrndup(file_path.data, file_path.size);
	int fd = check_regular(process_file_open(pid, path, OPEN_FLAGS), inode);
	int code = errno;

	free(path);
	errno = code;
	return fd;
}

static bool is_gone_or_closed(int code)
{
	return code == ENOENT || code == ESRCH || code == EACCES;
}

/*
 * The process may be gone, or not dumpable (PR_SET_DUMPABLE).  Then its root is most likely its
 * parent's, or ours; if not, the inode or the build ID differs.
 */
static int open_by_path(const struct object_origin *origin, uint64_t inode)
{
	int fd = open_below(origin->pid, origin->path, inode);

	if (fd < 0 && is_gone_or_closed(errno) && origin->parent_pid > 0)
		fd = open_below(origin->parent_pid, origin->path, inode);
	if (fd < 0 && is_gone_or_closed(errno)) {
		char *path = xstrndup(origin->path.data, origin->path.size);

		fd = check_regular(open(path, OPEN_FLAGS), inode);
		free(path);
	}
	return fd;
}

static int open_by_mapping(const struct object_origin *origin)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/map_files/%" PRIx64 "-%" PRIx64,
		origin->pid, origin->low_va, origin->high_va);
	int fd = check_regular(open(path, OPEN_FLAGS), origin->inode);

	if (fd >= 0)
		return fd;
	/* For the executable itself this works without privileges. */
	snprintf(path, sizeof(path), "/proc/%" PRId64 "/exe", origin->pid);
	return check_regular(open(path, OPEN_FLAGS), origin->inode);
}

/* A deleted file that the process may still have open; this works without privileges. */
static int open_by_descriptor(const struct object_origin *origin)
{
	char *folder = xasprintf("/proc/%" PRId64 "/fd", origin->pid);
	DIR *dir = origin->inode ? opendir(folder) : NULL;
	const struct dirent *entry;
	int fd = -1;

	while (fd < 0 && dir && (entry = readdir(dir))) {
		char *path = xasprintf("%s/%s", folder, entry->d_name);
		struct stat st;
		if (stat(path, &st) == 0 && st.st_ino == origin->inode)
			fd = check_regular(open(path, OPEN_FLAGS), origin->inode);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(folder);
	return fd;
}

static int origin_open(const struct object_origin *origin)
{
	bool is_deleted = str_ends_with(origin->path, deleted_mark);
	int fd = is_deleted ? -1 : open_by_path(origin, origin->inode);

	if (fd < 0)
		fd = open_by_mapping(origin);
	return fd >= 0 || !is_deleted ? fd : open_by_descriptor(origin);
}

/* ---- changes ---- */

/* Times of change that lie in the future do not count: that clock was not ours. */
static bool is_rewritten(const struct object_origin *origin, const struct timespec *changed)
{
	uint64_t real_ns = clock_unix_ns(), now_ns = clock_monotonic_ns();

	if (origin->time_ns == 0 || origin->time_ns > now_ns || changed->tv_sec < 0)
		return false;
	uint64_t mapped_ns = real_ns - (now_ns - origin->time_ns);
	uint64_t changed_ns = (uint64_t)changed->tv_sec * SECOND_NS + (uint64_t)changed->tv_nsec;

	return changed_ns > mapped_ns && changed_ns <= real_ns;
}

static void take_change(const struct object_origin *origin, struct mapped_file *file)
{
	struct stat st;

	if (file->fd < 0 || fstat(file->fd, &st) != 0)
		return;
	file->changed = st.st_mtim;
	file->is_rewritten = is_rewritten(origin, &file->changed);
}

bool mapped_file_has_changed(int fd, const struct timespec *changed)
{
	struct stat st;

	return fstat(fd, &st) == 0 &&
	       (st.st_mtim.tv_sec != changed->tv_sec || st.st_mtim.tv_nsec != changed->tv_nsec);
}

void mapped_file_open(const struct object_origin *origin, struct mapped_file *file)
{
	*file = (struct mapped_file){.fd = origin_open(origin)};
	take_change(origin, file);
}

void mapped_file_close(struct mapped_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

/* ---- build IDs ---- */

static bool read_file(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct mapped_file *file = context;

	return offset <= INT64_MAX && pread(file->fd, bytes, size, (off_t)offset) == (ssize_t)size;
}

/* Where a process has mapped the start of a file. */
struct mapped_start {
	const struct object_origin *origin;
	uint64_t va; /* 0: not found */
};

static void look_for_start(void *context, const struct maps_line *line)
{
	struct mapped_start *start = context;

	if (start->va == 0 && line->file_off == 0 && line->inode == start->origin->inode &&
		line->device == start->origin->device)
		start->va = line->low_va;
}

static bool read_process(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct mapped_start *start = context;
	struct iovec local = {bytes, size};
	/* Not a pointer of ours. */
	struct iovec remote = {
		(void *)(uintptr_t)(start->va + offset), size}; // NOLINT(performance-no-int-to-ptr)

	return process_vm_readv((pid_t)start->origin->pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)size;
}

static void identify_in_memory(const struct object_origin *origin, struct mapped_file *file)
{
	struct mapped_start start = {.origin = origin};

	if (origin->inode == 0)
		return;
	maps_read(origin->pid, look_for_start, &start);
	if (start.va != 0)
		build_id_read(&(struct build_id_source){read_process, &start, true}, file->build_id,
			&file->is_elf);
}

static void identify_in_file(struct mapped_file *file)
{
	build_id_read(
		&(struct build_id_source){read_file, file, false}, file->build_id, &file->is_elf);
}

/* Opens the file at the path if it has the build ID that is in memory. */
static void open_by_build_id(const struct object_origin *origin, struct mapped_file *file)
{
	struct mapped_file other = {.fd = open_by_path(origin, 0)};

	if (other.fd >= 0)
		identify_in_file(&other);
	if (other.fd >= 0 && strcmp(other.build_id, file->build_id) == 0) {
		file->fd = other.fd;
		take_change(origin, file);
	} else {
		mapped_file_close(&other);
	}
}

void mapped_file_identify(const struct object_origin *origin, struct mapped_file *file)
{
	if (file->fd >= 0) {
		identify_in_file(file);
		return;
	}
	identify_in_memory(origin, file);
	if (file->build_id[0])
		open_by_build_id(origin, file);
}

static bool read_bytes(void *context, uint64_t offset, void *bytes, size_t size)
{
	const struct str *all = context;

	if (offset > all->size || all->size - offset < size)
		return false;
	memcpy(bytes, all->data + offset, size);
	return true;
}

void mapped_file_identify_vdso(build_id_text text)
{
	struct str bytes;
	bool is_elf;

	text[0] = '\0';
	if (vdso_bytes(&bytes))
		build_id_read(&(struct build_id_source){read_bytes, &bytes, false}, text, &is_elf);
}
