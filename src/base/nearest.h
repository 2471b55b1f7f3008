#ifndef SONDE_BASE_NEAREST_H
#define SONDE_BASE_NEAREST_H

/*
 * "Did you mean …?": the candidate nearest to what was typed.
 *
 *	struct nearest n;
 *	nearest_init(&n, str_from("reprot"));
 *	nearest_offer(&n, STR("record"));
 *	nearest_offer(&n, STR("report"));
 *	n.best is "report"
 */

#include "base/str.h"

struct nearest {
	struct str wanted;
	struct str best; /* borrowed from the candidates; size 0: no candidate is near enough */
	size_t best_distance;
};

/* wanted is borrowed until the last offer. */
void nearest_init(struct nearest *n, struct str wanted);
/* Keeps the candidate if it is nearer than all before; among equals, the first stays. */
void nearest_offer(struct nearest *n, struct str candidate);

/* The same for several suggestions; candidates must live until the last offer. */
#define NEAREST_FEW 3

struct nearest_few {
	struct str wanted;
	struct str names[NEAREST_FEW]; /* [count] best first; among equals, in the order offered */
	size_t distances[NEAREST_FEW];
	size_t count;
};

void nearest_few_init(struct nearest_few *n, struct str wanted);
/* A candidate that is offered again counts once. */
void nearest_few_offer(struct nearest_few *n, struct str candidate);
/* Adds "; did you mean 'a', 'b' or 'c'?", or nothing if no candidate is near enough. */
void nearest_few_put(const struct nearest_few *n, struct strbuf *out);

/*
 * The number of edits that turn a into b: a byte inserted, deleted or changed, or two neighbours
 * transposed, each counting 1, with no byte edited twice.  Costs a.size × b.size.
 */
size_t nearest_distance(struct str a, struct str b);

#endif
