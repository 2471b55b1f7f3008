#ifndef SONDE_FORMATS_DUMP_READER_H
#define SONDE_FORMATS_DUMP_READER_H

/*
 * The state of the reader of dumps; for its files alone.
 */

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/common/line_scan.h"

#define NO_WEIGHT SIZE_MAX

struct dump_function {
	function_id id;
	size_t first_frame; /* in frames; its frames go on to the next function's */
};

struct dump_row {
	uint32_t parent; /* row */
	frame_id frame;
	size_t weight; /* where its weights begin in weights, or NO_WEIGHT */
	uint64_t samples;
};

struct dump {
	struct builder *builder;
	const char *name;
	uint64_t line_number;
	struct line_scan line;
	struct strbuf buffer;
	size_t metric_count;
	VEC(object_id) objects;
	VEC(struct dump_function) functions;
	VEC(frame_id) frames;
	/* (string, nth) → place in objects or functions; (string, 0) → how many of that name. */
	struct map object_places, function_places;
	VEC(process_id) processes;
	VEC(thread_id) threads;
	VEC(struct dump_row) rows; /* 0: the empty stack */
	VEC(int64_t) weights;
	VEC(uint32_t) path;   /* [level]: the row of the stack that is being told */
	VEC(uint32_t) order;  /* rows as they were first seen; empty: as they stand */
	VEC(stack_id) stacks; /* of rows, once they are built */
	VEC(int64_t) sample_weight, arc_cost;
	VEC(label_id) labels, sample_labels;
	size_t sample_count;
	bool samples_have_thread, samples_have_time, samples_have_zone;
	bool has_costs, has_ended;
};

/* The string that the line goes on with. */
string_id dump_string(struct dump *d);

/* A weight per metric into weight[]; true if they were all there. */
bool dump_weights(struct dump *d, int64_t *weight);

/* Builds the stacks, once all rows and their order are known. */
void dump_build_stacks(struct dump *d);

/* The thread of the number that the line goes on with. */
thread_id dump_thread_of(struct dump *d);

/* The stack of the row whose number the line goes on with; stacks are built then. */
stack_id dump_stack_of(struct dump *d);

/* ---- Lines behind their first word, of samples.c */

/* "label": a key with a text, or with a number and its unit. */
void dump_read_label(struct dump *d);
/* "sample": a stack; its thread, time and zone if samples have them; labels; weights. */
void dump_read_sample(struct dump *d);
/* "tick": a frame of time of a process's stream. */
void dump_read_tick(struct dump *d);
/* "zone-event": the zones that a thread is in from a time on, as a stack. */
void dump_read_zone_event(struct dump *d);

#endif
