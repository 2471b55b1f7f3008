/*
 * Addresses for frames.  First all real addresses are assigned, then unused ones of each object,
 * from 0 up.
 */
#include "formats/sonde/writer_keys.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"

static uint32_t object_of(const struct profile *p, uint32_t frame)
{
	object_id object = p->functions[p->frames[frame].function.i].object;

	return object.i == NO_ID ? (uint32_t)p->object_count : object.i;
}

/* An unused address of the object; *next is where the search begins. */
static uint64_t free_address(struct map *taken, uint32_t object, uint64_t *next)
{
	uint32_t frame;

	while (map_get(taken, object, *next, &frame))
		++*next;
	return (*next)++;
}

static void give_addresses(struct sonde_keys *k, const struct profile *p)
{
	struct map taken = {0}; /* (object, address) → frame */
	uint64_t *next = xcalloc(p->object_count + 1, sizeof(*next));

	for (uint32_t i = 0; i < p->frame_count; i++)
		(void)map_at(&taken, object_of(p, i), p->frames[i].obj_addr, i, &(bool){false});
	for (uint32_t i = 0; i < p->frame_count; i++) {
		uint32_t object = object_of(p, i), first;
		uint64_t addr = p->frames[i].obj_addr;

		if (map_get(&taken, object, addr, &first) && first != i)
			addr = free_address(&taken, object, &next[object]);
		k->of_frame[i] = (struct sonde_key){object, addr};
	}
	free(next);
	map_deinit(&taken);
}

static int key_compare(const void *a, const void *b, void *context)
{
	const struct sonde_key *keys = context;
	const struct sonde_key *x = &keys[*(const uint32_t *)a], *y = &keys[*(const uint32_t *)b];

	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void sonde_keys_init(struct sonde_keys *k, const struct profile *p)
{
	k->of_frame = xcalloc(p->frame_count, sizeof(*k->of_frame));
	k->order = xcalloc(p->frame_count, sizeof(*k->order));
	give_addresses(k, p);
	for (uint32_t i = 0; i < p->frame_count; i++)
		k->order[i] = i;
	qsort_r(k->order, p->frame_count, sizeof(*k->order), key_compare, k->of_frame);
}

void sonde_keys_deinit(struct sonde_keys *k)
{
	free(k->of_frame);
	free(k->order);
}
