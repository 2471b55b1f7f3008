#ifndef SONDE_OBJ_DWARF_ABBREV_H
#define SONDE_OBJ_DWARF_ABBREV_H

/*
 * Abbreviation tables (DWARF 5 section 7.5.3): which attributes, in which forms, the entries of a
 * compilation unit have.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct dwarf_file;
struct dwarf_unit;
struct cursor;

struct attr_spec {
	uint16_t name, form;	/* DW_AT_…, DW_FORM_… */
	int64_t implicit_const; /* DW_FORM_implicit_const */
};

#define ABBREV_SIZE_VARIES UINT32_MAX

struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool has_children;
	uint32_t first_attr, attr_count; /* in the table's attrs */
	uint32_t size;			 /* bytes of all attributes, or ABBREV_SIZE_VARIES */
	uint32_t sibling; /* the index of DW_AT_sibling among the attributes, or attr_count */
};

struct abbrev_table {
	VEC(struct abbrev) abbrevs;
	VEC(struct attr_spec) attrs;
	bool is_dense;	    /* abbrevs.data[code - 1] has that code, as all compilers number them */
	struct map by_code; /* else: code → index */
};

/* The abbreviation with that code, or NULL. */
const struct abbrev *abbrev_table_find(const struct abbrev_table *t, uint64_t code);
static inline const struct attr_spec *abbrev_attrs(
	const struct abbrev_table *t, const struct abbrev *a)
{
	return a->attr_count ? &t->attrs.data[a->first_attr] : NULL;
}

/* The table of a unit, read on first use and owned by its file; empty if the bytes are bad. */
const struct abbrev_table *abbrev_table_of_unit(struct dwarf_unit *unit);
/*
 * Reads the table at a unit's offset only as far as the entry for code: for units that only need
 * their root.  The caller frees the result with abbrev_table_deinit.
 */
void abbrev_table_read_until(struct abbrev_table *t, struct dwarf_unit *unit, uint64_t code);
void abbrev_table_deinit(struct abbrev_table *t);

#endif
