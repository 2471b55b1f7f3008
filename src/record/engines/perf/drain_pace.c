/*
 * A ring half full wakes us, so looking is a matter of stacks only.  While they are deep, the next
 * look is to come soon after the next sample is due.
 */
#include "record/engines/perf/drain_pace.h"

#include "base/clock.h"

/* Between looks at the rings. */
#define POLL_NS (SECOND_NS / 50)
/* While stacks are deep, no later than this where there are several threads. */
#define POLL_DEEP_NS (SECOND_NS / 2000)
#define POLL_DUE_NS  (SECOND_NS / 60000)
/* The later a sample is the longer its thread will be off the CPU, but it may come back. */
#define POLL_LATE_NS (SECOND_NS / 500)
#define DEEP_NS	     (SECOND_NS / 2)
/* While threads are off the CPU whose stacks are to be read from outside. */
#define POLL_BLOCKED_NS (SECOND_NS / 500)

void drain_pace_sampled(struct drain_pace *p, uint64_t time_ns, int64_t tid)
{
	p->sampled_ns = time_ns;
	p->takes_turns = p->sampled_tid != tid;
	p->sampled_tid = tid;
}

/* How long to sleep while stacks are deep. */
static uint64_t deep_time_ns(const struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns)
{
	uint64_t due_ns = p->sampled_ns + interval_ns + POLL_DUE_NS;
	uint64_t most_ns = p->takes_turns ? POLL_DEEP_NS : POLL_LATE_NS;
	/* One that is late is waited for as long again: looks become fewer. */
	uint64_t wait_ns = due_ns > now_ns ? due_ns - now_ns : now_ns - due_ns;

	if (wait_ns < POLL_DUE_NS)
		return POLL_DUE_NS;
	return wait_ns < most_ns ? wait_ns : most_ns;
}

uint64_t drain_pace_wait_ns(struct drain_pace *p, uint64_t now_ns, uint64_t interval_ns,
	uint64_t reads, bool is_waiting)
{
	if (reads != p->reads)
		p->deep_until_ns = now_ns + DEEP_NS;
	p->reads = reads;
	if (now_ns < p->deep_until_ns)
		return deep_time_ns(p, now_ns, interval_ns);
	return is_waiting ? POLL_BLOCKED_NS : POLL_NS;
}
