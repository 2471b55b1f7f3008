/*
 * Units by address.
 *
 * The ranges of all units are collected but not sorted by address: they are processed once, in unit
 * order, and each takes the requested addresses in it that are still unassigned.  A list of "the
 * next unassigned address", with path compression, keeps this cheap however much ranges overlap.
 */
#include "obj/dwarf_index.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/search.h"
#include "base/vec.h"
#include "obj/addrs.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_ranges.h"
#include "obj/dwarf_unit.h"

struct unit_range {
	uint32_t unit;
	struct pc_range range;
};

struct index_builder {
	struct dwarf_file *file;
	VEC(struct unit_range) ranges;
	bool *has_ranges; /* [units]: .debug_aranges covers it */
};

/* The index of the unit with its header at an offset. */
static bool unit_by_offset(struct dwarf_file *f, uint64_t offset, uint32_t *index)
{
	size_t at = partition_point(i, 0, f->units.count, f->units.data[i]->offset < offset);

	*index = (uint32_t)at;
	return at < f->units.count && f->units.data[at]->offset == offset;
}

/* The tuples of one set, up to its end. */
static void read_tuples(struct index_builder *b, struct cursor *set, uint32_t unit, bool is_wide)
{
	while (!cursor_at_end(set) && dwarf_spend(b->file, 1)) {
		uint64_t low = is_wide ? cursor_u64(set) : cursor_u32(set);
		uint64_t size = is_wide ? cursor_u64(set) : cursor_u32(set);
		uint64_t high;
		if (!cursor_ok(set) || size == 0 || __builtin_add_overflow(low, size, &high) ||
			!dwarf_is_text(b->file->context, low))
			continue;
		vec_push(&b->ranges, (struct unit_range){unit, {low, high}});
		b->has_ranges[unit] = true;
	}
}

/* Reads one set of .debug_aranges; false at the end or where the data is invalid. */
static bool read_set(struct index_builder *b, struct cursor *c)
{
	const uint8_t *start = c->at;
	uint64_t length = cursor_u32(c);
	bool is_64_bit = length == 0xffffffff;
	uint32_t unit;

	if (is_64_bit)
		length = cursor_u64(c);
	struct cursor set = cursor_sub(c, length);
	uint16_t version = cursor_u16(&set);
	uint64_t offset = is_64_bit ? cursor_u64(&set) : cursor_u32(&set);
	uint8_t address_size = cursor_u8(&set);
	uint8_t segment_size = cursor_u8(&set);
	if (!cursor_ok(&set))
		return false;
	if (version != 2 || segment_size || (address_size != 4 && address_size != 8) ||
		!unit_by_offset(b->file, offset, &unit))
		return true;
	/* Tuples are aligned to their size, relative to the start of the set. */
	size_t misfit = (size_t)(set.at - start) % (2u * address_size);
	if (misfit)
		cursor_skip(&set, 2u * address_size - misfit);
	read_tuples(b, &set, unit, address_size == 8);
	return true;
}

static void read_aranges(struct index_builder *b)
{
	struct cursor c = dwarf_file_cursor(b->file, DWARF_ARANGES, 0);

	while (!cursor_at_end(&c) && cursor_ok(&c))
		if (!read_set(b, &c))
			break;
}

static void read_roots(struct index_builder *b)
{
	struct pc_ranges ranges = {0};

	for (size_t i = 0; i < b->file->units.count; i++) {
		struct dwarf_unit *unit = b->file->units.data[i];
		if (b->has_ranges[i])
			continue;
		if (unit->type == DW_UT_type || unit->type == DW_UT_partial)
			continue;
		dwarf_unit_read_root(unit);
		pc_ranges_read(unit, &unit->low_pc, &unit->high_pc, &unit->ranges, &ranges);
		for (size_t k = 0; k < ranges.count; k++)
			vec_push(&b->ranges, (struct unit_range){(uint32_t)i, ranges.data[k]});
	}
	vec_deinit(&ranges);
}

static int unit_range_compare(const void *pa, const void *pb)
{
	const struct unit_range *a = pa, *b = pb;

	if (a->unit != b->unit)
		return a->unit < b->unit ? -1 : 1;
	return a->range.low < b->range.low ? -1 : a->range.low > b->range.low;
}

/* The first unassigned index from i on; shortens the paths in next[]. */
static size_t next_free(size_t *next, size_t i)
{
	size_t end = i;

	while (next[end] != end)
		end = next[end];
	while (next[i] != end) {
		size_t after = next[i];
		next[i] = end;
		i = after;
	}
	return end;
}

static void assign(
	const struct index_builder *b, const uint64_t *addrs, size_t count, uint32_t *unit_of)
{
	size_t *next = xcalloc(count + 1, sizeof(*next));

	for (size_t i = 0; i <= count; i++)
		next[i] = i;
	for (size_t i = 0; i < count; i++)
		unit_of[i] = DWARF_NO_UNIT;
	for (size_t k = 0; k < b->ranges.count; k++) {
		const struct unit_range *r = &b->ranges.data[k];
		size_t i = next_free(next, addrs_first_from(addrs, count, r->range.low));
		for (; i < count && addrs[i] < r->range.high; i = next_free(next, i)) {
			unit_of[i] = r->unit;
			next[i] = i + 1;
		}
	}
	free(next);
}

void dwarf_index_find(struct dwarf_file *f, const uint64_t *addrs, size_t count, uint32_t *unit_of)
{
	struct index_builder b = {.file = f};

	dwarf_units_read(f);
	b.has_ranges = xcalloc(f->units.count, sizeof(*b.has_ranges));
	read_aranges(&b);
	read_roots(&b);
	if (b.ranges.count)
		qsort(b.ranges.data, b.ranges.count, sizeof(*b.ranges.data), unit_range_compare);
	assign(&b, addrs, count, unit_of);
	vec_deinit(&b.ranges);
	free(b.has_ranges);
}
