/*
 * Perf maps.  The file is in a world-writable folder and written by the profiled program, so
 * neither its place nor its contents are trusted.  A function that is compiled again, or replaces
 * discarded code, appears again later: later lines win.
 *
 * Source: the kernel's tools/perf/Documentation/jit-interface.txt.
 */
#include "obj/perfmap.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/vec.h"
#include "obj/range_table.h"

#define FILE_SIZE_MAX  ((uint64_t)1 << 30)
#define LINE_COUNT_MAX ((size_t)1 << 26)
#define NAME_SIZE_MAX  ((size_t)64 * 1024)

struct perfmap {
	struct file_bytes bytes; /* if it came from a file */
	VEC(struct str) names;
	struct range_table ranges; /* value and rank: index of the name, so later ones win */
	size_t bad_lines;
};

/* Takes a hexadecimal number, with or without 0x, and the blanks after it off the line. */
static bool take_number(struct str *line, uint64_t *number)
{
	size_t i = str_starts_with(*line, STR("0x")) ? 2 : 0, first = i;

	*number = 0;
	for (; i < line->size && isxdigit((unsigned char)line->data[i]); i++) {
		char c = (char)tolower((unsigned char)line->data[i]);
		if (*number >> 60)
			return false;
		*number = *number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	if (i == first || i == line->size || line->data[i] != ' ')
		return false;
	while (i < line->size && line->data[i] == ' ')
		i++;
	line->data += i;
	line->size -= i;
	return true;
}

static bool parse_line(struct perfmap *map, struct str line)
{
	uint64_t low, size, high;

	if (line.size && line.data[line.size - 1] == '\r')
		line.size--;
	if (!take_number(&line, &low) || !take_number(&line, &size) || line.size == 0)
		return false;
	if (__builtin_add_overflow(low, size, &high))
		high = UINT64_MAX;
	if (line.size > NAME_SIZE_MAX)
		line.size = NAME_SIZE_MAX;
	uint32_t index = (uint32_t)map->names.count;
	vec_push(&map->names, line);
	range_table_add(&map->ranges, (struct range){low, high, index, index});
	return true;
}

struct perfmap *perfmap_parse(struct str bytes)
{
	struct perfmap *map = xalloc(sizeof(*map));

	while (bytes.size) {
		const char *end = memchr(bytes.data, '\n', bytes.size);
		size_t size = end ? (size_t)(end - bytes.data) : bytes.size;
		if (size && (map->names.count == LINE_COUNT_MAX ||
				    !parse_line(map, (struct str){bytes.data, size})))
			map->bad_lines++;
		size += end != NULL;
		bytes.data += size;
		bytes.size -= size;
	}
	range_table_flatten(&map->ranges);
	return map;
}

/* Reads all of an open file, which may still be growing. */
static struct error *read_all(int fd, const char *path, uint64_t size, struct perfmap **map)
{
	char *data = xalloc(size + 1);
	size_t have = 0;
	ssize_t got;

	while (have < size && (got = read(fd, data + have, size - have)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			int code = errno;
			free(data);
			return error_system(code, "cannot read %s", path);
		}
		have += (size_t)got;
	}
	*map = perfmap_parse((struct str){data, have});
	(*map)->bytes = (struct file_bytes){(const uint8_t *)data, have};
	return NULL;
}

static struct error *check_file(const char *path, const struct stat *st, uint32_t uid)
{
	if (!S_ISREG(st->st_mode))
		return error_new(ERROR_INPUT, "%s: not a regular file", path);
	if (st->st_uid != 0 && st->st_uid != geteuid() && st->st_uid != uid)
		return error_new(
			ERROR_INPUT, "%s: belongs to another user, so it is not believed", path);
	if ((uint64_t)st->st_size > FILE_SIZE_MAX)
		return error_new(ERROR_INPUT, "%s: larger than 1 GiB", path);
	return NULL;
}

struct error *perfmap_open_file(const char *path, uint32_t uid, struct perfmap **map)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return error_system(errno, "cannot open %s", path);
	struct error *err;
	if (fstat(fd, &st) < 0)
		err = error_system(errno, "cannot read %s", path);
	else
		err = check_file(path, &st, uid);
	if (err == NULL)
		err = read_all(fd, path, (uint64_t)st.st_size, map);
	close(fd);
	return err;
}

/* A process's number in its own, innermost, pid namespace. */
static int64_t innermost_pid(int64_t pid)
{
	char *path = xasprintf("/proc/%" PRId64 "/status", pid);
	FILE *file = fopen(path, "re");
	char line[256];
	int64_t inner = pid;

	free(path);
	if (file == NULL)
		return pid;
	while (fgets(line, sizeof(line), file)) {
		/* "NSpid:\t123\t1": the last one is the innermost. */
		const char *last = strrchr(line, '\t');
		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = strtoll(last + 1, NULL, 10);
	}
	fclose(file);
	return inner > 0 ? inner : pid;
}

struct error *perfmap_open(int64_t pid, struct perfmap **map)
{
	char *process = xasprintf("/proc/%" PRId64, pid);
	char *inside = xasprintf("%s/root/tmp/perf-%" PRId64 ".map", process, innermost_pid(pid));
	char *outside = xasprintf("/tmp/perf-%" PRId64 ".map", pid);
	struct stat st;

	uint32_t uid = stat(process, &st) == 0 ? st.st_uid : geteuid();
	struct error *err = perfmap_open_file(inside, uid, map);
	/* The process may be gone. */
	if (err && err->kind == ERROR_SYSTEM) {
		error_destroy(err);
		err = perfmap_open_file(outside, uid, map);
	}
	free(process);
	free(inside);
	free(outside);
	return err;
}

void perfmap_close(struct perfmap *map)
{
	if (map == NULL)
		return;
	vec_deinit(&map->names);
	range_table_deinit(&map->ranges);
	file_bytes_deinit(&map->bytes);
	free(map);
}

size_t perfmap_bad_lines(const struct perfmap *map)
{
	return map->bad_lines;
}

size_t perfmap_count(const struct perfmap *map)
{
	return map->ranges.count;
}

bool perfmap_find(const struct perfmap *map, uint64_t va, struct str *name)
{
	const struct range *range = range_table_find(&map->ranges, va);

	if (range == NULL)
		return false;
	*name = map->names.data[range->value];
	return true;
}
