#ifndef SONDE_MODEL_IMPORT_H
#define SONDE_MODEL_IMPORT_H

/*
 * Taking over the tables of a profile into a builder, which may have tables of others already: what
 * makes one profile out of another, or out of several.
 *
 *	struct import im;
 *	import_init(&im, from, to, scratch);    the builder has its metrics
 *	import_frames(&im);                     then im.frames[row of from] is the builder's id
 *	import_stacks(&im), import_threads(&im)
 */

#include "base/arena.h"
#include "model/builder.h"

/* A function of a profile. */
struct import_function {
	const struct profile *profile;
	uint32_t row;
	struct str name; /* what to call it instead; empty: its own name */
};

/* Load objects of one profile that count as those of another. */
struct import_objects {
	const struct profile *from, *to;
	const uint32_t *as; /* [object of from]: object of to, or NO_ID: itself */
};

struct import {
	const struct profile *from;
	struct builder *to;
	struct arena *scratch;
	uint64_t shift_ns; /* added to times; 0 at first */
	/* [row of from]: which function it counts as; NULL at first: itself. */
	const struct import_function *functions_as;
	/* Applies wherever objects of its profile are imported; NULL at first: none. */
	const struct import_objects *objects_as;
	/* [row of from]: the builder's id; NULL before the call that fills it. */
	function_id *functions;
	frame_id *frames;
	stack_id *stacks;
	thread_id *threads;
	process_id *processes; /* with threads */
	label_set_id *label_sets;
	int64_t *weight; /* of one sample; NULL at first */
};

/* Everything pointed to must live as long as the import, which lives in scratch. */
void import_init(
	struct import *im, const struct profile *from, struct builder *to, struct arena *scratch);

string_id import_string(struct import *im, string_id id);
/* All metrics, in their order; the builder's first. */
void import_metrics(struct import *im);
/* Load objects, functions and frames; one that equals an existing row becomes that row. */
void import_frames(struct import *im);
/* After import_frames. */
void import_stacks(struct import *im);
/*
 * After import_frames: adds the calls, with their costs, for which the builder has the profile's
 * metrics alone.
 */
void import_arcs(struct import *im);
/*
 * Processes and threads: always rows of their own, since it is unknown whether those of two
 * profiles are the same.
 */
void import_threads(struct import *im);
/* Labels, and the sets of them that samples have. */
void import_labels(struct import *im);
/* The builder's set of a sample's labels; after import_labels. */
label_set_id import_sample_labels(const struct import *im, size_t sample);
/*
 * Adds a sample with these labels, its own or others, to a builder that has the profile's metrics
 * alone; after import_stacks and import_threads.  Its time is not shifted.
 */
void import_sample(struct import *im, size_t sample, label_set_id labels);
/* After import_threads and import_stacks; the times are shifted. */
void import_ticks(struct import *im);
/* The thread that ended a tick; NO_ID: not known, or threads were not imported. */
thread_id import_tick_thread(const struct import *im, const struct tick *tick);
void import_zone_events(struct import *im);
/* A time, shifted; at most UINT64_MAX - 1, as UINT64_MAX stands for "not known". */
uint64_t import_time(const struct import *im, uint64_t time_ns);
void import_notes(struct import *im);
/* The fields outside tables, for a profile that will have the same metrics. */
void import_header(struct import *im);

#endif
