/*
 * Homes: one walk over a unit's entries keeps those that can qualify a function's name and contain
 * a function, with the bytes that they cover.  The home of an entry is the innermost one around it.
 * The table is built on first use; most units never need it.
 */
#include "obj/dwarf_home.h"

#include <dwarf.h>

#include "base/arena.h"
#include "base/vec.h"
#include "obj/dwarf_abbrev.h"
#include "obj/dwarf_function.h"
#include "obj/dwarf_unit.h"

/* Real programs nest a few levels; deeper ones are hostile. */
#define DEPTH_MAX  16
#define PREFIX_MAX 4096
#define NO_HOME	   UINT32_MAX

/* One namespace, class or function; offsets are from the unit's begin. */
struct home {
	uint32_t begin, end; /* the entry's start, and the end of its children */
	uint32_t parent;     /* index, or NO_HOME */
	bool is_function, is_namespace, is_named;
};

struct home_table {
	const struct home *homes; /* by begin */
	uint32_t count;
};

struct home_reader {
	struct dwarf_unit *unit;
	struct cursor c;
	VEC(struct home) homes;
	VEC(uint32_t) nesting; /* for each open entry: the home its children are in, or NO_HOME */
	VEC(bool) holds;       /* for each home: whether a function is in it */
};

bool dwarf_has_homes(struct dwarf_unit *unit)
{
	dwarf_unit_read_root(unit);
	switch (unit->language) {
	case DW_LANG_C_plus_plus:
	case DW_LANG_C_plus_plus_03:
	case DW_LANG_C_plus_plus_11:
	case DW_LANG_C_plus_plus_14:
	case 0x2a: /* DWARF's DW_LANG_C_plus_plus_17, which some <dwarf.h> lack */
	case 0x2b: /* DWARF's DW_LANG_C_plus_plus_20 */
		return true;
	default:
		return false;
	}
}

static bool is_home(unsigned int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_class_type ||
	       tag == DW_TAG_structure_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_interface_type || tag == DW_TAG_subprogram;
}

/* An entry that refers to another one is named there. */
static bool has_name(struct dwarf_unit *unit, const struct abbrev *abbrev)
{
	const struct attr_spec *attrs = abbrev_attrs(unit->abbrevs, abbrev);

	for (uint32_t i = 0; i < abbrev->attr_count; i++)
		if (attrs[i].name == DW_AT_name || attrs[i].name == DW_AT_specification ||
			attrs[i].name == DW_AT_abstract_origin)
			return true;
	return false;
}

/* Closes the innermost open entry; a home without a function in it is dropped. */
static void close_entry(struct home_reader *r)
{
	uint32_t around = NO_HOME;

	if (r->nesting.count == 0)
		return;
	uint32_t home = r->nesting.data[--r->nesting.count];
	if (r->nesting.count)
		around = r->nesting.data[r->nesting.count - 1];
	if (home == around || home == NO_HOME)
		return;
	r->homes.data[home].end = (uint32_t)(dwarf_unit_offset(&r->c) - r->unit->offset);
	if (!r->holds.data[home]) {
		r->homes.count--;
		r->holds.count--;
	} else if (around != NO_HOME) {
		r->holds.data[around] = true;
	}
}

static void open_entry(struct home_reader *r, uint64_t entry, const struct abbrev *abbrev)
{
	uint32_t home = r->nesting.count ? r->nesting.data[r->nesting.count - 1] : NO_HOME;

	if (abbrev->tag == DW_TAG_subprogram && home != NO_HOME && !r->homes.data[home].is_function)
		r->holds.data[home] = true;
	dwarf_unit_skip_attrs(r->unit, &r->c, abbrev);
	if (!abbrev->has_children)
		return;
	if (is_home(abbrev->tag)) {
		vec_push(&r->homes, (struct home){.begin = (uint32_t)(entry - r->unit->offset),
					    .end = (uint32_t)(r->unit->end - r->unit->offset),
					    .parent = home,
					    .is_function = abbrev->tag == DW_TAG_subprogram,
					    .is_namespace = abbrev->tag == DW_TAG_namespace,
					    .is_named = has_name(r->unit, abbrev)});
		vec_push(&r->holds, false);
		home = (uint32_t)r->homes.count - 1;
	}
	vec_push(&r->nesting, home);
}

