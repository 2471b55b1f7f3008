#ifndef SONDE_FORMATS_PERF_SCRIPT_ROWS_H
#define SONDE_FORMATS_PERF_SCRIPT_ROWS_H

/*
 * The samples of `perf script` text, until it is known what all of them have: each event is a
 * metric; times and threads are kept where every sample has them.
 */

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/perf/script_tasks.h"

struct perf_sample {
	stack_id stack;
	uint32_t thread;  /* of struct perf_tasks; NO_ID: not told */
	uint32_t event;	  /* of perf_rows_event */
	uint64_t time_ns; /* UINT64_MAX: not told */
	uint64_t period;  /* the same */
};

struct perf_event {
	string_id name; /* empty: not told */
	bool has_period;
	uint64_t samples;
};

/* A thread and an event that samples have in common. */
struct perf_source {
	uint32_t thread, event;
};

struct perf_row {
	uint64_t time_ns, period;
	stack_id stack;
	uint32_t source;
};

#define PERF_BLOCK_ROWS ((size_t)8192)

struct perf_rows {
	struct builder *builder;
	VEC(struct perf_event) events;
	struct map event_of_name;
	struct str last_name; /* of the event asked for last; in the input */
	uint32_t last_event;
	VEC(struct perf_source) sources;
	struct map source_of;	       /* thread and event */
	VEC(struct perf_row *) blocks; /* of PERF_BLOCK_ROWS; they never move */
	uint64_t count;
	uint32_t last_stack; /* the highest that was added */
	uint64_t without_time, without_thread;
	uint64_t first_ns, last_ns; /* of the times */
};

void perf_rows_deinit(struct perf_rows *r);
/* The number of an event; its name may be empty. */
uint32_t perf_rows_event(struct perf_rows *r, struct str name);
void perf_rows_add(struct perf_rows *r, const struct perf_sample *sample);
/*
 * Gives metrics, threads and samples, at least one, to the builder; of an input of that size, for
 * the memory that events take: samples of more than that allows for become a note.
 */
void perf_rows_finish(struct perf_rows *r, struct perf_tasks *tasks, size_t input_size);

#endif
