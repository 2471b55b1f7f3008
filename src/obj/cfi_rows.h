#ifndef SONDE_OBJ_CFI_ROWS_H
#define SONDE_OBJ_CFI_ROWS_H

/*
 * Builds the rows of one function: they are added in address order, and each row's registers become
 * a rule of the dictionary.  Private to the compiler of CFI tables.
 */

#include "base/vec.h"
#include "obj/cfi_rules.h"

/* This rule holds from obj_addr on. */
struct cfi_row {
	uint64_t obj_addr;
	uint16_t number;
};

struct cfi_rows {
	struct cfi_rules *rules;
	const struct cfi_section *section; /* it contains the expressions of the current rows */
	VEC(struct cfi_row) rows;	   /* ascending, distinct */
};

void cfi_rows_deinit(struct cfi_rows *rows);
/* Removes all rows. */
void cfi_rows_clear(struct cfi_rows *rows, const struct cfi_section *section);
/* These rules hold from obj_addr on, which must not be lower than the last one. */
void cfi_rows_add(struct cfi_rows *rows, uint64_t obj_addr, const struct cfi_slow_rule *row);
/* There is no rule from obj_addr on. */
void cfi_rows_add_gap(struct cfi_rows *rows, uint64_t obj_addr);

#endif
