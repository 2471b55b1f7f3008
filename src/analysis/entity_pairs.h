#ifndef SONDE_ANALYSIS_ENTITY_PAIRS_H
#define SONDE_ANALYSIS_ENTITY_PAIRS_H

/*
 * Numbers pairs of entities, callers and callees, in the order in which they first come.
 *
 * A large profile has millions of pairs, looked up once for each node, and each lookup is a read
 * from a random place in memory.  If there are not many more possible pairs than nodes, or few
 * entities are asked for, the numbers are a matrix: one read, which can be prefetched.  Otherwise
 * they are a hash table.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/row_table.h"
#include "model/ids.h"

/* Entities, or NO_ID, or NO_ID - 1; the caller defines what these two mean. */
struct entity_pair {
	uint32_t caller, callee;
};

struct entity_pairs {
	struct row_table pairs; /* of struct entity_pair, by number */
	size_t width;		/* entities, and the two values that are none */
	uint32_t *cells;  /* the matrix, [row][entity] number + 1, 0: none; NULL: a hash table */
	uint32_t *row_of; /* [entity] row as a caller, + 1 as a callee; NULL: the entity's number */
};

/*
 * chosen: entities of which each pair has at least one; NULL: all.  The matrix takes at most 16
 * bytes for each of node_count nodes.
 */
void entity_pairs_init(
	struct entity_pairs *p, size_t entity_count, const bool *chosen, size_t node_count);
void entity_pairs_deinit(struct entity_pairs *p);
/* Frees everything but the pairs: no more will come. */
void entity_pairs_end(struct entity_pairs *p);

static inline size_t entity_pairs_count(const struct entity_pairs *p)
{
	return p->pairs.count;
}
static inline const struct entity_pair *entity_pairs_pair(
	const struct entity_pairs *p, uint32_t number)
{
	return &((const struct entity_pair *)p->pairs.rows)[number];
}

/* All pairs, by number. */
static inline const struct entity_pair *entity_pairs_all(const struct entity_pairs *p)
{
	return p->pairs.rows;
}

/* The pair's number, which is new if the pair is. */
must_use uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t caller, uint32_t callee);
/* Prefetches what entity_pairs_at will read for that pair. */
void entity_pairs_warm(const struct entity_pairs *p, uint32_t caller, uint32_t callee);
/* The pair's number if a matrix has it; else NO_ID. */
uint32_t entity_pairs_peek(const struct entity_pairs *p, uint32_t caller, uint32_t callee);

#endif
