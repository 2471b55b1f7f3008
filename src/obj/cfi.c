/*
 * Call frame information, from sections to a table, and the table's look-ups.
 *
 * cfi_parse.c finds the functions' entries and sorts them, cfi_program.c runs their programs in
 * that order, cfi_rows.c makes rows and rules of what comes out.  All of it is eager: the 95,000
 * functions of libLLVM take some 25 ms once, which no lazy scheme repays.
 *
 * Entries that overlap are faulty, or doubles from two sections: the one that begins later wins,
 * and of those that begin at the same address the last one.
 */
#include "obj/cfi.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "obj/cfi_parse.h"
#include "obj/cfi_program.h"
#include "obj/cfi_rows.h"
#include "obj/code_gaps.h"

/* ---- compiling ---- */

static bool is_distrusted(const struct cfi_object *object, uint64_t low)
{
	for (size_t i = 0; i < object->distrusted_count; i++)
		if (object->distrusted[i] == low)
			return true;
	return false;
}

static void drop_distrusted(struct cfi_entries *e)
{
	size_t kept = 0;

	if (e->object->distrusted_count == 0)
		return;
	for (size_t i = 0; i < e->fdes.count; i++)
		if (!is_distrusted(e->object, e->fdes.data[i].low))
			e->fdes.data[kept++] = e->fdes.data[i];
	e->fdes.count = kept;
}

/* .debug_frame's entries come first, so that .eh_frame's win where both begin at one address. */
static void collect(struct cfi_entries *e, size_t section_count)
{
	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < section_count; i++) {
			if ((e->sections[i].kind == CFI_DEBUG_FRAME) == (pass == 0))
				cfi_entries_add(e, (uint32_t)i);
		}
	}
	cfi_entries_sort(e);
	drop_distrusted(e);
}

static void compile_fde(
	struct cfi_entries *e, const struct cfi_fde *fde, uint64_t high, struct cfi_rows *rows)
{
	struct cfi_cie *cie = &e->cies.data[fde->cie];

	rows->section = &e->sections[fde->section];
	if (!cie->ready)
		cfi_program_run_cie(cie, rows->section);
	if (cie->bad || !cfi_program_run_fde(fde, cie, high, e->object, rows)) {
		e->bad++;
		if (cie->bad)
			cfi_rows_add_gap(rows, fde->low);
	}
}

static void add_bare(const struct cfi_bare *bare, uint64_t obj_addr, struct cfi_rows *rows)
{
	struct cfi_slow_rule row = {
		.cfa_register = CFI_REGISTER_SP,
		.cfa_value = bare->cfa_offset,
		.how[CFI_REGISTER_RA] = bare->is_outermost ? CFI_UNDEFINED : CFI_AT_CFA,
		.value[CFI_REGISTER_RA] = bare->is_outermost ? 0 : -8,
	};

	cfi_rows_add(rows, obj_addr, &row);
}

/* Where bare code ends: start-up code at the latest where another function begins. */
static uint64_t bare_end(const struct cfi_bare *bare, const struct code_gaps *gaps, uint64_t high)
{
	uint64_t next = code_starts_from(&gaps->starts, bare->low_addr + 1);
	uint64_t end = bare->high_addr < high ? bare->high_addr : high;

	return bare->is_outermost && next < end ? next : end;
}

/*
 * Sections have no rules for [low, high): it is bare code, or code that speaks for itself.  If bare
 * code begins with rules, it is not bare.
 */
static void add_gap(const struct cfi_entries *e, const struct code_gaps *gaps, uint64_t low,
	uint64_t high, struct cfi_rows *rows)
{
	if (low >= high)
		return;
	cfi_rows_add_gap(rows, low);
	for (size_t i = 0; i < e->object->bare_count; i++) {
		const struct cfi_bare *bare = &e->object->bare[i];
		uint64_t to = bare_end(bare, gaps, high);
		if (bare->low_addr < low || bare->low_addr >= to)
			continue;
		code_gaps_add_rows(gaps, low, bare->low_addr, rows);
		add_bare(bare, bare->low_addr, rows);
		if (to < high)
			cfi_rows_add_gap(rows, to);
		low = to;
	}
	code_gaps_add_rows(gaps, low, high, rows);
}

static uint64_t span_end(uint64_t low)
{
	uint64_t end;

	return __builtin_add_overflow(low, CFI_SPAN_MAX, &end) ? UINT64_MAX : end;
}

static void find_gaps(const struct cfi_entries *e, struct code_gaps *gaps)
{
	const struct cfi_fde *fdes = e->fdes.data;
	uint64_t end = 0;

	code_gaps_init(gaps, e->object);
	for (size_t i = 0; i < e->fdes.count; i++) {
		if (end < fdes[i].low)
			code_gaps_add(gaps, end, fdes[i].low);
		end = fdes[i].high > end ? fdes[i].high : end;
	}
	code_gaps_add(gaps, end, e->fdes.count ? span_end(fdes[0].low) : UINT64_MAX);
	code_gaps_finish(gaps);
}

