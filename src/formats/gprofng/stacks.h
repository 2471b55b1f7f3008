#ifndef SONDE_FORMATS_GPROFNG_STACKS_H
#define SONDE_FORMATS_GPROFNG_STACKS_H

/* data.frameinfo of a gprofng experiment: the stacks that packets refer to by number. */

#include "base/map.h"
#include "base/vec.h"
#include "model/builder.h"
#include "formats/gprofng/names.h"
#include "model/builder.h"
#include "formats/gprofng/experiment.h"

/* A run of addresses, linked to the run outside it. */
struct gprofng_node {
	uint64_t link; /* number of that run; 0: none */
	uint32_t first, count;
	stack_id stack;
	uint8_t state; /* new, entered, done */
	bool is_cut;   /* its outermost frames are missing */
};

struct gprofng_stacks {
	VEC(struct gprofng_node) nodes;
	VEC(uint32_t) addresses; /* of all nodes: numbers in names, leaf first */
	VEC(uint64_t) runs;	 /* numbers of the runs that packets refer to */
	struct map node_of;	 /* number of a run → index of its node */
	struct map run_of;	 /* number in packets → index in runs */
	uint64_t truncated, bad;
};

/* Reads the packets, with addresses of 4 or 8 bytes, and adds the addresses to names. */
void gprofng_stacks_read(struct gprofng_stacks *s, const struct file_bytes *bytes,
	size_t address_size, struct gprofng_names *names);
/* Makes the stacks, once names has its frames. */
void gprofng_stacks_build(
	struct gprofng_stacks *s, const struct gprofng_names *names, struct builder *builder);
/* The stack with the number FRINFO of a packet; false: there is none. */
bool gprofng_stacks_find(const struct gprofng_stacks *s, uint64_t frinfo, stack_id *stack);
void gprofng_stacks_deinit(struct gprofng_stacks *s);

#endif
