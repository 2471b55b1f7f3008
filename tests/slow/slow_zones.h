#ifndef SONDE_TESTS_SLOW_ZONES_H
#define SONDE_TESTS_SLOW_ZONES_H

/*
 * What the displays of zones must show, worked out from lists of stacks by the plain definitions:
 * no tree, no sharing, everything looked at again for each figure.
 */

#include <stdint.h>

enum { SLOW_DEPTH = 16, SLOW_NODES = 4096 };

/* An entity: a zone, and of spread recursion how many of it are above. */
struct slow_zone {
	uint32_t zone, depth;
};

/* A stack of zones, its own time and entries. */
struct slow_stack {
	struct slow_zone zone[SLOW_DEPTH];
	int size;
	uint32_t slot;
	double self, count;
};

struct slow_stacks {
	struct slow_stack stack[SLOW_NODES];
	int count;
};

struct slow_figures {
	double self, hier, count;
};

/* Names the second, third … of a zone in each stack differently. */
void slow_spread(struct slow_stacks *stacks);
struct slow_figures slow_flat(const struct slow_stacks *stacks, struct slow_zone zone);
/* On behalf of that caller; of what the focus calls; of the focus within itself; of all below it.
 */
struct slow_figures slow_parent(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone parent);
struct slow_figures slow_child(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone child);
struct slow_figures slow_recursion(const struct slow_stacks *stacks, struct slow_zone focus);
struct slow_figures slow_descendant(
	const struct slow_stacks *stacks, struct slow_zone focus, struct slow_zone zone);

#endif
