/*
 * Reads /proc/PID/maps: proc(5), "low-high perms offset dev inode   path".
 */
#include "record/processes/maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

/* The longest fixed part of a line; paths are not scanned. */
#define FIXED_MAX 160

bool maps_line_parse(struct str line, struct maps_line *out)
{
	char fixed[FIXED_MAX], perms[5];
	size_t size = line.size < sizeof(fixed) - 1 ? line.size : sizeof(fixed) - 1;
	struct maps_line m = {0};
	int end = 0;

	memcpy(fixed, line.data, size);
	fixed[size] = '\0';
	if (sscanf(fixed, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*[0-9a-f:] %" SCNu64 "%n",
		    &m.low_va, &m.high_va, perms, &m.file_off, &m.inode, &end) != 5)
		return false;
	if (end == 0 || m.high_va <= m.low_va)
		return false;
	m.executable = perms[2] == 'x';
	m.path = (struct str){line.data + end, line.size - (size_t)end};
	while (m.path.size > 0 && m.path.data[0] == ' ') {
		m.path.data++;
		m.path.size--;
	}
	*out = m;
	return true;
}

void maps_read(
	int64_t pid, void (*visit)(void *context, const struct maps_line *line), void *context)
{
	char path[64], *line = NULL;
	size_t capacity = 0;
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", pid);
	FILE *f = fopen(path, "re");

	if (!f)
		return;
	while ((got = getline(&line, &capacity, f)) > 0) {
		struct maps_line parsed;
		size_t size = (size_t)got - (line[got - 1] == '\n');

		if (maps_line_parse((struct str){line, size}, &parsed))
			visit(context, &parsed);
	}
	free(line);
	fclose(f);
}
