#ifndef SONDE_ANALYSIS_ENTITY_PAIRS_H
#define SONDE_ANALYSIS_ENTITY_PAIRS_H

/*
 * Numbers pairs of entities, callers and callees.
 *
 * A large profile has millions of pairs, looked up once for each node, and each lookup is a read
 * from a random place in memory.  If there are not many more possible pairs than nodes, or few
 * entities are asked for, the pairs are first marked in a set, a bit for each that is possible, and
 * a pair's number is its rank in the set (base/rank_set.h): the millions of lookups stay in the
 * processor's caches, the numbers of one caller's pairs are consecutive, and tables by number are
 * made once, in their final size.  Otherwise, or if they are not known before, they are in a hash
 * table, numbered as they come.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/rank_set.h"
#include "base/row_table.h"
#include "model/ids.h"

/* Entities, or NO_ID; in a hash table any other number, too.  The caller defines what they mean. */
struct entity_pair {
	uint32_t caller, callee;
};

/* A zeroed one is empty, a hash table. */
struct entity_pairs {
	struct row_table pairs; /* of struct entity_pair, by number; of a set: once it is closed */
	/* Of a set; all NULL if it is a hash table. */
	struct arena *arena;
	uint64_t *bits; /* [row * width + column] */
	struct rank_set set;
	uint32_t *column; /* [entity + 1]; NO_ID + 1 is 0 */
	uint32_t *row;	  /* [column] its row as a caller, + 1 as a callee; NULL: its own number */
	size_t width;	  /* columns: NO_ID, and the entities */
};

/*
 * Begins a set, if that takes at most 6 bytes for each of node_count nodes.  order:
 * [entity + 1] all different and at most entity_count: pairs are to be numbered by that
 * of their callers, then by that of their callees; NULL: in any order.  chosen: [entity] one of
 * each pair is chosen; NULL: all are.  Where only some are chosen, the order does not hold.
 */
void entity_pairs_expect(struct entity_pairs *p, size_t entity_count, const uint32_t *order,
	const bool *chosen, size_t node_count);
/* Adds a pair, perhaps again. */
void entity_pairs_mark(struct entity_pairs *p, uint32_t caller, uint32_t callee);
/* All pairs are marked: from now on they have numbers. */
void entity_pairs_close(struct entity_pairs *p);
void entity_pairs_deinit(struct entity_pairs *p);
/* Frees everything but the pairs: no more will be looked up. */
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

/* The pair's number.  It may be a new one only in a hash table, and then is the next. */
must_use uint32_t entity_pairs_at(struct entity_pairs *p, uint32_t caller, uint32_t callee);
/* Prefetches what a lookup of that pair will read. */
void entity_pairs_warm(const struct entity_pairs *p, uint32_t caller, uint32_t callee);
/* The pair's number if it costs little: a set's; else NO_ID. */
has_no_effects uint32_t entity_pairs_peek(
	const struct entity_pairs *p, uint32_t caller, uint32_t callee);

#endif
