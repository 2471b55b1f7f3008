/* Names of functions, found through chains of references of bounded length. */
#include "obj/dwarf_function.h"

#include <dwarf.h>

#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_line.h"
#include "obj/dwarf_unit.h"

/* Compilers emit chains of at most four. */
#define HOPS_MAX 16

/* The relevant attributes of one entry. */
struct entry_facts {
	struct form_value name, linkage_name, decl_file, decl_line, origin, specification;
};

static void keep_fact(struct entry_facts *facts, unsigned int name, const struct form_value *value)
{
	switch (name) {
	case DW_AT_name:
		facts->name = *value;
		break;
	case DW_AT_linkage_name:
	case DW_AT_MIPS_linkage_name:
		facts->linkage_name = *value;
		break;
	case DW_AT_decl_file:
		facts->decl_file = *value;
		break;
	case DW_AT_decl_line:
		facts->decl_line = *value;
		break;
	case DW_AT_abstract_origin:
		facts->origin = *value;
		break;
	case DW_AT_specification:
		facts->specification = *value;
		break;
	default:
		break;
	}
}

static void read_entry(struct dwarf_unit *unit, uint64_t entry, struct entry_facts *facts)
{
	struct cursor c = dwarf_unit_cursor(unit, entry);
	struct form_value value;

	*facts = (struct entry_facts){0};
	dwarf_unit_read_root(unit);
	const struct abbrev_table *table = abbrev_table_of_unit(unit);
	const struct abbrev *abbrev = abbrev_table_find(table, cursor_uleb(&c));
	if (abbrev == NULL)
		return;
	const struct attr_spec *attrs = abbrev_attrs(table, abbrev);
	for (uint32_t i = 0; i < abbrev->attr_count; i++) {
		form_read(&c, unit, &attrs[i], &value);
		if (!cursor_ok(&c) || !dwarf_spend(unit->file, 1))
			return;
		keep_fact(facts, attrs[i].name, &value);
	}
}

/* Adds facts that the chain has not provided yet. */
static void add_facts(
	struct function_facts *facts, struct dwarf_unit *unit, const struct entry_facts *entry)
{
	uint64_t number;

	if (facts->name.size == 0)
		facts->name = form_string(unit, &entry->name);
	if (facts->linkage_name.size == 0)
		facts->linkage_name = form_string(unit, &entry->linkage_name);
	if (facts->file.size == 0 && form_number(&entry->decl_file, &number))
		facts->file = line_file_path(unit, number);
	if (facts->line == 0 && form_number(&entry->decl_line, &number) && number <= UINT32_MAX)
		facts->line = (uint32_t)number;
}

/* The unit and offset that a reference leads to. */
static struct dwarf_unit *follow(
	struct dwarf_unit *unit, const struct entry_facts *entry, uint64_t *offset)
{
	const struct form_value *value =
		entry->origin.form ? &entry->origin : &entry->specification;
	struct dwarf_file *file;

	if (!form_reference(unit, value, &file, offset))
		return NULL;
	if (file == unit->file && *offset >= unit->offset && *offset < unit->end)
		return unit;
	dwarf_units_read(file);
	return dwarf_unit_at(file, *offset);
}

void function_facts_read(struct dwarf_unit *unit, uint64_t entry, struct function_facts *facts)
{
	struct entry_facts found;

	*facts = (struct function_facts){0};
	for (int hop = 0; unit && hop < HOPS_MAX; hop++) {
		facts->unit = unit;
		facts->entry = entry;
		read_entry(unit, entry, &found);
		add_facts(facts, unit, &found);
		unit = follow(unit, &found, &entry);
	}
}
