/*
 * Reading attribute values.
 */
#include "obj/dwarf_form.h"

#include <dwarf.h>

#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_unit.h"

/* Clang's form for an indexed address plus a constant; not in elfutils' header. */
#define FORM_LLVM_addrx_offset 0x2001

uint32_t form_fixed_size(unsigned int form, const struct dwarf_unit *unit)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return unit->address_size;
	case DW_FORM_ref_addr:
		return unit->version <= 2 ? unit->address_size : unit->offset_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return unit->offset_size;
	default:
		return FORM_SIZE_VARIES;
	}
}

/* A number of 1 to 8 bytes. */
static uint64_t read_number(struct cursor *c, uint32_t size)
{
	const uint8_t *p = cursor_bytes(c, size);
	uint64_t number = 0;

	if (p)
		memcpy(&number, p, size);
	return number;
}

static void read_varying(struct cursor *c, unsigned int form, struct form_value *value)
{
	switch (form) {
	case DW_FORM_string:
		value->bytes = cursor_string(c);
		break;
	case DW_FORM_sdata:
		value->number = (uint64_t)cursor_sleb(c);
		break;
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		value->number = cursor_uleb(c);
		break;
	case DW_FORM_block1:
		cursor_skip(c, cursor_u8(c));
		break;
	case DW_FORM_block2:
		cursor_skip(c, cursor_u16(c));
		break;
	case DW_FORM_block4:
		cursor_skip(c, cursor_u32(c));
		break;
	case DW_FORM_block:
	case DW_FORM_exprloc:
		cursor_skip(c, cursor_uleb(c));
		break;
	case FORM_LLVM_addrx_offset:
		value->form = 0;
		(void)cursor_uleb(c);
		cursor_skip(c, 4);
		break;
	default:
		cursor_fail(c, "an attribute of an unknown form");
	}
}

void form_read(struct cursor *c, const struct dwarf_unit *unit, const struct attr_spec *attr,
	struct form_value *value)
{
	unsigned int form = attr->form;

	if (form == DW_FORM_indirect)
		form = (unsigned int)cursor_uleb_to(c, UINT16_MAX);
	*value = (struct form_value){.form = (uint16_t)form};
	uint32_t size = form_fixed_size(form, unit);
	if (form == DW_FORM_implicit_const)
		value->number = (uint64_t)attr->implicit_const;
	else if (size == FORM_SIZE_VARIES)
		read_varying(c, form, value);
	else if (size > 8)
		cursor_skip(c, size);
	else
		value->number = read_number(c, size);
}

/* The string whose offset is at an index of .debug_str_offsets. */
static struct str indexed_string(struct dwarf_unit *unit, uint64_t index)
{
	uint64_t at;

	if (__builtin_mul_overflow(index, (uint64_t)unit->offset_size, &at) ||
		__builtin_add_overflow(at, unit->str_offsets_base, &at))
		return STR("");
	struct cursor c = dwarf_file_cursor(unit->file, DWARF_STR_OFFSETS, at);
	uint64_t offset = read_number(&c, unit->offset_size);
	return cursor_ok(&c) ? dwarf_file_string(unit->file, DWARF_STR, offset) : STR("");
}

struct str form_string(struct dwarf_unit *unit, const struct form_value *value)
{
	switch (value->form) {
	case DW_FORM_string:
		return value->bytes;
	case DW_FORM_strp:
		return dwarf_file_string(unit->file, DWARF_STR, value->number);
	case DW_FORM_line_strp:
		return dwarf_file_string(unit->file, DWARF_LINE_STR, value->number);
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_strp_alt:
		if (unit->file->alternate == NULL)
			return STR("");
		return dwarf_file_string(unit->file->alternate, DWARF_STR, value->number);
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		return indexed_string(unit, value->number);
	default:
		return STR("");
	}
}

bool form_number(const struct form_value *value, uint64_t *number)
{
	switch (value->form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
	case DW_FORM_sec_offset:
		*number = value->number;
		return true;
	default:
		return false;
	}
}

bool form_indexed_address(struct dwarf_unit *unit, uint64_t index, uint64_t *obj_addr)
{
	/* A split unit's addresses are in the linked file. */
	struct dwarf_unit *home = unit->skeleton ? unit->skeleton : unit;
	uint64_t at;

	if (__builtin_mul_overflow(index, (uint64_t)home->address_size, &at) ||
		__builtin_add_overflow(at, home->addr_base, &at))
		return false;
	struct cursor c = dwarf_file_cursor(home->file, DWARF_ADDR, at);
	uint64_t addr = read_number(&c, home->address_size);
	if (cursor_ok(&c))
		*obj_addr = addr;
	return cursor_ok(&c);
}

bool form_address(struct dwarf_unit *unit, const struct form_value *value, uint64_t *obj_addr)
{
	switch (value->form) {
	case DW_FORM_addr:
		*obj_addr = value->number;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return form_indexed_address(unit, value->number, obj_addr);
	default:
		return false;
	}
}

bool form_reference(struct dwarf_unit *unit, const struct form_value *value,
	struct dwarf_file **file, uint64_t *offset)
{
	*file = unit->file;
	switch (value->form) {
	case DW_FORM_ref1:
	case DW_FORM_ref2:
	case DW_FORM_ref4:
	case DW_FORM_ref8:
	case DW_FORM_ref_udata:
		return !__builtin_add_overflow(unit->offset, value->number, offset);
	case DW_FORM_ref_addr:
		*offset = value->number;
		return true;
	case DW_FORM_ref_sup4:
	case DW_FORM_ref_sup8:
	case DW_FORM_GNU_ref_alt:
		*file = unit->file->alternate;
		*offset = value->number;
		return *file != NULL;
	default:
		return false;
	}
}
