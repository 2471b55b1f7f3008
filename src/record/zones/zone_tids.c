/*
 * Thread ids of another pid namespace.  See zone_tids.h, proc_pid_status(5): "NSpid" has a thread's
 * ids from our namespace inwards, its own last.
 */
#include "record/zones/zone_tids.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void zone_tids_init(struct zone_tids *t, int64_t pid, int64_t inner_pid)
{
	*t = (struct zone_tids){.pid = pid, .is_same = pid == inner_pid};
}

void zone_tids_deinit(struct zone_tids *t)
{
	map_deinit(&t->inner_of);
	map_deinit(&t->outer_of);
}

/* The last number of that line; 0: there is none. */
static int64_t inner_id(int64_t pid, int64_t tid)
{
	char path[64], line[256];
	int64_t inner = 0;

	snprintf(path, sizeof(path), "/proc/%lld/task/%lld/status", (long long)pid, (long long)tid);
	FILE *f = fopen(path, "re");

	if (!f)
		return 0;
	while (inner == 0 && fgets(line, sizeof(line), f)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "NSpid:", 6) == 0 && last)
			inner = strtoll(last, NULL, 10);
	}
	fclose(f);
	return inner;
}

void zone_tids_learn(struct zone_tids *t)
{
	char path[64];
	const struct dirent *entry;

	if (t->is_same)
		return;
	snprintf(path, sizeof(path), "/proc/%lld/task", (long long)t->pid);
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder))) {
		int64_t tid = strtoll(entry->d_name, NULL, 10);
		int64_t inner = tid > 0 ? inner_id(t->pid, tid) : 0;

		if (inner <= 0)
			continue;
		map_put(&t->inner_of, (uint64_t)tid, 0, (uint32_t)inner);
		map_put(&t->outer_of, (uint64_t)inner, 0, (uint32_t)tid);
	}
	if (folder)
		closedir(folder);
}

static int64_t look_up(const struct map *map, int64_t id)
{
	uint32_t other;

	return map_get(map, (uint64_t)id, 0, &other) ? (int64_t)other : 0;
}

int64_t zone_tids_inner(const struct zone_tids *t, int64_t tid)
{
	return t->is_same ? tid : look_up(&t->inner_of, tid);
}

int64_t zone_tids_outer(const struct zone_tids *t, int64_t inner_tid)
{
	return t->is_same ? inner_tid : look_up(&t->outer_of, inner_tid);
}
