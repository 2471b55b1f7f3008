#ifndef SONDE_READERS_PERF_DATA_STATE_H
#define SONDE_READERS_PERF_DATA_STATE_H

/*
 * The reader of perf.data within, for the files that it consists of: perf_data.c takes the records
 * and builds the profile, perf_data_notes.c says what is to be known of it.
 */

#include "readers/capture_tree.h"
#include "readers/perf_data_stacks.h"
#include "readers/readers.h"

/* A sample until its stack has names. */
struct perf_data_row {
	uint64_t time_ns;
	int64_t weight;
	uint32_t node, thread, metric;
};

/* A metric, which several events of one name share. */
struct perf_data_measure {
	struct str name, unit;
	uint64_t sum; /* of all weights */
	metric_id id;
};

struct perf_data {
	const struct reader_input *input;
	struct builder *builder;
	struct arena *arena;
	struct perf_data_file file;
	struct perf_data_tasks tasks;
	struct perf_data_objects objects;
	struct perf_data_jit jit;
	struct perf_data_stacks stacks;
	struct capture_names names;
	struct capture_tree tree;
	VEC(struct perf_data_measure) measures;
	metric_id samples;
	struct map counter_values; /* by id and thread: places in last_values */
	VEC(uint64_t) last_values;
	VEC(struct perf_data_row) rows;
	bool has_time, has_threads;
	uint64_t start_ns, end_ns; /* of the samples */
	uint64_t left_out;	   /* samples of events for which there is no room */
	uint64_t too_heavy;
	uint64_t truncated, foreign;
};

/* When all is built: its notes, its statistics, and what the header has. */
void perf_data_say(struct perf_data *p);

#endif
