/*
 * Scopes: one walk over a unit's entries, without recursion or a tree of entries.
 *
 * On the way down, each requested address has the deepest scope found so far; an entry that covers
 * it becomes the new scope if its parent is the old one.  So an entry outside its parent's ranges,
 * or two that claim the same address, cannot form a chain that does not exist in the tree.
 *
 * Most of a unit is types.  Entries that DW_AT_sibling allows to skip are skipped; if an address
 * then has no function, a second pass visits everything (functions within functions).
 */
#include "obj/dwarf_scope.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/vec.h"
#include "obj/addrs.h"
#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_ranges.h"
#include "obj/dwarf_unit.h"

/* An entry's attributes. */
struct scope_facts {
	struct form_value low_pc, high_pc, ranges, call_file, call_line;
	uint64_t sibling; /* offset in .debug_info, 0: unknown */
};

struct scope_reader {
	struct dwarf_unit *unit;
	struct cursor c;
	const uint64_t *addrs;
	size_t count;
	uint32_t *innermost;
	struct scope_table *table;
	VEC(uint32_t) nesting; /* for each open entry: the scope its children are in, or NO_SCOPE */
	struct pc_ranges ranges;
	bool is_thorough, has_skipped;
};

void scope_table_deinit(struct scope_table *t)
{
	vec_deinit(t);
}

static void keep_fact(struct scope_reader *r, struct scope_facts *facts, unsigned int name,
	const struct form_value *value)
{
	struct dwarf_file *file;

	switch (name) {
	case DW_AT_low_pc:
		facts->low_pc = *value;
		break;
	case DW_AT_high_pc:
		facts->high_pc = *value;
		break;
	case DW_AT_ranges:
		facts->ranges = *value;
		break;
	case DW_AT_call_file:
		facts->call_file = *value;
		break;
	case DW_AT_call_line:
		facts->call_line = *value;
		break;
	case DW_AT_sibling:
		if (!form_reference(r->unit, value, &file, &facts->sibling))
			facts->sibling = 0;
		break;
	default:
		break;
	}
}

static void read_facts(
	struct scope_reader *r, const struct abbrev *abbrev, struct scope_facts *facts)
{
	const struct attr_spec *attrs = abbrev_attrs(r->unit->abbrevs, abbrev);
	struct form_value value;

	*facts = (struct scope_facts){0};
	for (uint32_t i = 0; i < abbrev->attr_count && cursor_ok(&r->c); i++) {
		form_read(&r->c, r->unit, &attrs[i], &value);
		keep_fact(r, facts, attrs[i].name, &value);
	}
}

/* Reads DW_AT_sibling of an entry that has it, and skips its other attributes. */
static uint64_t read_sibling(struct scope_reader *r, const struct abbrev *abbrev)
{
	struct scope_facts facts;

	if (abbrev->has_children && abbrev->sibling < abbrev->attr_count) {
		read_facts(r, abbrev, &facts);
		return facts.sibling;
	}
	dwarf_unit_skip_attrs(r->unit, &r->c, abbrev);
	return 0;
}

/*
 * Moves the addresses in the scope's ranges from its parent to it; returns whether there were any.
 */
static bool take_addresses(struct scope_reader *r, uint32_t parent, uint32_t scope)
{
	bool any = false;

	for (size_t k = 0; k < r->ranges.count; k++) {
		const struct pc_range *range = &r->ranges.data[k];
		size_t i = addrs_first_from(r->addrs, r->count, range->low);
		for (; i < r->count && r->addrs[i] < range->high; i++) {
			if (!dwarf_spend(r->unit->file, 1))
				return any;
			if (r->innermost[i] == parent) {
				r->innermost[i] = scope;
				any = true;
			}
		}
	}
	return any;
}

static uint64_t number_or_zero(const struct form_value *value)
{
	uint64_t number;

	return form_number(value, &number) ? number : 0;
}

/* An entry with code: the scope of its children, NO_SCOPE if it holds no wanted address. */
static uint32_t read_code(
	struct scope_reader *r, uint64_t entry, uint32_t parent, const struct scope_facts *facts)
{
	uint32_t scope = (uint32_t)r->table->count;
	uint64_t line = number_or_zero(&facts->call_line);

