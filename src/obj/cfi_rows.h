#ifndef SONDE_OBJ_CFI_ROWS_H
#define SONDE_OBJ_CFI_ROWS_H

/*
 * A CFI table in the making: rows are added in the order of their addresses; each row's registers
 * are turned into a rule of the dictionary.  Private to the compiler of CFI tables.
 *
 * A row is 32 bits: the low half of its address, above the rule's number.  Rows stand in pages of
 * 64 KiB of addresses; each page begins with a row for its first address, so that a look-up never
 * leaves its page.  Rule 0 is "no rule": gaps between functions are rows too.
 */

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"
#include "obj/cfi.h"

enum { CFI_PAGE_BITS = 16, CFI_RULES_MAX = 1 << 16, CFI_MEMO_SIZE = 1024 };

struct cfi_table {
	uint64_t base_addr;	  /* of the first page */
	VEC(uint32_t) page_first; /* page → its first row; one more than there are pages */
	VEC(uint32_t) rows;
	VEC(uint32_t) starts; /* of functions, less base_addr; ascending, below 4 GB */
	VEC(struct cfi_rule) rules;
	VEC(struct cfi_slow_rule) slow_rules;
	struct arena *arena;
	struct str_table expressions;
};

struct cfi_rows {
	struct cfi_table *table;
	const struct cfi_section
		*section;	    /* the expressions of the rows at hand are in its bytes */
	uint16_t last;		    /* rule of the last row */
	struct map rule_numbers;    /* key of a fast rule → number */
	struct str_table slow_keys; /* bytes of a struct cfi_slow_rule → its index */
	VEC(uint16_t) slow_numbers; /* index of a slow rule → its rule number */
	struct {
		uint64_t a, b;
		uint16_t number;
	} memo[CFI_MEMO_SIZE]; /* the latest of rule_numbers */
	bool too_many;	       /* rules: some rows say "no rule" instead */
};

/* Begins a table for addresses from low; rows is to be finished with cfi_rows_finish. */
void cfi_rows_begin(struct cfi_rows *rows, struct cfi_table *table, uint64_t low);
/* From obj_addr on, which must not be lower than the last one, these rules hold. */
void cfi_rows_add(struct cfi_rows *rows, uint64_t obj_addr, const struct cfi_slow_rule *row);
/* From obj_addr on there is no rule. */
void cfi_rows_add_gap(struct cfi_rows *rows, uint64_t obj_addr);
/* A function begins at obj_addr, which must not be lower than the last one. */
void cfi_rows_add_start(struct cfi_rows *rows, uint64_t obj_addr);
/* Completes the table and frees what was needed to build it. */
void cfi_rows_finish(struct cfi_rows *rows);

#endif
