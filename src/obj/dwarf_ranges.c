/*
 * Range lists.
 */
#include "obj/dwarf_ranges.h"

#include <dwarf.h>

#include "obj/dwarf_unit.h"

struct list_reader {
	struct dwarf_unit *unit; /* the unit of the list */
	struct cursor cursor;
	uint64_t base;	 /* the base of offsets in the list */
	bool is_dropped; /* the base is that of code which the linker dropped, and so are offsets */
	struct pc_ranges *out;
};

static uint64_t read_address(struct list_reader *r)
{
	return r->unit->address_size == 8 ? cursor_u64(&r->cursor) : cursor_u32(&r->cursor);
}

static uint64_t read_indexed_address(struct list_reader *r)
{
	uint64_t addr = 0;

	if (!form_indexed_address(r->unit, cursor_uleb(&r->cursor), &addr))
		cursor_fail(&r->cursor, "an address outside of .debug_addr");
	return addr;
}

/*
 * Sets the base.  Linkers give dropped code an address like 0 or -1; added to an offset, that could
 * be anywhere.
 */
static void set_base(struct list_reader *r, uint64_t base)
{
	r->base = base;
	r->is_dropped = !dwarf_is_text(r->unit->file->context, base);
}

static void add_range(struct list_reader *r, uint64_t low, uint64_t high)
{
	if (cursor_ok(&r->cursor) && low < high && dwarf_is_text(r->unit->file->context, low))
		vec_push(r->out, (struct pc_range){low, high});
}

/*
 * .debug_ranges: pairs of offsets from the base; a pair of zeros ends it, -1 sets the base.  From a
 * base of 0, they are addresses.
 */
static void read_old_list(struct list_reader *r)
{
	uint64_t highest = r->unit->address_size == 8 ? UINT64_MAX : UINT32_MAX;

	while (cursor_ok(&r->cursor) && dwarf_spend(r->unit->file, 1)) {
		uint64_t low = read_address(r), high = read_address(r);
		if (low == 0 && high == 0)
			break;
		if (low == highest)
			set_base(r, high);
		else if (r->base == 0 || !r->is_dropped)
			add_range(r, r->base + low, r->base + high);
	}
}

/* One entry of .debug_rnglists; false at the end. */
static bool read_list_entry(struct list_reader *r)
{
	uint64_t low, high;

	switch (cursor_u8(&r->cursor)) {
	case DW_RLE_base_addressx:
		set_base(r, read_indexed_address(r));
		return true;
	case DW_RLE_base_address:
		set_base(r, read_address(r));
		return true;
	case DW_RLE_startx_endx:
		low = read_indexed_address(r);
		high = read_indexed_address(r);
		break;
	case DW_RLE_startx_length:
		low = read_indexed_address(r);
		high = low + cursor_uleb(&r->cursor);
		break;
	case DW_RLE_offset_pair:
		low = r->base + cursor_uleb(&r->cursor);
		high = r->base + cursor_uleb(&r->cursor);
		if (r->is_dropped)
			return true;
		break;
	case DW_RLE_start_end:
		low = read_address(r);
		high = read_address(r);
		break;
	case DW_RLE_start_length:
		low = read_address(r);
		high = low + cursor_uleb(&r->cursor);
		break;
	default: /* DW_RLE_end_of_list, or an unknown one */
		return false;
	}
	add_range(r, low, high);
	return true;
}

static void read_new_list(struct list_reader *r)
{
	while (cursor_ok(&r->cursor) && dwarf_spend(r->unit->file, 1))
		if (!read_list_entry(r))
			break;
}

/* The offset of a DW_FORM_rnglistx list, from the offset table at the unit's base. */
static uint64_t indexed_list(struct dwarf_unit *unit, uint64_t index)
{
	uint64_t at;

	if (__builtin_mul_overflow(index, (uint64_t)unit->offset_size, &at) ||
		__builtin_add_overflow(at, unit->rnglists_base, &at))
		return UINT64_MAX;
	struct cursor c = dwarf_file_cursor(unit->file, DWARF_RNGLISTS, at);
	uint64_t offset = unit->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
	if (!cursor_ok(&c) || __builtin_add_overflow(offset, unit->rnglists_base, &at))
		return UINT64_MAX;
	return at;
}

static void read_list(
	struct dwarf_unit *unit, const struct form_value *ranges, struct pc_ranges *out)
{
	struct dwarf_unit *home = unit->skeleton ? unit->skeleton : unit;
	struct list_reader r = {.unit = unit, .out = out};

	if (home->base_addr)
		set_base(&r, home->base_addr);
	if (unit->version >= 5) {
		uint64_t offset = ranges->form == DW_FORM_rnglistx
					  ? indexed_list(unit, ranges->number)
					  : ranges->number;
		r.cursor = dwarf_file_cursor(unit->file, DWARF_RNGLISTS, offset);
		read_new_list(&r);
		return;
	}
	/* The lists of GNU's split DWARF 4 units are in the linked file, relative to a base. */
	uint64_t offset = ranges->number;
	if (unit->skeleton && __builtin_add_overflow(offset, home->ranges_base, &offset))
		return;
	r.cursor = dwarf_file_cursor(home->file, DWARF_RANGES, offset);
	read_old_list(&r);
}

void pc_ranges_read(struct dwarf_unit *unit, const struct form_value *low_pc,
	const struct form_value *high_pc, const struct form_value *ranges, struct pc_ranges *out)
{
	uint64_t low, high;

	out->count = 0;
	if (ranges->form) {
		read_list(unit, ranges, out);
		return;
	}
	if (!form_address(unit, low_pc, &low))
		return;
	if (!form_address(unit, high_pc, &high)) {
		if (!form_number(high_pc, &high) || __builtin_add_overflow(low, high, &high))
			return;
	}
	if (low < high && dwarf_is_text(unit->file->context, low))
		vec_push(out, (struct pc_range){low, high});
}