static void read_unit(struct home_reader *r)
{
	const struct abbrev_table *table = abbrev_table_of_unit(r->unit);

	if (r->unit->end - r->unit->offset >= NO_HOME ||
		!dwarf_spend(r->unit->file, r->unit->end - r->unit->offset))
		return;
	r->c = dwarf_unit_cursor(r->unit, r->unit->root_offset);
	do {
		uint64_t entry = dwarf_unit_offset(&r->c);
		uint64_t code = cursor_uleb(&r->c);
		const struct abbrev *abbrev = code ? abbrev_table_find(table, code) : NULL;
		if (abbrev)
			open_entry(r, entry, abbrev);
		else if (code == 0)
			close_entry(r);
		else
			break;
	} while (r->nesting.count && cursor_ok(&r->c) && !cursor_at_end(&r->c));
	while (r->nesting.count)
		close_entry(r);
}

static const struct home_table *homes_of_unit(struct dwarf_unit *unit)
{
	struct arena *arena = unit->file->context->arena;
	struct home_reader r = {.unit = unit};

	if (unit->homes)
		return unit->homes;
	struct home_table *table = ARENA_NEW(arena, struct home_table);
	read_unit(&r);
	struct home *homes = ARENA_ARRAY(arena, struct home, r.homes.count);
	for (size_t i = 0; i < r.homes.count; i++)
		homes[i] = r.homes.data[i];
	*table = (struct home_table){.homes = homes, .count = (uint32_t)r.homes.count};
	unit->homes = table;
	vec_deinit(&r.homes);
	vec_deinit(&r.nesting);
	vec_deinit(&r.holds);
	return table;
}

/* The innermost home around an entry, or NULL. */
static const struct home *home_around(const struct home_table *table, uint64_t begin)
{
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->homes[middle].begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low - 1; i != NO_HOME; i = table->homes[i].parent)
		if (table->homes[i].end > begin)
			return &table->homes[i];
	return NULL;
}

/* Which of the nameless types around it this one is, from 1. */
static uint32_t home_number(const struct home_table *table, const struct home *home)
{
	uint32_t number = 1;

	for (const struct home *h = table->homes; h < home; h++)
		number += h->parent == home->parent && !h->is_named && !h->is_namespace;
	return number;
}

/* As demanglers do, but for a lambda's parameters: `{lambda#2}`.  inner is a name in it. */
static void add_nameless(
	struct strbuf *out, struct dwarf_unit *unit, const struct home *home, struct str inner)
{
	const struct home_table *table = unit->homes;

	if (home->is_namespace)
		strbuf_add(out, STR("(anonymous namespace)"));
	else if (dwarf_spend(unit->file, (uint64_t)(home - table->homes)))
		strbuf_printf(out, "{%s#%u}",
			str_starts_with(inner, STR("operator()")) ? "lambda" : "unnamed type",
			home_number(table, home));
}

/* The names around an entry called inner, the outermost first, each with `::` behind it. */
static void add_homes(
	struct strbuf *out, struct dwarf_unit *unit, uint64_t entry, struct str inner, int depth)
{
	struct function_facts facts;

	if (depth == DEPTH_MAX)
		return;
	const struct home *home = home_around(homes_of_unit(unit), entry - unit->offset);
	if (home == NULL || (depth == 0 && home->is_function))
		return;
	function_facts_read(unit, unit->offset + home->begin, &facts);
	add_homes(out, facts.unit, facts.entry, facts.name, depth + 1);
	if (out->size > PREFIX_MAX)
		return;
	if (facts.name.size)
		strbuf_add(out, facts.name);
	else
		add_nameless(out, unit, home, inner);
	strbuf_add(out, STR("::"));
}

void dwarf_home_add(struct strbuf *out, struct dwarf_unit *unit, uint64_t entry, struct str name)
{
	size_t before = out->size;

	add_homes(out, unit, entry, name, 0);
	if (out->size - before > PREFIX_MAX || !dwarf_spend(unit->file, out->size - before))
		out->size = before;
}
