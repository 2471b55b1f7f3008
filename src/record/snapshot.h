#ifndef SONDE_RECORD_SNAPSHOT_H
#define SONDE_RECORD_SNAPSHOT_H

/*
 * The snapshot sampler: turns one sample of the kernel's, user registers with a piece of the stack
 * and the kernel's own frames, into one node of the stack tree and one sample of the capture file.
 */

#include <stdint.h>

#include "format/capture.h"
#include "record/capture_writer.h"
#include "record/kernel_map.h"
#include "record/object_table.h"
#include "record/perf_record.h"
#include "record/process_table.h"
#include "record/stack_memory.h"
#include "record/stack_tree.h"
#include "unwind/walk.h"

struct snapshot {
	struct capture_writer *writer;
	struct object_table *objects;
	struct process_table *processes;
	uint64_t start_ns; /* of the recording, CLOCK_MONOTONIC */
	struct kernel_map kernel;
	struct stack_tree tree;
	struct stack_memory memory;
	struct unwind_walker *walker;
	uint64_t samples;
	uint64_t counters[CAPTURE_COUNTER_COUNT];
};

void snapshot_init(struct snapshot *s, struct capture_writer *writer, struct object_table *objects,
	struct process_table *processes, uint64_t start_ns);
void snapshot_deinit(struct snapshot *s);
/* Walks and writes one sample. */
void snapshot_take(struct snapshot *s, const struct perf_sample *sample);
/* Stacks that were not walked whole, whatever the cause. */
uint64_t snapshot_truncated(const struct snapshot *s);

#endif
