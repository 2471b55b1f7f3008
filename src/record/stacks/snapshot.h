#ifndef SONDE_RECORD_STACKS_SNAPSHOT_H
#define SONDE_RECORD_STACKS_SNAPSHOT_H

/*
 * The walk of one sample: turns user registers with a piece of the stack, and the kernel's frames,
 * into one node of the stack tree.
 */

#include <stdint.h>

#include "formats/sonde/layout/capture.h"
#include "record/engines/exact/exact.h"
#include "record/events/perf_record.h"
#include "record/file/capture_writer.h"
#include "record/processes/generated_names.h"
#include "record/processes/kernel_map.h"
#include "record/processes/object_table.h"
#include "record/processes/process_table.h"
#include "record/stacks/stack_memory.h"
#include "record/stacks/stack_tree.h"
#include "unwind/crossings.h"
#include "unwind/walk.h"

struct snapshot {
	struct capture_writer *writer;
	struct object_table *objects;
	struct process_table *processes;
	struct kernel_map kernel;
	struct jit_table jit;
	struct generated_names names;
	struct stack_tree tree;
	struct stack_memory memory;
	struct unwind_walker *walker;
	struct unwind_crossings crossings;
	struct exact *exact;	/* copies the rests of stacks; NULL: not used */
	struct stack_rest rest; /* of the current sample */
	bool is_copied; /* samples include all unknown parts of the stack, so checks may wait */
	uint64_t reach_bytes;  /* how many bytes of the stack, from its pointer up, the last walk
			         read */
	uint64_t walks;	       /* of user stacks */
	uint64_t late_guesses; /* stacks with a guessed caller only because it was read too late */
	uint64_t counters[CAPTURE_COUNTER_COUNT];
};

void snapshot_init(struct snapshot *s, struct capture_writer *writer, struct object_table *objects,
	struct process_table *processes);
void snapshot_deinit(struct snapshot *s);

/* Where a sample belongs. */
struct snapshot_place {
	struct thread *thread; /* the process table's; valid until the thread ends */
	uint32_t node;	       /* of its stack */
};
struct snapshot_place snapshot_walk(struct snapshot *s, const struct perf_sample *sample);
/* The node of an unknown stack: only "[truncated]". */
uint32_t snapshot_no_stack(struct snapshot *s);
/* The number of truncated and guessed stacks, for any reason. */
uint64_t snapshot_truncated(const struct snapshot *s);

#endif
