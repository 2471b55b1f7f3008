/*
 * The age of perf maps.  See data_maps.h.
 *
 * A file's times are of the wall clock, those of records of perf's own.  With perf record -k, the
 * file says how they relate.  Otherwise it is known only that the recording ended before its file
 * was last changed, which is exact unless the file was copied; and that perf's clock began about
 * when the machine did, if that is the same one and has not been started again.  Each check takes
 * the reading that favours the map.
 *
 * A map can be changed after a recording by the same process, if that outlived it.
 */
#include "formats/perf/data_maps.h"

#include <stdlib.h>
#include <sys/utsname.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "formats/perf/data_file.h"
#include "perfstream/record.h"

/* How exact the times are: those of files have the resolution of the kernel's tick. */
#define SLACK_NS INT64_C(1000000000)
/* Since 1970, of times that are distinguished: 2100. */
#define LAST_SECOND INT64_C(4102444800)

enum perf_data_map_belief perf_data_map_judge(const struct perf_data_times *times,
	const struct perf_data_life *life, enum perf_data_map_place place, int64_t map_ns)
{
	bool is_beside = place == PERF_DATA_MAP_BESIDE;

	if (times->is_foreign && !is_beside)
		return PERF_DATA_MAP_FOREIGN;
	if (life->start_ns && (times->is_exact || !is_beside) &&
		map_ns + SLACK_NS < (int64_t)life->start_ns + times->least_apart_ns)
		return PERF_DATA_MAP_OLD;
	/* A copy is as new as its copying. */
	if (is_beside)
		return PERF_DATA_MAP_GOOD;
	if (life->end_ns && map_ns > (int64_t)life->end_ns + times->apart_ns + SLACK_NS)
		return PERF_DATA_MAP_NEWER;
	return map_ns > (int64_t)times->end_ns + times->apart_ns + SLACK_NS ? PERF_DATA_MAP_LATE
									    : PERF_DATA_MAP_GOOD;
}

static int64_t file_time(const struct stat *st)
{
	int64_t s = st->st_mtim.tv_sec < LAST_SECOND ? st->st_mtim.tv_sec : LAST_SECOND;

	return s <= 0 ? 0 : s * 1000000000 + st->st_mtim.tv_nsec;
}

/* Times that a hostile file may make up. */
static int64_t bounded(uint64_t ns)
{
	return ns < (uint64_t)LAST_SECOND * 1000000000 ? (int64_t)ns : LAST_SECOND * 1000000000;
}

static struct perf_data_life *life_of(struct perf_data_maps *m, int64_t pid)
{
	bool added;
	uint32_t i = *map_at(&m->by_pid, (uint64_t)pid, 0, (uint32_t)m->lives.count, &added);

	if (added)
		vec_push(&m->lives, (struct perf_data_life){0});
	return &m->lives.data[i];
}

/* perf makes up records of the processes that were there before, at time 0. */
static void take_life(
	struct perf_data_maps *m, const struct perfstream_record *record, uint64_t time_ns)
{
	struct perfstream_task task;

	if (time_ns == 0 || !perfstream_task_decode(record, &task))
		return;
	struct perf_data_life *life = life_of(m, task.pid);
	bool is_begin = record->type == PERFSTREAM_FORK ? task.pid != task.parent_pid
							: record->misc & PERFSTREAM_MISC_COMM_EXEC;

	if (record->type == PERFSTREAM_EXIT)
		life->end_ns = task.tid == task.pid ? (uint64_t)bounded(time_ns) : life->end_ns;
	else if (is_begin) {
		life->end_ns = 0;
		if (life->start_ns == 0)
			life->start_ns = (uint64_t)bounded(time_ns);
	}
}

static void find_times(struct perf_data_maps *m)
{
	const struct perf_data_file *file = m->file;
	struct perf_data_times *times = &m->times;
	struct utsname name;
	struct stat st;
	char *path = file->input.path
			     ? xasprintf("%s%s", file->input.path, file->is_folder ? "/data" : "")
			     : NULL;

	times->is_foreign = uname(&name) == 0 && file->facts.host.size &&
			    !str_equal(file->facts.host, str_from(name.nodename));
	times->end_ns = (uint64_t)bounded(file->most_ns);
	if (file->facts.wall_ns) {
		times->is_exact = true;
		times->apart_ns = bounded(file->facts.wall_ns) - bounded(file->facts.clock_ns);
		times->least_apart_ns = times->apart_ns;
	} else {
		int64_t now_ns = bounded(clock_unix_ns());
		int64_t booted_ns = now_ns - bounded(clock_monotonic_ns());

		if (path && stat(path, &st) == 0)
			now_ns = file_time(&st);
		times->apart_ns = now_ns - (int64_t)times->end_ns;
		times->least_apart_ns = booted_ns < times->apart_ns ? booted_ns : times->apart_ns;
	}
	free(path);
}

static void read_lives(struct perf_data_maps *m)
{
	const struct perf_data_file *file = m->file;

	m->is_read = true;
	for (size_t i = 0; i < file->record_count; i++) {
		struct perfstream_record record = perf_data_record(file, i);

		if (record.type == PERFSTREAM_FORK || record.type == PERFSTREAM_EXIT ||
			record.type == PERFSTREAM_COMM)
			take_life(m, &record, perf_data_time(file, i));
	}
	find_times(m);
}

void perf_data_maps_init(struct perf_data_maps *m, const struct perf_data_file *file)
{
	*m = (struct perf_data_maps){.file = file};
}

void perf_data_maps_deinit(struct perf_data_maps *m)
{
	vec_deinit(&m->lives);
	map_deinit(&m->by_pid);
}

bool perf_data_maps_believe(struct perf_data_maps *m, int64_t pid, enum perf_data_map_place place,
	const struct stat *st)
{
	if (!m->is_read)
		read_lives(m);
	enum perf_data_map_belief belief =
		perf_data_map_judge(&m->times, life_of(m, pid), place, file_time(st));

	m->counts[belief]++;
	return belief == PERF_DATA_MAP_GOOD || belief == PERF_DATA_MAP_LATE;
}
