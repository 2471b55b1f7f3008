/*
 * Predicted frames: a hash table from a frame to its latest callees in move-to-front order.
 */
#include "formats/sonde/layout/capture_predictor.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"

void predictor_deinit(struct predictor *p)
{
	free(p->slots);
	*p = (struct predictor){0};
}

void predictor_clear(struct predictor *p)
{
	if (p->capacity)
		memset(p->slots, 0, p->capacity * sizeof(*p->slots));
	p->count = 0;
}

static struct predictor_context *predictor_slot(const struct predictor *p, uint32_t frame_plus_1)
{
	size_t mask = p->capacity - 1;
	size_t i = hash_u64(frame_plus_1) & mask;

	while (p->slots[i].frame_plus_1 && p->slots[i].frame_plus_1 != frame_plus_1)
		i = (i + 1) & mask;
	return &p->slots[i];
}

static void predictor_grow(struct predictor *p)
{
	struct predictor old = *p;

	p->capacity = old.capacity ? old.capacity * 2 : 64;
	p->slots = xcalloc(p->capacity, sizeof(*p->slots));
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].frame_plus_1)
			*predictor_slot(p, old.slots[i].frame_plus_1) = old.slots[i];
	free(old.slots);
}

struct predictor_context *predictor_find(struct predictor *p, uint32_t caller)
{
	if ((p->count + 1) * 2 > p->capacity)
		predictor_grow(p);
	struct predictor_context *context = predictor_slot(p, caller + 1);
	if (context->frame_plus_1 == 0) {
		context->frame_plus_1 = caller + 1;
		p->count++;
	}
	return context;
}

uint32_t predictor_way(const struct predictor_context *context, uint32_t child)
{
	for (uint32_t way = 0; way < context->child_count; way++)
		if (context->child[way] == child)
			return way;
	return PREDICTOR_WAYS;
}

void predictor_learn(struct predictor_context *context, uint32_t way, uint32_t child)
{
	uint32_t last = way;

	if (way == PREDICTOR_WAYS) {
		if (context->child_count < PREDICTOR_WAYS)
			context->child_count++;
		last = context->child_count - 1;
	}
	memmove(&context->child[1], &context->child[0], last * sizeof(context->child[0]));
	context->child[0] = child;
}
