#ifndef SONDE_FORMATS_COMMON_TRACED_STACK_H
#define SONDE_FORMATS_COMMON_TRACED_STACK_H

/*
 * A thread with known times of function entries and exits: turns them into the time spent in each
 * stack, as samples, and call counts, as arcs.
 *
 * The time between two events is a sample of the stack at that time, with the time of its end.  So
 * exclusive time is exact, and a time filter cuts at events.  The first sample of a call carries
 * the call.  These samples do not come from a clock, so each is 0 in the metric "samples", like
 * those of zones.
 */

#include "base/vec.h"
#include "model/builder.h"

/* There can be as many as a file has entries. */
struct traced_frame {
	stack_id stack;
	uint32_t depth : 31; /* as the source counts */
	bool is_new : 1;     /* no sample carries its call yet */
};
#define TRACED_DEPTH_MAX 0x7fffffffu

struct traced_stack {
	struct builder *builder;
	thread_id thread;
	uint64_t start_ns; /* of the profile */
	uint64_t now_ns;   /* of the last event */
	bool is_running;   /* there was an event */
	VEC(struct traced_frame) frames;
	uint64_t backwards; /* times before that of the previous event; they count as zero time */
};

/* Adds the metrics samples, time (the default) and calls; the builder must have no others. */
void traced_stack_metrics(struct builder *builder);
void traced_stack_deinit(struct traced_stack *t);
/* Attributes the time since the last event to the current stack. */
void traced_stack_until(struct traced_stack *t, uint64_t time_ns);
/* Attributes the time since the last event to no stack: nothing is known about it. */
void traced_stack_lose(struct traced_stack *t, uint64_t time_ns);
/* A call: from the innermost frame, if there is one. */
void traced_stack_enter(struct traced_stack *t, frame_id frame, uint32_t depth);
/* A frame that was entered before the first event: its call is not counted. */
void traced_stack_inherit(struct traced_stack *t, frame_id frame, uint32_t depth);
void traced_stack_leave(struct traced_stack *t);
static inline const struct traced_frame *traced_stack_top(const struct traced_stack *t)
{
	return t->frames.count ? &t->frames.data[t->frames.count - 1] : NULL;
}
/* The current stack; 0: none. */
static inline stack_id traced_stack_now(const struct traced_stack *t)
{
	return t->frames.count ? t->frames.data[t->frames.count - 1].stack : (stack_id){0};
}

#endif
