/*
 * Abbreviation tables.  A file's units often share one, so tables are cached by offset (and by the
 * form sizes of the unit, as a table precomputes the size of entries).
 */
#include "obj/dwarf_abbrev.h"

#include <dwarf.h>

#include "base/cursor.h"
#include "obj/dwarf_file.h"
#include "obj/dwarf_form.h"
#include "obj/dwarf_unit.h"

/* Far more than any compiler emits for one kind of entry. */
#define ATTRS_MAX 1024

static bool abbrev_read_attr(struct cursor *c, struct attr_spec *attr)
{
	uint64_t name = cursor_uleb(c), form = cursor_uleb(c);

	*attr = (struct attr_spec){0};
	if (form == DW_FORM_implicit_const)
		attr->implicit_const = cursor_sleb(c);
	if (name > UINT16_MAX || form > UINT16_MAX)
		cursor_fail(c, "an abbreviation with an unknown attribute or form");
	attr->name = (uint16_t)name;
	attr->form = (uint16_t)form;
	return cursor_ok(c) && (name || form);
}

/* Reads one entry; false at the end of the table or at invalid data. */
static bool abbrev_table_add(struct abbrev_table *t, struct cursor *c, struct dwarf_unit *unit)
{
	struct abbrev a = {.code = cursor_uleb(c)};
	struct attr_spec attr;

	if (a.code == 0)
		return false;
	a.tag = (uint16_t)cursor_uleb_to(c, UINT16_MAX);
	a.has_children = cursor_u8(c) != 0;
	a.first_attr = (uint32_t)t->attrs.count;
	a.sibling = UINT32_MAX;
	while (abbrev_read_attr(c, &attr)) {
		uint32_t size = form_fixed_size(attr.form, unit);
		if (attr.name == DW_AT_sibling && a.sibling == UINT32_MAX)
			a.sibling = a.attr_count;
		if (size == FORM_SIZE_VARIES || a.size == ABBREV_SIZE_VARIES)
			a.size = ABBREV_SIZE_VARIES;
		else
			a.size += size;
		a.attr_count++;
		vec_push(&t->attrs, attr);
		if (a.attr_count > ATTRS_MAX)
			cursor_fail(c, "an abbreviation with too many attributes");
	}
	if (a.sibling == UINT32_MAX)
		a.sibling = a.attr_count;
	if (!cursor_ok(c))
		return false;
	vec_push(&t->abbrevs, a);
	return true;
}

static void abbrev_table_index(struct abbrev_table *t)
{
	t->is_dense = true;
	for (size_t i = 0; i < t->abbrevs.count && t->is_dense; i++)
		t->is_dense = t->abbrevs.data[i].code == i + 1;
	for (size_t i = 0; i < t->abbrevs.count && !t->is_dense; i++) {
		bool added;
		map_at(&t->by_code, t->abbrevs.data[i].code, 0, (uint32_t)i, &added);
	}
}

/* Reads entries up to the end, or up to code `until` if that is not 0. */
static void abbrev_table_read(struct abbrev_table *t, struct dwarf_unit *unit, uint64_t until)
{
	struct cursor c = dwarf_file_cursor(unit->file, DWARF_ABBREV, unit->abbrev_offset);
	const uint8_t *before = c.at;

	while (dwarf_spend(unit->file, (uint64_t)(c.at - before) + 1)) {
		before = c.at;
		if (!abbrev_table_add(t, &c, unit))
			break;
		if (until && t->abbrevs.data[t->abbrevs.count - 1].code == until)
			break;
	}
	abbrev_table_index(t);
}

void abbrev_table_read_until(struct abbrev_table *t, struct dwarf_unit *unit, uint64_t code)
{
	*t = (struct abbrev_table){0};
	abbrev_table_read(t, unit, code);
}

void abbrev_table_deinit(struct abbrev_table *t)
{
	vec_deinit(&t->abbrevs);
	vec_deinit(&t->attrs);
	map_deinit(&t->by_code);
}

const struct abbrev_table *abbrev_table_of_unit(struct dwarf_unit *unit)
{
	struct dwarf_file *f = unit->file;
	uint64_t sizes = (uint64_t)unit->version << 16 | (uint64_t)unit->address_size << 8 |
			 unit->offset_size;
	bool added;

	if (unit->abbrevs)
		return unit->abbrevs;
	uint32_t next = (uint32_t)f->abbrev_tables.count;
	uint32_t *index = map_at(&f->abbrevs, unit->abbrev_offset, sizes, next, &added);
	if (added) {
		struct abbrev_table *t = xalloc(sizeof(*t));
		abbrev_table_read(t, unit, 0);
		vec_push(&f->abbrev_tables, t);
	}
	unit->abbrevs = f->abbrev_tables.data[*index];
	return unit->abbrevs;
}

const struct abbrev *abbrev_table_find(const struct abbrev_table *t, uint64_t code)
{
	uint32_t i;

	if (t->is_dense)
		return code && code <= t->abbrevs.count ? &t->abbrevs.data[code - 1] : NULL;
	return map_get(&t->by_code, code, 0, &i) ? &t->abbrevs.data[i] : NULL;
}
