#ifndef SONDE_ANALYSIS_ENTITY_PAIRS_H
#define SONDE_ANALYSIS_ENTITY_PAIRS_H

/*
 * Numbers pairs of entities, callers and callees, in the order in which they first come.
 *
 * A large profile has millions of pairs, looked up once for each node, and each lookup is a read
 * from a random place in memory.  Where the pairs that can be are not many more than nodes, or few
 * entities are asked for, the numbers are a matrix: one read, which can begin early.  Otherwise
 * they are a hash table.
 */

#include <stdbool.h>

#include "base/compiler.h"
#include "base/vec.h"
#include "model/ids.h"

/* Entities, or NO_ID, or NO_ID - 1: what these mean is for the caller to say. */
struct entity_pair {
	uint32_t from, to;
};

struct entity_pairs {
	VEC(struct entity_pair) pairs; /* [number] */
	size_t width;		       /* entities, and the two that are none */
	/* The matrix; NULL: a hash table. */
	uint32_t *cells;  /* [row][entity] number + 1; 0: not there */
	uint32_t *row_of; /* [entity] row in which it calls, + 1 where it is called; NULL: itself */
	/* The hash table: open addressing, at most half full. */
	uint32_t *slots; /* number + 1; 0: free */
	size_t slot_count;
};

/*
 * chosen: the entities of which one at least is in each pair; NULL: all.  A matrix of up to
 * cells_max cells is made, four bytes each.
 */
void entity_pairs_init(
	struct entity_pairs *p, size_t entity_count, const bool *chosen, size_t cells_max);
void entity_pairs_deinit(struct entity_pairs *p);
/* No more pairs will come: frees all but these. */
void entity_pairs_end(struct entity_pairs *p);
/* The pair's number, which is new if the pair is. */
must_use uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t from, uint32_t to);
/* Begins to read what entity_pairs_at will for that pair; any numbers are allowed. */
void entity_pairs_warm(const struct entity_pairs *p, uint32_t from, uint32_t to);
/* The pair's number if it is quickly found, in a matrix; else NO_ID. */
uint32_t entity_pairs_peek(const struct entity_pairs *p, uint32_t from, uint32_t to);

#endif
