/*
 * Finds zones memory in /proc.  A memfd is recognized by its name in the link /proc/PID/fd/N, which
 * costs a readlink for each descriptor.  Only if there is none, the mappings are read: a program
 * may have closed its descriptor, and memory in a file (SONDE_ZONES=file=) has no descriptor and
 * any name.  Of files that are mapped shared and writable from their beginning, the first bytes are
 * read.
 */
#include "live/places.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process_file.h"
#include "formats/sonde/layout/zonewire.h"

#define MEMFD_PATH "/memfd:" ZONEWIRE_NAME

static bool is_memfd(const char *link)
{
	size_t size = strlen(MEMFD_PATH);

	return strncmp(link, MEMFD_PATH, size) == 0 &&
	       (link[size] == '\0' || strcmp(link + size, " (deleted)") == 0);
}

/* ---- descriptors ---- */

static void add_descriptor(int directory, const char *name, live_places *places)
{
	char link[sizeof(MEMFD_PATH) + 16];
	ssize_t size = readlinkat(directory, name, link, sizeof(link) - 1);

	if (size <= 0)
		return;
	link[size] = '\0';
	if (is_memfd(link))
		vec_push(places, (struct live_place){.fd = (int)strtol(name, NULL, 10)});
}

static bool add_descriptors(pid_t pid, live_places *places)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	DIR *directory = opendir(path);
	if (directory == NULL)
		return false;
	for (struct dirent *e; (e = readdir(directory)) != NULL;)
		if (e->d_name[0] != '.')
			add_descriptor(dirfd(directory), e->d_name, places);
	closedir(directory);
	return true;
}

/* ---- mappings ---- */

struct mapping {
	uint64_t low, high, inode;
	const char *path; /* in the line */
	bool is_shared;	  /* and may be written */
};

/* Parses a line of /proc/PID/maps of a file that is mapped from its beginning. */
static bool parse_mapping(const char *line, struct mapping *m)
{
	char rights[8];
	uint64_t offset;
	int path = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64 " %n", &m->low,
		    &m->high, rights, &offset, &m->inode, &path) != 5 ||
		path == 0 || offset != 0 || m->high <= m->low)
		return false;
	m->is_shared = strncmp(rights, "rw-s", 4) == 0;
	m->path = line + path;
	return true;
}

/*
 * The path through the process's root, if that is the mapped file and begins with the magic number;
 * else NULL.  Opened without blocking, in case it is not a regular file.
 */
static char *region_file(pid_t pid, const struct mapping *m)
{
	char *path = xasprintf("/proc/%d/root%s", pid, m->path);
	int fd = process_file_open(pid, m->path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	struct stat info;
	uint64_t magic;

	bool is = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
		  info.st_ino == m->inode && pread(fd, &magic, sizeof(magic), 0) == sizeof(magic) &&
		  magic == ZONEWIRE_MAGIC;
	if (fd >= 0)
		close(fd);
	if (is)
		return path;
	free(path);
	return NULL;
}

static void add_mapping(pid_t pid, const char *line, live_places *places)
{
	struct mapping m;

	if (!parse_mapping(line, &m))
		return;
	struct live_place place = {
		.fd = -1, .va = m.low, .va_bytes = m.high - m.low, .inode = m.inode};
	if (!is_memfd(m.path)) {
		if (!m.is_shared || m.path[0] != '/' || place.va_bytes < ZONEWIRE_HEADER_BYTES)
			return;
		place.path = region_file(pid, &m);
		if (place.path == NULL)
			return;
	}
	vec_push(places, place);
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	return fopen(path, "re");
}

static bool add_mappings(pid_t pid, live_places *places)
{
	FILE *maps = open_maps(pid);
	char *line = NULL;
	size_t capacity = 0;

	if (maps == NULL)
		return false;
	while (getline(&line, &capacity, maps) > 0) {
		/* Most are not shared, and have other names. */
		if (strstr(line, " rw-s ") == NULL && strstr(line, ZONEWIRE_NAME) == NULL)
			continue;
		line[strcspn(line, "\n")] = '\0';
		add_mapping(pid, line, places);
	}
	free(line);
	fclose(maps);
	return true;
}

/* ---- */

bool live_places_find(pid_t pid, live_places *places)
{
	size_t before = places->count;

	if (!add_descriptors(pid, places))
		return false;
	return places->count > before || add_mappings(pid, places);
}

void live_places_deinit(live_places *places)
{
	for (size_t i = 0; i < places->count; i++)
		free(places->data[i].path);
	vec_deinit(places);
}

bool live_places_has_library(pid_t pid)
{
	FILE *maps = open_maps(pid);
	char *line = NULL;
	size_t capacity = 0;
	bool has = false;

	if (maps == NULL)
		return false;
	while (!has && getline(&line, &capacity, maps) > 0)
		has = strstr(line, "/libsonde-zones.so") != NULL;
	free(line);
	fclose(maps);
	return has;
}
