/*
 * Pairs of entities by number: a matrix or a hash table.  See entity_pairs.h.
 */
#include "analysis/entity_pairs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* An entity's column; those that are none have the last two. */
static size_t column(const struct entity_pairs *p, uint32_t entity)
{
	return entity < p->width - 2 ? entity : p->width - 1 - (NO_ID - entity);
}

void entity_pairs_init(
	struct entity_pairs *p, size_t entity_count, const bool *chosen, size_t cells_max)
{
	size_t rows = entity_count + 2;

	*p = (struct entity_pairs){.width = entity_count + 2};
	if (chosen) {
		p->row_of = xcalloc(p->width, sizeof(*p->row_of));
		rows = 2; /* of those that are not chosen: never used */
		for (size_t i = 0; i < entity_count; i++) {
			if (!chosen[i])
				continue;
			p->row_of[i] = (uint32_t)rows;
			rows += 2;
		}
	}
	if (rows <= cells_max / p->width)
		p->cells = xcalloc(rows * p->width, sizeof(*p->cells));
}

void entity_pairs_end(struct entity_pairs *p)
{
	free(p->cells);
	free(p->row_of);
	free(p->slots);
	p->cells = p->row_of = p->slots = NULL;
}

void entity_pairs_deinit(struct entity_pairs *p)
{
	entity_pairs_end(p);
	vec_deinit(&p->pairs);
}

/* The pair's place in the matrix: in the row of its caller if that is chosen, else its callee's. */
static size_t cell(const struct entity_pairs *p, uint32_t from, uint32_t to)
{
	size_t caller = column(p, from), callee = column(p, to);

	if (p->row_of == NULL)
		return caller * p->width + callee;
	return p->row_of[caller] ? p->row_of[caller] * p->width + callee
				 : (p->row_of[callee] + 1) * p->width + caller;
}

static size_t hash(uint32_t from, uint32_t to)
{
	return hash_u64((uint64_t)from << 32 | to);
}

/* The slot of the pair, or the free one where it belongs. */
static uint32_t *find_slot(const struct entity_pairs *p, uint32_t from, uint32_t to)
{
	size_t mask = p->slot_count - 1, i = hash(from, to) & mask;

	for (; p->slots[i]; i = (i + 1) & mask) {
		const struct entity_pair *pair = &p->pairs.data[p->slots[i] - 1];

		if (pair->from == from && pair->to == to)
			break;
	}
	return &p->slots[i];
}

static void grow(struct entity_pairs *p)
{
	/* The old slots go first: the two generations are never in memory at once. */
	free(p->slots);
	p->slot_count = p->slot_count ? p->slot_count * 2 : 64;
	p->slots = xcalloc(p->slot_count, sizeof(*p->slots));
	for (size_t i = 0; i < p->pairs.count; i++) {
		const struct entity_pair *pair = &p->pairs.data[i];

		*find_slot(p, pair->from, pair->to) = (uint32_t)i + 1;
	}
}

uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t from, uint32_t to)
{
	uint32_t *number;

	if (p->cells) {
		number = &p->cells[cell(p, from, to)];
	} else {
		if (unlikely((p->pairs.count + 1) * 2 > p->slot_count))
			grow(p);
		number = find_slot(p, from, to);
	}
	if (*number == 0) {
		assert(p->pairs.count < NO_ID - 1);
		vec_push(&p->pairs, (struct entity_pair){from, to});
		*number = (uint32_t)p->pairs.count;
	}
	return *number - 1;
}

void entity_pairs_warm(const struct entity_pairs *p, uint32_t from, uint32_t to)
{
	if (p->cells)
		__builtin_prefetch(&p->cells[cell(p, from, to)], 1);
	else if (p->slots)
		__builtin_prefetch(&p->slots[hash(from, to) & (p->slot_count - 1)], 1);
}

uint32_t entity_pairs_peek(const struct entity_pairs *p, uint32_t from, uint32_t to)
{
	return p->cells ? p->cells[cell(p, from, to)] - 1 : NO_ID;
}
