#ifndef SONDE_FORMATS_PERF_DATA_MAPS_H
#define SONDE_FORMATS_PERF_DATA_MAPS_H

/*
 * Which perf maps to believe.  A map in /tmp has the number of a process, and numbers are used
 * again: it may be left from an earlier process, or be written by a later one.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/vec.h"

struct perf_data_file;

/* Where a map is; one that somebody put next to the perf.data file is not of another time. */
enum perf_data_map_place { PERF_DATA_MAP_BESIDE, PERF_DATA_MAP_IN_TMP };

enum perf_data_map_belief {
	PERF_DATA_MAP_GOOD,
	PERF_DATA_MAP_LATE,    /* believed, but changed after the recording: perhaps by another */
	PERF_DATA_MAP_OLD,     /* older than the process */
	PERF_DATA_MAP_NEWER,   /* changed after the process ended */
	PERF_DATA_MAP_FOREIGN, /* of this machine; the recording is of another one */
	PERF_DATA_MAP_BELIEF_COUNT
};

/* A process, by the recording's clock. */
struct perf_data_life {
	uint64_t start_ns, end_ns; /* 0: not in the recording */
};

/* How times of the recording and of files relate.  Without perf's own clock data it is guessed. */
struct perf_data_times {
	bool is_foreign; /* the recording is of another machine */
	bool is_exact;
	uint64_t end_ns;		  /* of the recording, by its clock */
	int64_t least_apart_ns, apart_ns; /* file time − recording's time: at least, at most */
};

/* Pure: what to think of a map that was last changed at map_ns, since 1970. */
enum perf_data_map_belief perf_data_map_judge(const struct perf_data_times *times,
	const struct perf_data_life *life, enum perf_data_map_place place, int64_t map_ns);

/* The processes of a file, read when the first map is met. */
struct perf_data_maps {
	const struct perf_data_file *file;
	bool is_read;
	struct perf_data_times times;
	struct map by_pid; /* to indexes in lives */
	VEC(struct perf_data_life) lives;
	uint64_t counts[PERF_DATA_MAP_BELIEF_COUNT];
};

void perf_data_maps_init(struct perf_data_maps *m, const struct perf_data_file *file);
void perf_data_maps_deinit(struct perf_data_maps *m);
/* Whether to believe a process's map; counts the answer. */
bool perf_data_maps_believe(struct perf_data_maps *m, int64_t pid, enum perf_data_map_place place,
	const struct stat *st);

#endif
