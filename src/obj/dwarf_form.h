#ifndef SONDE_OBJ_DWARF_FORM_H
#define SONDE_OBJ_DWARF_FORM_H

/*
 * Attribute values (DWARF 5 section 7.5.6).  Reading one consumes its bytes from a cursor; its
 * value, which may be in another section, is resolved only when needed.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct attr_spec;
struct cursor;
struct dwarf_file;
struct dwarf_unit;

struct form_value {
	uint16_t form;	  /* DW_FORM_…, 0: the attribute is missing */
	uint64_t number;  /* the constant, offset, index or address as encoded */
	struct str bytes; /* DW_FORM_string */
};

#define FORM_SIZE_VARIES UINT32_MAX

/* The bytes that a form takes in this unit, or FORM_SIZE_VARIES. */
uint32_t form_fixed_size(unsigned int form, const struct dwarf_unit *unit);
/* Reads one value; an unknown form makes the cursor bad. */
void form_read(struct cursor *c, const struct dwarf_unit *unit, const struct attr_spec *attr,
	struct form_value *value);

/* A string; empty if the value is not a string. */
struct str form_string(struct dwarf_unit *unit, const struct form_value *value);
/* A constant or section offset; false if the value is neither. */
bool form_number(const struct form_value *value, uint64_t *number);
/* An address, direct or by index. */
bool form_address(struct dwarf_unit *unit, const struct form_value *value, uint64_t *obj_addr);
/* The address with that index in .debug_addr. */
bool form_indexed_address(struct dwarf_unit *unit, uint64_t index, uint64_t *obj_addr);
/* The entry that a reference points to: the file, and the offset in its .debug_info. */
bool form_reference(struct dwarf_unit *unit, const struct form_value *value,
	struct dwarf_file **file, uint64_t *offset);

#endif