	pc_ranges_read(r->unit, &facts->low_pc, &facts->high_pc, &facts->ranges, &r->ranges);
	if (scope == NO_SCOPE || !take_addresses(r, parent, scope))
		return NO_SCOPE;
	vec_push(r->table, (struct scope){.entry = entry,
				   .parent = parent,
				   .call_line = line <= UINT32_MAX ? (uint32_t)line : 0,
				   .call_file = number_or_zero(&facts->call_file)});
	return scope;
}

/* Whether wanted code may be below an entry of this tag, inside or outside a function. */
static bool may_hold_code(unsigned int tag, bool is_in_function)
{
	switch (tag) {
	case DW_TAG_compile_unit:
	case DW_TAG_partial_unit:
	case DW_TAG_skeleton_unit:
	case DW_TAG_namespace:
	case DW_TAG_module:
		return true;
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return is_in_function;
	default:
		return false;
	}
}

/* Skips an entry's children if their end is known. */
static bool skip_children(struct scope_reader *r, uint64_t sibling)
{
	if (r->is_thorough || sibling <= dwarf_unit_offset(&r->c) || sibling > r->unit->end)
		return false;
	cursor_seek(&r->c, sibling);
	r->has_skipped = true;
	return true;
}

/* Reads the attributes of one entry and opens it if it has children worth looking at. */
static void read_entry(struct scope_reader *r, uint64_t entry, const struct abbrev *abbrev)
{
	uint32_t parent = r->nesting.count ? r->nesting.data[r->nesting.count - 1] : NO_SCOPE;
	uint32_t scope = parent;
	uint64_t sibling;
	bool is_worth;

	if (abbrev->tag == DW_TAG_subprogram ||
		(abbrev->tag == DW_TAG_inlined_subroutine && parent != NO_SCOPE)) {
		struct scope_facts facts;
		read_facts(r, abbrev, &facts);
		if (abbrev->tag == DW_TAG_subprogram)
			parent = NO_SCOPE;
		scope = read_code(r, entry, parent, &facts);
		sibling = facts.sibling;
		is_worth = scope != NO_SCOPE;
	} else {
		sibling = read_sibling(r, abbrev);
		is_worth = may_hold_code(abbrev->tag, parent != NO_SCOPE);
	}
	if (!abbrev->has_children || (!is_worth && skip_children(r, sibling)))
		return;
	vec_push(&r->nesting, scope);
}

static void read_unit(struct scope_reader *r)
{
	r->c = dwarf_unit_cursor(r->unit, r->unit->root_offset);
	r->nesting.count = 0;
	if (!dwarf_spend(r->unit->file, r->unit->end - r->unit->offset))
		return;
	do {
		uint64_t entry = dwarf_unit_offset(&r->c);
		uint64_t code = cursor_uleb(&r->c);
		if (code == 0) {
			if (r->nesting.count)
				r->nesting.count--;
			continue;
		}
		const struct abbrev *abbrev = abbrev_table_find(r->unit->abbrevs, code);
		if (abbrev == NULL)
			return;
		read_entry(r, entry, abbrev);
	} while (r->nesting.count && cursor_ok(&r->c) && !cursor_at_end(&r->c));
}

static bool all_found(const uint32_t *innermost, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (innermost[i] == NO_SCOPE)
			return false;
	return true;
}

void scope_table_read(struct scope_table *t, struct dwarf_unit *unit, const uint64_t *addrs,
	size_t count, uint32_t *innermost)
{
	struct scope_reader r = {
		.unit = unit, .addrs = addrs, .count = count, .innermost = innermost, .table = t};

	for (size_t i = 0; i < count; i++)
		innermost[i] = NO_SCOPE;
	dwarf_unit_read_root(unit);
	abbrev_table_of_unit(unit);
	read_unit(&r);
	if (r.has_skipped && !all_found(innermost, count)) {
		r.is_thorough = true;
		read_unit(&r);
	}
	vec_deinit(&r.nesting);
	vec_deinit(&r.ranges);
}
