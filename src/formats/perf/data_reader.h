#ifndef SONDE_FORMATS_PERF_DATA_READER_H
#define SONDE_FORMATS_PERF_DATA_READER_H

/*
 * The internals of the perf.data reader, for its own files: data_reader.c processes the records and
 * builds the profile, data_samples.c processes samples, data_notes.c adds notes.
 */

#include "formats/sonde/capture_tree.h"
#include "formats/perf/data_stacks.h"
#include "formats/readers.h"

/* A sample until its stack is named. */
struct perf_data_row {
	uint64_t time_ns;
	int64_t weight;
	uint32_t node, thread, metric;
	uint32_t cpu; /* or PERFSTREAM_NO_CPU */
};

/* A sample whose stack has not been looked up yet. */
struct perf_data_pending {
	const struct perf_data_event *event;
	struct perfstream_sample sample;
	struct perf_data_chain chain;
	uint32_t thread, process;
};
enum { PERF_DATA_PENDING_MAX = 16 };

/* A metric, shared by events with the same name. */
struct perf_data_measure {
	struct str name, unit;
	uint64_t sum; /* of all weights */
	metric_id id;
};

struct perf_data {
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
	struct map counter_values; /* by id and thread: index in last_values */
	VEC(uint64_t) last_values;
	VEC(struct perf_data_row) rows;
	struct map cpu_labels; /* CPU → label set of the builder */
	struct perf_data_pending pending[PERF_DATA_PENDING_MAX];
	size_t pending_count;
	bool has_time, has_threads;
	uint64_t start_ns, end_ns; /* of the samples */
	uint64_t left_out;	   /* samples of events without room */
	uint64_t too_heavy;
	uint64_t plain_branches; /* samples with branches that are not calls */
	uint64_t critical, guessed, foreign;
};

/* Queues or adds the sample. */
void perf_data_take_sample(struct perf_data *p, const struct perfstream_record *record);
/* Finds the stacks of queued samples, before anything changes the meaning of their addresses. */
void perf_data_finish_samples(struct perf_data *p);
/* After building: adds notes, statistics, and the header. */
void perf_data_say(struct perf_data *p);

#endif
