/* Builds the rows of a function.  See cfi_rows.h. */
#include "obj/cfi_rows.h"

#include <assert.h>

/* A larger allocation is freed: few functions have hundreds of rows. */
enum { ROWS_KEPT = 1 << 16 };

void cfi_rows_deinit(struct cfi_rows *rows)
{
	vec_deinit(&rows->rows);
}

void cfi_rows_clear(struct cfi_rows *rows, const struct cfi_section *section)
{
	if (rows->rows.capacity > ROWS_KEPT)
		vec_deinit(&rows->rows);
	rows->rows.count = 0;
	rows->section = section;
}

static void add(struct cfi_rows *rows, uint64_t obj_addr, uint16_t number)
{
	size_t count = rows->rows.count;
	struct cfi_row *last = count ? &rows->rows.data[count - 1] : NULL;

	assert(last == NULL || last->obj_addr <= obj_addr);
	if (last && last->obj_addr == obj_addr)
		last->number = number;
	else if (last == NULL || last->number != number)
		vec_push(&rows->rows, (struct cfi_row){obj_addr, number});
}

void cfi_rows_add(struct cfi_rows *rows, uint64_t obj_addr, const struct cfi_slow_rule *row)
{
	add(rows, obj_addr, cfi_rules_number(rows->rules, rows->section, row));
}

void cfi_rows_add_gap(struct cfi_rows *rows, uint64_t obj_addr)
{
	add(rows, obj_addr, CFI_RULE_NONE);
}
