#ifndef SONDE_RECORD_SWITCHES_BLOCKED_STACK_H
#define SONDE_RECORD_SWITCHES_BLOCKED_STACK_H

/* The stack of a sleeping thread, read from outside without waking it. */

#include <stdint.h>

#include "record/events/perf_record.h"

/* The system call that a thread sleeps in. */
struct blocked_call {
	int64_t number; /* -1: none, as in a page fault */
	uint64_t arguments[6];
	uint64_t sp, pc;
};

struct blocked_stack {
	uint8_t *bytes;		  /* of the last stack read */
	struct blocked_call call; /* of the last stack read */
};

void blocked_stack_init(struct blocked_stack *b);
void blocked_stack_deinit(struct blocked_stack *b);

enum blocked_state {
	BLOCKED_ASLEEP,	 /* its stack was read */
	BLOCKED_RUNNING, /* it is running, or has run in between */
	BLOCKED_REFUSED, /* gone, or we may not read it */
};

/*
 * BLOCKED_ASLEEP: the stack was read into *sample, as if it was sampled at that time: the registers
 * sp and pc, and the innermost part of the stack, in b's memory until the next call.  Otherwise
 * *sample is unchanged.
 */
enum blocked_state blocked_stack_read(
	struct blocked_stack *b, int64_t pid, int64_t tid, struct perf_sample *sample);

/*
 * Parses /proc/TID/syscall: "running"; or a system call's number and arguments, or -1; then sp and
 * pc.  False: it runs.
 */
bool blocked_stack_parse(const char *text, struct blocked_call *call);

#endif
