#ifndef SONDE_TESTS_RANDOM_CAPTURE_H
#define SONDE_TESTS_RANDOM_CAPTURE_H

/*
 * Recordings of a program that does not exist, for the tests of the capture file: a random call
 * graph, and a walker that calls and returns in it at random and is sampled now and then.  The same
 * seed gives the same recording.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "record/file/capture_writer.h"

struct random_capture_options {
	uint64_t seed;
	uint32_t functions;
	uint32_t depth;	   /* of a stack, on average */
	uint32_t turnover; /* frames that return, and that are called, between two samples */
	uint32_t threads;
	uint32_t objects;
	uint32_t interval_ns, jitter_ns; /* between samples */
};

struct random_call {
	uint32_t site;	 /* distance from its function's start */
	uint32_t callee; /* function */
};

struct random_function {
	uint32_t object;
	uint64_t obj_addr;
	uint32_t size, call_count;
	struct random_call calls[8];
};

struct random_level {
	uint32_t function;
	uint64_t obj_addr; /* of the call in it, or of the instruction sampled */
	uint32_t node;
};

/* What was written, for comparison. */
struct random_node {
	uint32_t parent, function;
	uint64_t obj_addr;
};
struct random_sample {
	uint64_t time_ns;
	uint32_t thread, node, zone;
	int64_t weight;
};

struct random_thread {
	VEC(struct random_level) stack;
};

struct random_capture {
	struct random_capture_options options;
	uint64_t state;
	struct random_function *functions;
	struct random_thread *threads;
	struct map node_of;	       /* (parent, frame's hash) → node */
	VEC(struct random_node) nodes; /* [node]; the first is the empty stack */
	VEC(struct random_sample) samples;
};

void random_capture_init(struct random_capture *r, const struct random_capture_options *options);
void random_capture_deinit(struct random_capture *r);
/* Objects, threads, metric and facts. */
void random_capture_begin(struct random_capture *r, struct capture_writer *w);
/* The next samples, and the nodes they need; flushes as a recorder does. */
void random_capture_run(struct random_capture *r, struct capture_writer *w, uint64_t samples);
/*
 * A name for each address that occurs: functions are called "f<number>", are in the file "f.c" and
 * begin at the line <number>; the line of an address is 16 bytes long.
 */
void random_capture_symbols(struct random_capture *r, struct capture_writer *w);
/* The line of an address in a function. */
uint32_t random_capture_line(const struct random_capture *r, uint32_t function, uint64_t obj_addr);
/* The next random number below `limit`. */
uint64_t random_capture_below(struct random_capture *r, uint64_t limit);

#endif
