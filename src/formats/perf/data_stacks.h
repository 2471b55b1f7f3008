#ifndef SONDE_FORMATS_PERF_DATA_STACKS_H
#define SONDE_FORMATS_PERF_DATA_STACKS_H

/*
 * The stacks of a perf.data file's samples: each becomes one node of a tree of frames, and a frame
 * is an address of a load object.  Most chains of addresses occurred before in the same address
 * space: they are recognized by their bytes, and not decoded again.
 */

#include <stdint.h>

#include "base/child_table.h"
#include "base/map.h"
#include "base/vec.h"
#include "formats/sonde/layout/capture_stacks.h"
#include "formats/sonde/capture_names.h"
#include "formats/perf/data_jit.h"
#include "formats/perf/data_objects.h"
#include "formats/perf/data_tasks.h"
#include "unwind/walk.h"

/* Why stacks were truncated. */
enum perf_data_cut {
	PERF_DATA_CUT_MAX,    /* the kernel's limit on the length of chains */
	PERF_DATA_CUT_CALLS,  /* the processor's limit on recorded calls */
	PERF_DATA_CUT_MEMORY, /* the copied part of the stack was too short */
	PERF_DATA_CUT_RULE,   /* no unwind rules */
	PERF_DATA_CUT_CORRUPT,
	PERF_DATA_CUT_NO_STACK, /* there is no copy: 32-bit programs */
	PERF_DATA_CUT_ROOM,	/* more distinct stacks than are kept */
	PERF_DATA_CUT_COUNT
};

/* A known chain, and its node.  Half a cache line, as each sample looks one up. */
struct perf_data_chain {
	const uint8_t *bytes; /* in the file; NULL: unused */
	uint64_t context;
	uint32_t hash;
	uint32_t node;
	uint16_t count; /* number of words; a record has no more than fit in 16 bits */
	uint16_t max_stack;
	uint8_t mode;
	bool is_cut; /* at the kernel's length limit */
};

/* The frame of an address in a context. */
struct perf_data_known {
	uint64_t context, va;
	uint32_t frame;
};

struct perf_data_stacks {
	struct perf_data_tasks *tasks;
	struct perf_data_objects *objects;
	struct perf_data_jit *jit;
	struct capture_names *names;
	struct arena *arena;
	struct unwind_space kernel;

	struct map frame_of_address;
	VEC(struct capture_frame) frames;
	struct child_table nodes;
	size_t frames_most, nodes_most;
	uint32_t branch_depth; /* maximum calls that the processor records; 0: unknown */
	VEC(uint32_t) scratch; /* frames of one stack, leaf first */

	struct perf_data_chain *chains;
	size_t chain_count, chain_slots;
	struct perf_data_known *known;

	struct unwind_walker *walker;
	/* Object numbers of generated code, by code and epoch. */
	struct map generations;
	uint32_t object_numbers; /* in names */
	uint32_t guessed;	 /* the frame "[guessed]"; 0: none yet */
	uint32_t anonymous;	 /* the object of code outside files */
	VEC(uint32_t) named;	 /* [object]: its number in names; NO_ID: none yet */

	uint64_t cuts[PERF_DATA_CUT_COUNT];
	uint64_t guesses; /* stacks with a guessed caller */
};

/* All arguments must outlive it; input_size limits memory. */
void perf_data_stacks_init(struct perf_data_stacks *s, struct perf_data_tasks *tasks,
	struct perf_data_objects *objects, struct perf_data_jit *jit, struct capture_names *names,
	struct arena *arena, size_t input_size);
void perf_data_stacks_deinit(struct perf_data_stacks *s);

/* Adds a mapping of code, of a process or, with pid -1, of the kernel. */
void perf_data_stacks_map(struct perf_data_stacks *s, const struct perfstream_mmap *mmap,
	bool in_kernel, uint64_t time_ns);
/*
 * A sample's stack is found in three steps, so that several lookups can overlap: hash its chain,
 * prefetch what it will be compared with, then find its node.
 */
void perf_data_stacks_expect(const struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample,
	struct perf_data_chain *chain);
void perf_data_stacks_fetch(const struct perf_data_stacks *s, const struct perf_data_chain *chain);
uint32_t perf_data_stacks_node(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample,
	struct perf_data_chain *chain);

/* Walks the sample's user stack, and adds its frames to scratch, leaf first. */
void perf_data_stacks_unwind(struct perf_data_stacks *s, uint32_t process,
	const struct perf_data_event *event, const struct perfstream_sample *sample);

/* For the parts: the frame of a user address. */
uint32_t perf_data_stacks_user_frame(
	struct perf_data_stacks *s, uint32_t process, uint64_t va, uint64_t time_ns);
/* Opens the object of a pending mapping; false: it is not pending. */
bool perf_data_stacks_resolve(struct perf_data_stacks *s, uint32_t process, uint64_t va);
/* Adds a frame for the truncation to scratch, as the outermost one. */
void perf_data_stacks_cut(struct perf_data_stacks *s, enum perf_data_cut cut);

#endif
