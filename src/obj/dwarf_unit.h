#ifndef SONDE_OBJ_DWARF_UNIT_H
#define SONDE_OBJ_DWARF_UNIT_H

/*
 * Units of .debug_info (DWARF 5 sections 3.1 and 7.5.1): usually one for each compiled source file.
 * A unit's header is read when the file's units are listed; its root entry, which has its code
 * ranges and the location of its other data, is read on first use.
 */

#include <stdbool.h>
#include <stdint.h>

#include "obj/dwarf_file.h"
#include "obj/dwarf_form.h"

struct abbrev_table;
struct line_files;
struct home_table;

struct dwarf_unit {
	struct dwarf_file *file;
	uint64_t offset, end; /* of the whole unit in .debug_info */
	uint64_t root_offset; /* of its root entry */
	uint64_t abbrev_offset;
	uint64_t dwo_id; /* 0: not split */
	uint16_t version;
	uint8_t type; /* DW_UT_… */
	uint8_t address_size, offset_size;

	const struct abbrev_table *abbrevs; /* NULL: not read yet */

	/* From the root, by dwarf_unit_read_root. */
	bool root_is_read;
	struct form_value name, comp_dir, dwo_name, low_pc, high_pc, ranges, stmt_list;
	uint64_t base_addr; /* the address in low_pc, 0 if there is none */
	uint64_t language;  /* DW_LANG_…, 0: unknown */
	uint64_t str_offsets_base, addr_base, rnglists_base, ranges_base;

	struct dwarf_unit *skeleton; /* of a split unit: its place in the linked file */
	struct dwarf_unit *split;    /* of a skeleton: the unit with the contents, if found */
	bool split_is_looked_for;
	struct line_files *files;	/* NULL: not read yet */
	const struct home_table *homes; /* NULL: not read yet */
};

/* Lists the units of f; bad ones are left out.  A second call does nothing. */
void dwarf_units_read(struct dwarf_file *f);
/* The unit that holds an offset of .debug_info, or NULL. */
struct dwarf_unit *dwarf_unit_at(struct dwarf_file *f, uint64_t offset);
/*
 * Reads the header at an offset of .debug_info into *unit; false if it is bad.  *next is set to the
 * offset of the next unit, or 0 if that is unknown.
 */
bool dwarf_unit_read_header(
	struct dwarf_file *f, uint64_t offset, struct dwarf_unit *unit, uint64_t *next);
void dwarf_unit_read_root(struct dwarf_unit *unit);

/* A cursor on the unit's part of .debug_info, at offset (of the section); bad if it is outside. */
struct cursor dwarf_unit_cursor(struct dwarf_unit *unit, uint64_t offset);
/* The offset in .debug_info of a cursor from dwarf_unit_cursor. */
static inline uint64_t dwarf_unit_offset(const struct cursor *c)
{
	return cursor_offset(c);
}
/* Skips the attributes of an entry, starting at the cursor. */
struct abbrev;
void dwarf_unit_skip_attrs(struct dwarf_unit *unit, struct cursor *c, const struct abbrev *abbrev);

#endif
