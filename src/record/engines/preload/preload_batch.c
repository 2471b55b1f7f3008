/* Collects waiting records and orders them by time.  See preload_batch.h. */
#include "record/engines/preload/preload_batch.h"

#include <stdlib.h>

void preload_batch_deinit(struct preload_batch *b)
{
	vec_deinit(&b->records);
	vec_deinit(&b->slots);
}

void preload_batch_clear(struct preload_batch *b)
{
	b->records.count = b->slots.count = 0;
}

static void collect_slot(struct preload_batch *b, struct preload_memory *m, uint32_t slot)
{
	uint32_t count = preload_memory_waiting(m, slot);
	uint64_t time_ns = 0;

	preload_memory_count_lost(m, slot);
	if (count == 0)
		return;
	vec_push(&b->slots, slot);
	b->slot_count[slot] = count;
	for (uint32_t i = 0; i < count; i++) {
		struct preload_record head;

		if (!preload_memory_peek(m, slot, i, &head)) {
			m->broken++;
			continue;
		}
		/* The records of one thread stay in their order. */
		if (head.time_ns > time_ns)
			time_ns = head.time_ns;
		vec_push(&b->records, (struct preload_waiting){time_ns, slot, i, head.type});
	}
}

static int by_time(const void *a, const void *b)
{
	const struct preload_waiting *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->slot != y->slot)
		return x->slot < y->slot ? -1 : 1;
	return x->i < y->i ? -1 : x->i > y->i;
}

void preload_batch_take(struct preload_batch *b, struct preload_memory *m)
{
	for (uint32_t word = 0; word < PRELOAD_SLOTS / 64; word++)
		for (uint64_t bits = preload_memory_fresh(m, word); bits; bits &= bits - 1)
			collect_slot(b, m, word * 64 + (uint32_t)__builtin_ctzll(bits));
	if (b->records.count > 1)
		qsort(b->records.data, b->records.count, sizeof(*b->records.data), by_time);
}

void preload_batch_release(const struct preload_batch *b, struct preload_memory *m)
{
	for (size_t i = 0; i < b->slots.count; i++)
		preload_memory_release(m, b->slots.data[i], b->slot_count[b->slots.data[i]]);
}
