/*
 * Predicts frames: arrays of the latest callees in move-to-front order, indexed by the caller's
 * number or in a hash table.
 */
#include "formats/sonde/layout/capture_predictor.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* This many frames are always found by number. */
#define FRAMES_MIN ((size_t)16384)
#define TURN_MAX   (UINT32_MAX >> PREDICTOR_KNOWN_BITS)

struct predictor_slot {
	uint32_t frame_plus_1; /* 0: free */
	struct predictor_context context;
};

void predictor_deinit(struct predictor *p)
{
	free(p->by_frame);
	free(p->slots);
	*p = (struct predictor){0};
}

/* Makes room for at least that many contexts, all unknown. */
static void frames_grow(struct predictor *p, size_t frames)
{
	size_t count = 64;

	while (count < frames)
		count *= 2;
	free(p->by_frame);
	p->by_frame = xcalloc(count, sizeof(*p->by_frame));
	p->frame_count = count;
}

static void turn_next(struct predictor *p)
{
	if (p->turn == TURN_MAX) {
		memset(p->by_frame, 0, p->frame_count * sizeof(*p->by_frame));
		p->turn = 0;
	}
	p->turn++;
}

void predictor_begin(struct predictor *p, size_t frames, size_t nodes)
{
	size_t most = nodes < FRAMES_MIN ? FRAMES_MIN : nodes;

	if (frames > most)
		frames = most;
	if (frames > p->frame_count)
		frames_grow(p, frames);
	turn_next(p);
	if (p->count)
		memset(p->slots, 0, p->capacity * sizeof(*p->slots));
	p->count = 0;
}

static struct predictor_slot *slot_of(const struct predictor *p, uint32_t frame_plus_1)
{
	size_t mask = p->capacity - 1;
	size_t i = hash_u64(frame_plus_1) & mask;

	while (p->slots[i].frame_plus_1 && p->slots[i].frame_plus_1 != frame_plus_1)
		i = (i + 1) & mask;
	return &p->slots[i];
}

static void slots_grow(struct predictor *p)
{
	struct predictor old = *p;

	p->capacity = old.capacity ? old.capacity * 2 : 64;
	p->slots = xcalloc(p->capacity, sizeof(*p->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].frame_plus_1)
			*slot_of(p, old.slots[i].frame_plus_1) = old.slots[i];
	free(old.slots);
}

struct predictor_context *predictor_seek(struct predictor *p, uint32_t caller)
{
	if ((p->count + 1) * 2 > p->capacity)
		slots_grow(p);
	struct predictor_slot *slot = slot_of(p, caller + 1);
	if (slot->frame_plus_1 == 0) {
		slot->frame_plus_1 = caller + 1;
		p->count++;
	}
	return &slot->context;
}

uint32_t predictor_way(const struct predictor_context *context, uint32_t child)
{
	uint32_t known = predictor_known(context);

	for (uint32_t way = 0; way < known; way++)
		if (context->child[way] == child)
			return way;
	return PREDICTOR_WAYS;
}