static void compile_rows(struct cfi_entries *e, const struct code_gaps *gaps, struct cfi_rows *rows)
{
	const struct cfi_fde *fdes = e->fdes.data;
	uint64_t end = rows->table->base_addr, limit = span_end(end);

	for (size_t i = 0; i < e->fdes.count; i++) {
		uint64_t next = i + 1 < e->fdes.count ? fdes[i + 1].low : limit;
		uint64_t high = fdes[i].high < next ? fdes[i].high : next;
		if (high == fdes[i].low)
			continue;
		add_gap(e, gaps, end, fdes[i].low, rows);
		cfi_rows_add_start(rows, fdes[i].low);
		compile_fde(e, &fdes[i], high, rows);
		end = high;
	}
	add_gap(e, gaps, end, limit, rows);
}

/* The lower of two addresses, if they are not absurdly far apart. */
static uint64_t lower(uint64_t low, uint64_t other)
{
	return other < low && low - other < CFI_SPAN_MAX / 2 ? other : low;
}

/* The lowest address that needs a row. */
static uint64_t lowest_addr(const struct cfi_entries *e, const struct code_gaps *gaps)
{
	uint64_t low = UINT64_MAX;

	if (e->fdes.count)
		low = e->fdes.data[0].low;
	else if (e->object->bare_count)
		low = e->object->bare[0].low_addr;
	else if (gaps->pieces.count)
		low = gaps->pieces.data[0].obj_addr;
	if (e->object->bare_count)
		low = lower(low, e->object->bare[0].low_addr);
	if (gaps->pieces.count)
		low = lower(low, gaps->pieces.data[0].obj_addr);
	return low == UINT64_MAX ? 0 : low;
}

static struct cfi_table *build(struct cfi_entries *e)
{
	struct cfi_table *table = xalloc(sizeof(*table));
	struct cfi_rows *rows = xalloc(sizeof(*rows));
	struct code_gaps gaps;

	find_gaps(e, &gaps);
	cfi_rows_begin(rows, table, lowest_addr(e, &gaps));
	compile_rows(e, &gaps, rows);
	code_gaps_deinit(&gaps);
	if (rows->too_many)
		e->bad++;
	cfi_rows_finish(rows);
	free(rows);
	return table;
}

struct error *cfi_table_compile(const struct cfi_section *sections, size_t count,
	const struct cfi_object *object, struct cfi_table **table, size_t *bad_entries)
{
	struct cfi_entries entries = {.sections = sections, .object = object};

	collect(&entries, count);
	*bad_entries = entries.bad;
	if (entries.seen && entries.bad >= entries.seen) {
		cfi_entries_deinit(&entries);
		return error_new(
			ERROR_INPUT, "%s: no readable call frame information", object->name);
	}
	*table = build(&entries);
	*bad_entries = entries.bad;
	cfi_entries_deinit(&entries);
	return NULL;
}

void cfi_table_destroy(struct cfi_table *table)
{
	if (table == NULL)
		return;
	vec_deinit(&table->page_first);
	vec_deinit(&table->rows);
	vec_deinit(&table->starts);
	vec_deinit(&table->rules);
	vec_deinit(&table->slow_rules);
	str_table_deinit(&table->expressions);
	arena_destroy(table->arena);
	free(table);
}

/* ---- look-ups ---- */

/* The number of the rule that holds at obj_addr. */
static uint32_t rule_at(const struct cfi_table *t, uint64_t obj_addr)
{
	uint64_t offset = obj_addr - t->base_addr, page = offset >> CFI_PAGE_BITS;

	if (page + 1 >= t->page_first.count)
		return 0;
	const uint32_t *row = t->rows.data + t->page_first.data[page];
	size_t count = t->page_first.data[page + 1] - t->page_first.data[page];
	uint32_t last = (uint32_t)offset << CFI_PAGE_BITS | 0xffff;
	/* The page's first row is never behind obj_addr. */
	while (count > 1) {
		size_t half = count / 2;
		row = row[half] <= last ? row + half : row;
		count -= half;
	}
	return *row & 0xffff;
}

const struct cfi_rule *cfi_table_find(const struct cfi_table *table, uint64_t obj_addr)
{
	return &table->rules.data[rule_at(table, obj_addr)];
}

bool cfi_table_function(const struct cfi_table *table, uint64_t obj_addr, uint64_t *start_addr)
{
	const uint32_t *starts = table->starts.data;
	uint64_t offset = obj_addr - table->base_addr;

	if (rule_at(table, obj_addr) == 0)
		return false;
	size_t next = partition_point(i, 0, table->starts.count, starts[i] <= offset);
	if (next == 0)
		return false;
	*start_addr = table->base_addr + starts[next - 1];
	return true;
}

const struct cfi_slow_rule *cfi_table_slow(const struct cfi_table *table, uint32_t index)
{
	return &table->slow_rules.data[index];
}

struct str cfi_table_expression(const struct cfi_table *table, int32_t index)
{
	return table->expressions.strings[index];
}

size_t cfi_table_row_count(const struct cfi_table *table)
{
	return table->rows.count;
}

size_t cfi_table_rule_count(const struct cfi_table *table)
{
	return table->rules.count;
}

size_t cfi_table_size_bytes(const struct cfi_table *table)
{
	return sizeof(*table) + table->page_first.capacity * sizeof(uint32_t) +
	       table->rows.capacity * sizeof(uint32_t) + table->starts.capacity * sizeof(uint32_t) +
	       table->rules.capacity * sizeof(struct cfi_rule) +
	       table->slow_rules.capacity * sizeof(struct cfi_slow_rule) +
	       arena_size_bytes(table->arena);
}
