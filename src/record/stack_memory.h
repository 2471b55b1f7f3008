#ifndef SONDE_RECORD_STACK_MEMORY_H
#define SONDE_RECORD_STACK_MEMORY_H

/*
 * The memory that a stack is walked in: the dump that came with the sample, and, beyond it, the
 * live process, read at once.  The target has run on since the sample, so what is read is believed
 * only if the end of the dump, read again in the same call, is still what it was.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/perf_record.h"
#include "unwind/walk.h"

struct stack_memory {
	struct unwind_memory memory; /* for the walker; its context is this struct */
	int64_t tid;
	const uint8_t *dump; /* of [dump_low_va, dump_high_va) */
	uint64_t dump_low_va, dump_high_va;
	uint8_t *remote; /* of [remote_low_va, remote_high_va) */
	uint64_t remote_low_va, remote_high_va;
	size_t remote_size;  /* that the next read asks for */
	bool raced;	     /* a read was not believed */
	uint64_t read_count; /* of the live process, in all samples */
};

void stack_memory_init(struct stack_memory *m);
void stack_memory_deinit(struct stack_memory *m);
/* Makes it the memory of one sample, whose record must stay. */
void stack_memory_begin(struct stack_memory *m, const struct perf_sample *sample);

#endif
