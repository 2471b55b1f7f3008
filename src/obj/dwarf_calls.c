/* Tail calls: one walk over the entries below a function's. */
#include "obj/dwarf_calls.h"

#include <dwarf.h>

#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_unit.h"

/* The relevant attributes of one entry. */
struct call_facts {
	struct form_value return_pc, call_pc, low_pc, tail_call;
	bool has_all; /* of a function: its call sites are all described */
};

static bool is_set(const struct form_value *flag)
{
	return flag->form == DW_FORM_flag_present || (flag->form && flag->number);
}

static void keep_fact(struct call_facts *facts, unsigned int name, const struct form_value *value)
{
	switch (name) {
	case DW_AT_call_return_pc:
		facts->return_pc = *value;
		break;
	case DW_AT_call_pc:
		facts->call_pc = *value;
		break;
	case DW_AT_low_pc:
		facts->low_pc = *value;
		break;
	case DW_AT_call_tail_call:
	case DW_AT_GNU_tail_call:
		facts->tail_call = *value;
		break;
	case DW_AT_call_all_calls:
	case DW_AT_call_all_source_calls:
	case DW_AT_call_all_tail_calls:
	case DW_AT_GNU_all_call_sites:
	case DW_AT_GNU_all_source_call_sites:
	case DW_AT_GNU_all_tail_call_sites:
		facts->has_all |= is_set(value);
		break;
	default:
		break;
	}
}

static void read_facts(struct dwarf_unit *unit, struct cursor *c, const struct abbrev *abbrev,
	struct call_facts *facts)
{
	const struct attr_spec *attrs = abbrev_attrs(unit->abbrevs, abbrev);
	struct form_value value;

	*facts = (struct call_facts){0};
	for (uint32_t i = 0; i < abbrev->attr_count && cursor_ok(c); i++) {
		form_read(c, unit, &attrs[i], &value);
		keep_fact(facts, attrs[i].name, &value);
	}
}

static void add_call(
	struct dwarf_unit *unit, const struct call_facts *facts, struct dwarf_tail_calls *calls)
{
	struct dwarf_tail_call call = {0};

	if (!is_set(&facts->tail_call))
		return;
	/* GNU's low_pc is the address behind the call. */
	if (!form_address(unit, &facts->call_pc, &call.jump) &&
		!form_address(unit, &facts->return_pc, &call.end) &&
		!form_address(unit, &facts->low_pc, &call.end)) {
		calls->is_whole = false;
		return;
	}
	vec_push(&calls->list, call);
}

void dwarf_tail_calls_read(struct dwarf_unit *unit, uint64_t entry, struct dwarf_tail_calls *calls)
{
	struct cursor c = dwarf_unit_cursor(unit, entry);
	size_t depth = 0, inner = 0; /* inner: the depth of a function within it, 0: none */

	abbrev_table_of_unit(unit);
	do {
		uint64_t start = dwarf_unit_offset(&c);
		uint64_t code = cursor_uleb(&c);
		struct call_facts facts;
		if (code == 0) {
			if (depth)
				depth--;
			if (depth == inner)
				inner = 0;
			continue;
		}
		const struct abbrev *abbrev = abbrev_table_find(unit->abbrevs, code);
		if (abbrev == NULL)
			break;
		read_facts(unit, &c, abbrev, &facts);
		if (start == entry)
			calls->is_whole = facts.has_all;
		else if (inner == 0 &&
			 (abbrev->tag == DW_TAG_call_site || abbrev->tag == DW_TAG_GNU_call_site))
			add_call(unit, &facts, calls);
		if (start != entry && abbrev->tag == DW_TAG_subprogram && abbrev->has_children &&
			inner == 0)
			inner = depth;
		depth += abbrev->has_children;
		if (!cursor_ok(&c) || !dwarf_spend(unit->file, dwarf_unit_offset(&c) - start))
			break;
	} while (depth && !cursor_at_end(&c));
	/* It was not read to its end. */
	if (depth || !cursor_ok(&c))
		calls->is_whole = false;
}
