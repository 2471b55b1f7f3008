#ifndef SONDE_ANALYSIS_CHILD_TABLE_H
#define SONDE_ANALYSIS_CHILD_TABLE_H

/*
 * Numbers the nodes of a growing tree: the child of a node that stands for an entity gets the next
 * free number at first sight.  Node 0, the root, is there from the start; parent < own number.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct child {
	uint32_t parent, entity; /* both NO_ID for the root */
	uint32_t first;		 /* its own first child; 0: none yet */
};

struct child_table {
	VEC(struct child) nodes;
	uint32_t *slots; /* [slot_count] node, 0 is free; see child_table.c */
	size_t slot_count, used;
};

/* nodes_max: no more will be asked for, the root included; memory is used as they come. */
void child_table_init(struct child_table *t, size_t nodes_max);
void child_table_deinit(struct child_table *t);
/* The child of `parent` for `entity`; *added says whether it is new. */
uint32_t child_table_at(struct child_table *t, uint32_t parent, uint32_t entity, bool *added);

#endif
