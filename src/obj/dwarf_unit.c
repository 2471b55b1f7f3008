/*
 * Units: headers and root entries.
 */
#include "obj/dwarf_unit.h"

#include <dwarf.h>

#include "base/search.h"
#include "obj/dwarf_abbrev.h"

static uint64_t read_offset(struct cursor *c, unsigned int offset_size)
{
	return offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* Reads the rest of a header, after its length and version. */
static void read_header_fields(struct cursor *c, struct dwarf_unit *unit)
{
	unit->type = DW_UT_compile;
	if (unit->version >= 5) {
		unit->type = cursor_u8(c);
		unit->address_size = cursor_u8(c);
		unit->abbrev_offset = read_offset(c, unit->offset_size);
	} else {
		unit->abbrev_offset = read_offset(c, unit->offset_size);
		unit->address_size = cursor_u8(c);
	}
	if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
		unit->dwo_id = cursor_u64(c);
	else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
		cursor_skip(c, 8 + (uint64_t)unit->offset_size);
}

bool dwarf_unit_read_header(
	struct dwarf_file *f, uint64_t offset, struct dwarf_unit *unit, uint64_t *next)
{
	struct cursor c = dwarf_file_cursor(f, DWARF_INFO, offset);
	uint64_t length = cursor_u32(&c);

	*next = 0;
	*unit = (struct dwarf_unit){.file = f, .offset = offset, .offset_size = 4};
	if (length == 0xffffffff) {
		unit->offset_size = 8;
		length = cursor_u64(&c);
	} else if (length >= 0xfffffff0) {
		return false;
	}
	if (!cursor_ok(&c) || length > cursor_left(&c))
		return false;
	unit->end = *next = cursor_offset(&c) + length;
	unit->version = cursor_u16(&c);
	if (unit->version < 2 || unit->version > 5)
		return false;
	read_header_fields(&c, unit);
	unit->root_offset = cursor_offset(&c);
	return cursor_ok(&c) && unit->root_offset <= unit->end &&
	       (unit->address_size == 4 || unit->address_size == 8);
}

void dwarf_units_read(struct dwarf_file *f)
{
	uint64_t size = dwarf_file_section(f, DWARF_INFO).size;
	struct dwarf_unit header;
	uint64_t next;

	if (f->units.count)
		return;
	for (uint64_t offset = 0; offset < size; offset = next) {
		if (!dwarf_spend(f, 16))
			break;
		if (dwarf_unit_read_header(f, offset, &header, &next)) {
			struct dwarf_unit *unit = ARENA_NEW(f->context->arena, struct dwarf_unit);
			*unit = header;
			vec_push(&f->units, unit);
		}
		if (next == 0)
			break;
	}
}

struct dwarf_unit *dwarf_unit_at(struct dwarf_file *f, uint64_t offset)
{
	size_t next = partition_point(i, 0, f->units.count, f->units.data[i]->offset <= offset);

	if (next == 0 || offset >= f->units.data[next - 1]->end)
		return NULL;
	return f->units.data[next - 1];
}

struct cursor dwarf_unit_cursor(struct dwarf_unit *unit, uint64_t offset)
{
	struct dwarf_section info = dwarf_file_section(unit->file, DWARF_INFO);
	struct cursor c;

	cursor_init(&c, info.bytes, unit->end, unit->file->name, 0);
	if (offset < unit->root_offset)
		cursor_fail(&c, "a reference into a unit's header");
	cursor_seek(&c, offset);
	return c;
}

void dwarf_unit_skip_attrs(struct dwarf_unit *unit, struct cursor *c, const struct abbrev *abbrev)
{
	struct form_value value;

	if (abbrev->size != ABBREV_SIZE_VARIES) {
		cursor_skip(c, abbrev->size);
		return;
	}
	const struct attr_spec *attrs = abbrev_attrs(unit->abbrevs, abbrev);
	for (uint32_t i = 0; i < abbrev->attr_count && cursor_ok(c); i++)
		form_read(c, unit, &attrs[i], &value);
}

/* Sets defaults where the root does not say where the unit's part of a section begins. */
static void default_bases(struct dwarf_unit *unit)
{
	if (unit->version < 5)
		return;
	/* Skip the section headers: the bases point to their first entries. */
	unit->str_offsets_base += unit->offset_size == 8 ? 16 : 8;
	unit->addr_base = unit->offset_size == 8 ? 16 : 8;
	unit->rnglists_base += unit->offset_size == 8 ? 20 : 12;
}

static void keep_root_attr(
	struct dwarf_unit *unit, unsigned int name, const struct form_value *value)
{
	switch (name) {
	case DW_AT_name:
		unit->name = *value;
		break;
	case DW_AT_comp_dir:
		unit->comp_dir = *value;
		break;
	case DW_AT_language:
		form_number(value, &unit->language);
		break;
	case DW_AT_dwo_name:
	case DW_AT_GNU_dwo_name:
		unit->dwo_name = *value;
		break;
	case DW_AT_low_pc:
		unit->low_pc = *value;
		break;
	case DW_AT_high_pc:
		unit->high_pc = *value;
		break;
	case DW_AT_ranges:
		unit->ranges = *value;
		break;
	case DW_AT_stmt_list:
		unit->stmt_list = *value;
		break;
	case DW_AT_str_offsets_base:
		form_number(value, &unit->str_offsets_base);
		break;
	case DW_AT_addr_base:
	case DW_AT_GNU_addr_base:
		form_number(value, &unit->addr_base);
		break;
	case DW_AT_rnglists_base:
		form_number(value, &unit->rnglists_base);
		break;
	case DW_AT_GNU_ranges_base:
		form_number(value, &unit->ranges_base);
		break;
	case DW_AT_GNU_dwo_id:
		form_number(value, &unit->dwo_id);
		break;
	default:
		break;
	}
}

static void read_root_attrs(
	struct dwarf_unit *unit, struct cursor *c, const struct abbrev_table *table, uint64_t code)
{
	const struct abbrev *abbrev = abbrev_table_find(table, code);
	struct form_value value;

	if (abbrev == NULL)
		return;
	const struct attr_spec *attrs = abbrev_attrs(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attr_count; i++) {
		form_read(c, unit, &attrs[i], &value);
		if (!cursor_ok(c))
			return;
		keep_root_attr(unit, attrs[i].name, &value);
	}
}

void dwarf_unit_read_root(struct dwarf_unit *unit)
{
	if (unit->root_is_read)
		return;
	unit->root_is_read = true;
	default_bases(unit);
	struct cursor c = dwarf_unit_cursor(unit, unit->root_offset);
	uint64_t code = cursor_uleb(&c);
	if (code == 0)
		return;
	if (unit->abbrevs) {
		read_root_attrs(unit, &c, unit->abbrevs, code);
	} else {
		struct abbrev_table first;
		abbrev_table_read_until(&first, unit, code);
		read_root_attrs(unit, &c, &first, code);
		abbrev_table_deinit(&first);
	}
	if (!form_address(unit, &unit->low_pc, &unit->base_addr))
		unit->base_addr = 0;
}
