#ifndef SONDE_RECORD_SWITCHES_BLOCKED_STACK_H
#define SONDE_RECORD_SWITCHES_BLOCKED_STACK_H

/*
 * The stack of a thread that sleeps, read from outside while it goes on sleeping.
 */

#include <stdint.h>

#include "record/events/perf_record.h"

/* The system call that a thread sleeps in. */
struct blocked_call {
	int64_t number; /* -1: none, as after a fault */
	uint64_t arguments[6];
	uint64_t sp, pc;
};

struct blocked_stack {
	uint8_t *bytes;		  /* of the last one read */
	struct blocked_call call; /* likewise */
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
 * Reads what /proc/TID/syscall says: "running", or a system call's number and arguments, or -1, and
 * then sp and pc.  False: it runs.
 */
bool blocked_stack_parse(const char *text, struct blocked_call *call);

#endif
