#ifndef SONDE_TESTS_SLOW_CFI_H
#define SONDE_TESTS_SLOW_CFI_H

/*
 * Unwind rules of an object, all of them at once: each entry's program run in the order of
 * addresses, each gap between entries decoded whole.
 */

#include "obj/cfi_parse.h"
#include "obj/cfi_rows.h"

struct slow_cfi {
	const struct cfi_source *source;
	struct cfi_entries entries;
	struct cfi_rules rules;
	struct cfi_rows one; /* of the function at hand */
	VEC(struct cfi_row) rows;
};

/* Of a source with one section or none; borrows it. */
void slow_cfi_init(struct slow_cfi *slow, const struct cfi_source *source);
void slow_cfi_deinit(struct slow_cfi *slow);
/* Whether a table says the same of an address. */
bool slow_cfi_agrees(const struct slow_cfi *slow, struct cfi_table *table, uint64_t obj_addr);

#endif
