/*
 * Pairs of entities by number: a matrix or a hash table.  See entity_pairs.h.
 */
#include "analysis/entity_pairs.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/hash.h"

/* Cells of the matrix for each node of the tree. */
#define CELLS_MAX_PER_NODE 4u

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

void entity_pairs_init(
	struct entity_pairs *p, size_t entity_count, const bool *chosen, size_t node_count)
{
	size_t rows = entity_count + 2;

	*p = (struct entity_pairs){.width = entity_count + 2};
	if (chosen) {
		p->row_of = xcalloc(p->width, sizeof(*p->row_of));
		rows = 2; /* row 0 marks entities that are not chosen */
		for (size_t i = 0; i < entity_count; i++) {
			if (!chosen[i])
				continue;
			p->row_of[i] = (uint32_t)rows;
			rows += 2;
		}
	}
	if (rows <= CELLS_MAX_PER_NODE * node_count / p->width)
		p->cells = xcalloc(rows * p->width, sizeof(*p->cells));
}

void entity_pairs_end(struct entity_pairs *p)
{
	free(p->cells);
	free(p->row_of);
	p->cells = p->row_of = NULL;
}

void entity_pairs_deinit(struct entity_pairs *p)
{
	entity_pairs_end(p);
	row_table_deinit(&p->pairs);
}

/* An entity's column; the two values that are none have the last two. */
static size_t column(const struct entity_pairs *p, uint32_t entity)
{
	return entity < p->width - 2 ? entity : p->width - 1 - (NO_ID - entity);
}

/* The pair's place in the matrix: in the row of its caller if that is chosen, else its callee's. */
static uint32_t *find_cell(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	size_t from = column(p, caller), to = column(p, callee);

	if (p->row_of == NULL)
		return &p->cells[from * p->width + to];
	return p->row_of[from] ? &p->cells[p->row_of[from] * p->width + to]
			       : &p->cells[(p->row_of[to] + 1) * p->width + from];
}

uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	struct entity_pair pair = {caller, callee};

	if (p->cells == NULL)
		return row_table_intern(&p->pairs, &pair_rows, &pair);
	uint32_t *cell = find_cell(p, caller, callee);

	if (*cell == 0)
		*cell = row_table_push(&p->pairs, &pair_rows, &pair) + 1;
	return *cell - 1;
}

void entity_pairs_warm(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	if (p->cells)
		__builtin_prefetch(find_cell(p, caller, callee), 1);
	else
		row_table_warm_slot(&p->pairs, pair_hash(&(struct entity_pair){caller, callee}));
}

uint32_t entity_pairs_peek(const struct entity_pairs *p, uint32_t caller, uint32_t callee)
{
	return p->cells ? *find_cell(p, caller, callee) - 1 : NO_ID;
}
