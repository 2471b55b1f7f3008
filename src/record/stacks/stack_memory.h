#ifndef SONDE_RECORD_STACKS_STACK_MEMORY_H
#define SONDE_RECORD_STACKS_STACK_MEMORY_H

/*
 * The memory in which a stack is walked: the sample's dump; the rest of the stack, if it was copied
 * at the same moment; and beyond these the live process, read now.  The target has continued since
 * the sample, so data from it is used only if the end of the dump, read again afterwards, is
 * unchanged.
 *
 * A handler on an alternate signal stack is different: memory after the dump is unrelated to the
 * interrupted stack.  Then the signal frame must be unchanged; stack_memory_other_stack detects
 * this case.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "record/engines/exact/exact.h"
#include "record/events/perf_record.h"
#include "record/processes/object_table.h"
#include "unwind/walk.h"

struct jit_table;
struct stack_memory {
	struct unwind_memory memory; /* for the walker; its context is this struct */
	const struct object_table *objects;
	struct jit_table *jit;		  /* rules of code made at run time; NULL: none */
	const struct unwind_space *space; /* of the process */
	uint64_t time_ns;		  /* of the sample */
	int64_t tid;
	const uint8_t *dump; /* of [dump_low_va, dump_high_va) */
	uint64_t dump_low_va, dump_high_va;
	const struct stack_rest *rest; /* NULL: rests are not copied */
	uint8_t *remote;	       /* of [remote_low_va, remote_high_va) */
	uint64_t remote_low_va, remote_high_va;
	size_t remote_size;	/* of the next read */
	uint64_t check_high_va; /* end of the piece of the dump that must be unchanged */
	bool unchecked;		/* nothing must be unchanged */
	bool asked;		/* this walk has read, or tried to read, the live process */
	bool raced;		/* the data that it read was rejected */
	uint64_t read_count;	/* reads of live processes, in all samples */
	uint64_t found_count;	/* of these, those that found memory there */
};

void stack_memory_init(struct stack_memory *m, const struct object_table *objects);
void stack_memory_deinit(struct stack_memory *m);
/* Sets the sample, whose record must stay valid. */
void stack_memory_begin(
	struct stack_memory *m, const struct unwind_space *space, const struct perf_sample *sample);
/*
 * Adds the part of the sample's stack that was copied in addition to its dump; it must stay valid.
 * Then checks of reuse do not read the live process: they wait for a complete rest.
 */
void stack_memory_add_rest(struct stack_memory *m, const struct stack_rest *rest);
/* Forgets data read from the live process.  Call it before each walk. */
void stack_memory_restart(struct stack_memory *m);
/*
 * After a walk that read the live process: how many of the stack's inner frames are in the dump, if
 * the next one is on another stack; else 0.
 */
size_t stack_memory_other_stack(const struct stack_memory *m, const struct unwind_stack *stack);
/* Whether the last word read came from the live process. */
bool stack_memory_shows_live(const struct stack_memory *m);
/* From now on the part of the dump from frame_sp on must be unchanged. */
void stack_memory_check_frame(struct stack_memory *m, uint64_t frame_sp);
/* From now on nothing is checked here: the caller does its own check. */
void stack_memory_check_nothing(struct stack_memory *m);

#endif
