/* See zones_seen.h. */
#include "zones_seen.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define Prof_ENABLED
#include <prof.h>

_Noreturn void zones_need_failed(const char *file, int line, const char *what)
{
	fprintf(stderr, "# %s:%d: not so: %s\n", file, line, what);
	_exit(1);
}

void zones_need_equal(const char *file, int line, const char *what, uint64_t a, uint64_t b)
{
	if (a == b)
		return;
	fprintf(stderr, "# %s:%d: not so: %s: %llu, %llu\n", file, line, what,
		(unsigned long long)a, (unsigned long long)b);
	_exit(1);
}

bool zones_apart(void (*body)(void))
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		alarm(60);
		body();
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return false;
	if (WIFSIGNALED(status))
		fprintf(stderr, "# ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The descriptor of this process whose file is called so; -1: none. */
static int find_memory(void)
{
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	while (folder && found < 0 && (entry = readdir(folder)) != NULL) {
		char target[64];
		ssize_t size = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

		target[size > 0 ? size : 0] = '\0';
		if (!strncmp(target, "/memfd:" ZONEWIRE_NAME, 7 + strlen(ZONEWIRE_NAME)))
			found = atoi(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return found;
}

bool zones_seen_open(struct zones_seen *seen)
{
	struct stat stat;
	int fd = find_memory();
	void *data;

	if (fd < 0 || fstat(fd, &stat))
		return false;
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_SHARED, fd, 0);
	NEED(data != MAP_FAILED);
	NEED(zone_region_open(&seen->region, data, (size_t)stat.st_size) == NULL);
	seen->reader = zone_reader_create();
	NEED(seen->reader);
	zones_seen_look(seen);
	return true;
}

void zones_seen_look(struct zones_seen *seen)
{
	NEED(zone_reader_read(seen->reader, &seen->region, &seen->reading));
	NEED_EQUAL(seen->reading.broken, 0);
}

void zones_seen_close(struct zones_seen *seen)
{
	zone_reader_destroy(seen->reader);
	munmap((void *)(uintptr_t)seen->region.data, seen->region.size);
}

const char *zones_seen_name(const struct zones_seen *seen, uint32_t id)
{
	static char name[256];
	struct zonewire_zone zone;

	zone_region_zone(&seen->region, id, &zone);
	return zone_region_string(&seen->region, zone.name, name, sizeof(name));
}

/* The path's last zone is the node's, and so on up to the root. */
static bool is_path(const struct zones_seen *seen, uint32_t node, const char *path)
{
	size_t end = strlen(path);

	while (seen->reading.place[node].depth) {
		const char *name = zones_seen_name(seen, seen->reading.place[node].zone);
		size_t size = strlen(name);

		if (end < size || memcmp(path + end - size, name, size))
			return false;
		end -= size;
		if (end && path[--end] != '/')
			return false;
		node = seen->reading.place[node].parent;
	}
	return end == 0;
}

static bool is_node(const struct zones_seen *seen, uint32_t node)
{
	return seen->reading.place[node].zone != ZONEWIRE_ZONE_NONE;
}

uint64_t zones_seen_entries(const struct zones_seen *seen, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < seen->reading.node_count; i++)
		sum += is_node(seen, i) && is_path(seen, i, path) ? seen->reading.counts[i].entries
								  : 0;
	return sum;
}

uint64_t zones_seen_self(const struct zones_seen *seen, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < seen->reading.node_count; i++)
		sum += is_node(seen, i) && is_path(seen, i, path)
			       ? seen->reading.counts[i].self_ticks
			       : 0;
	return sum;
}

uint64_t zones_seen_total(const struct zones_seen *seen, const char *path)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < seen->reading.node_count; i++) {
		uint32_t up = i;

		if (!is_node(seen, i))
			continue;
		while (seen->reading.place[up].depth && !is_path(seen, up, path))
			up = seen->reading.place[up].parent;
		sum += is_path(seen, up, path) ? seen->reading.counts[i].self_ticks : 0;
	}
	return sum;
}

uint64_t zones_seen_entries_of(const struct zones_seen *seen, const char *zone)
{
	uint64_t sum = 0;

	for (uint32_t i = 1; i < seen->reading.node_count; i++) {
		if (is_node(seen, i) &&
			!strcmp(zones_seen_name(seen, seen->reading.place[i].zone), zone))
			sum += seen->reading.counts[i].entries;
	}
	return sum;
}

uint64_t zones_seen_trouble(const struct zones_seen *seen, enum zonewire_trouble trouble)
{
	return zone_region_trouble(&seen->region, trouble);
}

static uint64_t driven_ticks = 1000;

static uint64_t driven_now(void)
{
	return __atomic_load_n(&driven_ticks, __ATOMIC_RELAXED);
}

void zones_seen_drive_clock(void)
{
	Prof_set_clock(driven_now, 1e9);
}

void zones_seen_pass_quietly(uint64_t ticks)
{
	__atomic_fetch_add(&driven_ticks, ticks, __ATOMIC_RELAXED);
}

void zones_seen_pass(uint64_t ticks)
{
	zones_seen_pass_quietly(ticks);
	/* Readers are told of it when the runtime asks. */
	Prof_set_events(0);
}
