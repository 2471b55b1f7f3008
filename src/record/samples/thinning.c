/*
 * A thread's first sample is always kept, so what is carried has a stack to go to if no other
 * sample follows.
 */
#include "record/samples/thinning.h"

/* From such a part of the backlog on, one sample in so many is kept. */
static const struct {
	double level;
	uint32_t one_in;
} steps[] = {{0.75, 16}, {0.625, 8}, {0.5, 4}, {0.25, 2}};

static uint32_t one_in(double level)
{
	for (unsigned int i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (level >= steps[i].level)
			return steps[i].one_in;
	return 1;
}

bool thinning_drops(struct thinning *t, struct thinned *thread, double level, uint64_t period_ns)
{
	if (!thread->has_kept || thread->carried + 1 >= one_in(level))
		return false;
	thread->carried_ns += period_ns;
	thread->carried++;
	t->dropped++;
	return true;
}

uint64_t thinned_take(struct thinned *thread)
{
	uint64_t carried_ns = thread->carried_ns;

	thread->carried_ns = 0;
	thread->carried = 0;
	return carried_ns;
}

void thinned_keep(struct thinned *thread, uint32_t node, uint32_t cpu, uint64_t time_ns)
{
	thread->has_kept = true;
	thread->node = node;
	thread->cpu = cpu;
	thread->time_ns = time_ns;
}
