/*
 * The fair scheduler runs the eligible thread with the earliest deadline, which is one slice away.
 * So a thread with shorter slices runs sooner, but not more in total.
 */
#include "record/engines/perf/urgency.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The shortest that the scheduler accepts. */
#define SLICE_NS 100000u
/* Even the lowest real-time priority precedes all ordinary threads. */
#define KEEPER_PRIORITY 1

void urgency_shorten_slice(void)
{
	struct sched_attr attr = {0};

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0) != 0 ||
		attr.sched_policy != SCHED_NORMAL)
		return;
	attr.sched_runtime = SLICE_NS;
	/* Older kernels ignore the slice. */
	(void)syscall(SYS_sched_setattr, 0, &attr, 0);
}

void urgency_raise_keeper(void)
{
	struct sched_attr attr = {.size = sizeof(attr),
		.sched_policy = SCHED_FIFO,
		.sched_priority = KEEPER_PRIORITY};

	if (syscall(SYS_sched_setattr, 0, &attr, 0) != 0)
		urgency_shorten_slice();
}
