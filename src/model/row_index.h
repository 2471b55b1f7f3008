#ifndef SONDE_MODEL_ROW_INDEX_H
#define SONDE_MODEL_ROW_INDEX_H

/*
 * Which row of weights belongs to a stack, while a profile is built.  Rows are numbered from 1 as
 * they come; row 0 belongs to no stack.
 *
 * Sources with many stacks mostly have their weights in the order of stacks, each once.  As long as
 * that is so, the rows' stacks are a list, four bytes a row; when a stack comes late or again, the
 * list becomes a table, four bytes for each stack of the profile.
 */

#include <stdbool.h>

#include "base/compiler.h"
#include "base/vec.h"
#include "model/ids.h"

struct row_index {
	uint32_t count;	      /* rows, including row 0 */
	VEC(stack_id) stacks; /* [row - 1] ascending, while there is no table */
	VEC(uint32_t) table;  /* [stack] row, or 0; may end before stacks without a row */
	bool has_table;
	size_t expected; /* the size that a table is made with */
};

void row_index_init(struct row_index *ix);
void row_index_deinit(struct row_index *ix);
/* Makes the table large enough for that many stacks, once there is one. */
void row_index_expect(struct row_index *ix, size_t stacks);
/* Makes the table. */
void row_index_tabulate(struct row_index *ix);

/* The stack's row, or 0. */
static inline uint32_t row_index_find(struct row_index *ix, stack_id stack)
{
	if (unlikely(!ix->has_table)) {
		size_t count = ix->stacks.count;

		if (count == 0 || stack.i < ix->stacks.data[0].i ||
			stack.i > ix->stacks.data[count - 1].i)
			return 0;
		row_index_tabulate(ix);
	}
	return stack.i < ix->table.count ? ix->table.data[stack.i] : 0;
}

/* Gives a row to a stack that has none; returns it. */
uint32_t row_index_add(struct row_index *ix, stack_id stack);
/* Gives a stack that row, which no other stack keeps, or none (0).  Makes the table. */
void row_index_set(struct row_index *ix, stack_id stack, uint32_t row);

#endif
