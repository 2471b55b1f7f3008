#ifndef SONDE_RECORD_BLOCKED_STACK_H
#define SONDE_RECORD_BLOCKED_STACK_H

/*
 * The stack of a thread that sleeps, read from outside while it goes on sleeping.
 */

#include <stdint.h>

#include "record/perf_record.h"

struct blocked_stack {
	uint8_t *bytes; /* of the last one read */
};

void blocked_stack_init(struct blocked_stack *b);
void blocked_stack_deinit(struct blocked_stack *b);

enum blocked_state {
	BLOCKED_ASLEEP,	 /* here it is */
	BLOCKED_RUNNING, /* it runs, or has run meanwhile */
	BLOCKED_REFUSED, /* gone, or not ours to read */
};

/*
 * Reads it into *sample, as if it had been sampled at the time at which it had been read: user
 * registers, of which only sp and pc are known, and the innermost part of the stack, which is b's
 * until the next call.  Else *sample is not touched.
 */
enum blocked_state blocked_stack_read(
	struct blocked_stack *b, int64_t pid, int64_t tid, struct perf_sample *sample);

/*
 * Takes sp and pc from what /proc/TID/syscall says: "running", or a system call's number and
 * arguments, or -1, and then both.  False: it runs.
 */
bool blocked_stack_parse(const char *text, uint64_t *sp, uint64_t *pc);

#endif
