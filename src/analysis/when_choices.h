#ifndef SONDE_ANALYSIS_WHEN_CHOICES_H
#define SONDE_ANALYSIS_WHEN_CHOICES_H

/*
 * Lists of choices: which alternatives were taken, one group after the other.  Equal lists have the
 * same number.  A collection frees lists that are no longer used; the owner starts it between two
 * steps of its work:
 *
 * 	if (choices_are_many(c)) {
 * 		choices_mark_begin(c);
 * 		choices_mark(c, list);                    for each list that it has
 * 		choices_collect(c);
 * 		list = choices_moved(c, list);            for the same
 * 	}
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct choice {
	uint32_t parent; /* the list without its last choice; < own number */
	uint32_t first;	 /* the list with the leftmost alternative added; 0: not requested yet */
	uint64_t label;	 /* of two different lists in order, the left one's is less */
};

struct choices {
	VEC(struct choice) lists; /* 0: the empty one */
	VEC(struct choice) spare; /* for collections */
	VEC(uint32_t) moved;	  /* [list] during a collection; 0: unused */
	size_t marks;		  /* made since the collection began */
	size_t few, many;
	/* For tests: the most lists at once, and the steps of comparisons and collections. */
	size_t lists_max, steps;
};

/* For choices_init: 256 KB of lists. */
#define CHOICES_FEW 16384

/* The empty list. */
#define CHOICES_NONE 0

/* few: up to this number, lists are never too many. */
void choices_init(struct choices *c, size_t few);
void choices_deinit(struct choices *c);
/*
 * The list with one more choice, the leftmost of `alternatives`; the lists with the others have the
 * numbers after it.  The same list is always followed by the same number of alternatives, two or
 * more.
 */
uint32_t choices_add(struct choices *c, uint32_t list, uint32_t alternatives);
/*
 * < 0: a is left of b where they first differ, > 0: b is left, 0: they are equal.  Neither may be a
 * prefix of the other.  Takes as many steps as there are choices from there on.
 */
int choices_compare(struct choices *c, uint32_t a, uint32_t b);
bool choices_are_leftmost(const struct choices *c, uint32_t list);

/*
 * Whether there are several times as many lists as the last collection left, and as it had marks:
 * so all collections together take time proportional to the number of lists made.
 */
static inline bool choices_are_many(const struct choices *c)
{
	return c->lists.count > c->many;
}
void choices_mark_begin(struct choices *c);
void choices_mark(struct choices *c, uint32_t list);
void choices_collect(struct choices *c);
/* The new number of a marked list; until the next choices_mark_begin. */
uint32_t choices_moved(const struct choices *c, uint32_t list);

#endif
