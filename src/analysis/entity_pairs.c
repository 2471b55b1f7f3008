/*
 * Pairs of entities by number: a set with ranks or a hash table.  See entity_pairs.h.
 */
#include "analysis/entity_pairs.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/hash.h"

/* Of a set, for each node of the tree. */
#define BITS_MAX_PER_NODE 32u

static uint64_t pair_hash(const void *row)
{
	const struct entity_pair *p = row;

	return hash_u64((uint64_t)p->caller << 32 | p->callee);
}

static bool pair_same(const void *a, const void *b)
{
	const struct entity_pair *x = a, *y = b;

	return x->caller == y->caller && x->callee == y->callee;
}

static const struct row_kind pair_rows = {sizeof(struct entity_pair), pair_hash, pair_same};

/* Rows 0 and 1 stand for columns that are not chosen. */
static void choose_rows(struct entity_pairs *p, const bool *chosen)
{
	uint32_t next = 2;

	p->row = ARENA_ARRAY(p->arena, uint32_t, p->width);
	for (uint32_t i = 0; i + 1 < p->width; i++) {
		if (!chosen[i])
			continue;
		p->row[p->column[i + 1]] = next;
		next += 2;
	}
}

void entity_pairs_expect(struct entity_pairs *p, size_t entity_count, const uint32_t *order,
	const bool *chosen, size_t node_count)
{
	size_t width = entity_count + 1, rows = chosen ? 2 : width;

	for (size_t i = 0; chosen && i < entity_count; i++)
		rows += chosen[i] ? 2 : 0;
	if (rows > BITS_MAX_PER_NODE * node_count / width || rows * width > UINT32_MAX)
		return;
	p->width = width;
	p->arena = arena_create();
	p->bits = rank_set_bits(rows * width, p->arena);
	p->set.size = rows * width;
	p->column = ARENA_ARRAY(p->arena, uint32_t, width);
	for (uint32_t i = 0; i < width; i++)
		p->column[i] = order ? order[i] : i;
	if (chosen)
		choose_rows(p, chosen);
}

/* The pair's place in a set: in the row of its caller if that is chosen, else in its callee's. */
static inline uint32_t place_of(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	uint32_t from = p->column[caller + 1], to = p->column[callee + 1];
	uint32_t width = (uint32_t)p->width;

	if (p->row == NULL)
		return from * width + to;
	return p->row[from] ? p->row[from] * width + to : (p->row[to] + 1) * width + from;
}

void entity_pairs_mark(struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	if (p->bits)
		rank_set_put(p->bits, place_of(p, caller, callee));
	else
		row_table_intern(&p->pairs, &pair_rows, &(struct entity_pair){caller, callee});
}

/* The pairs of the set, by number. */
static struct entity_pair *list_pairs(const struct entity_pairs *p)
{
	struct entity_pair *pairs = xrealloc_array(NULL, (size_t)p->set.count + 1, sizeof(*pairs));
	uint32_t *entity = xcalloc(p->width, sizeof(*entity));		   /* [column] */
	uint32_t *owner = xcalloc(p->set.size / p->width, sizeof(*owner)); /* [row] its column */
	uint32_t width = (uint32_t)p->width, row = 0, number = 0;

	for (uint32_t i = 0; i < width; i++) {
		uint32_t column = p->column[i];

		entity[column] = i - 1;
		if (p->row == NULL)
			owner[column] = column;
		else if (p->row[column])
			owner[p->row[column]] = owner[p->row[column] + 1] = column;
	}
	for (uint32_t i = rank_set_next(&p->set, 0); i < p->set.size;
		i = rank_set_next(&p->set, i + 1)) {
		while (i - row * width >= width)
			row++;
		uint32_t own = entity[owner[row]], other = entity[i - row * width];
		bool is_callee = p->row && row % 2 == 1;

		pairs[number++] = is_callee ? (struct entity_pair){other, own}
					    : (struct entity_pair){own, other};
	}
	free(entity);
	free(owner);
	return pairs;
}

void entity_pairs_close(struct entity_pairs *p)
{
	if (p->bits == NULL)
		return;
	p->set = rank_set_make(p->bits, p->set.size, p->arena);
	p->pairs = (struct row_table){
		.rows = list_pairs(p), .count = p->set.count, .capacity = (size_t)p->set.count + 1};
}

void entity_pairs_end(struct entity_pairs *p)
{
	arena_destroy(p->arena);
	p->arena = NULL;
	p->bits = NULL;
	p->column = p->row = NULL;
}

void entity_pairs_deinit(struct entity_pairs *p)
{
	entity_pairs_end(p);
	row_table_deinit(&p->pairs);
}

uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	if (p->bits) {
		uint32_t place = place_of(p, caller, callee);

		assert(rank_set_has(&p->set, place));
		return rank_set_below(&p->set, place);
	}
	return row_table_intern(&p->pairs, &pair_rows, &(struct entity_pair){caller, callee});
}

void entity_pairs_warm(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	if (p->bits == NULL) {
		row_table_warm_slot(&p->pairs, pair_hash(&(struct entity_pair){caller, callee}));
		return;
	}
	uint32_t place = place_of(p, caller, callee);

	prefetch(&p->set.bits[place / 64]);
	prefetch(&p->set.before[place / 64]);
}

uint32_t entity_pairs_peek(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	return p->bits ? rank_set_below(&p->set, place_of(p, caller, callee)) : NO_ID;
}
