/*
 * Call frame information: look-ups, and the rows compiled so far.
 *
 * cfi_index.c finds the function's entry, cfi_program.c runs its program, cfi_rows.c and
 * cfi_rules.c turn the result into rows and rules, and cfi_pages.c stores them. code_gaps.c handles
 * code that no entry covers.
 *
 * Everything is lazy.  Compiling all rules at once would take some 25 ms for the 95,000 functions
 * of libLLVM, and more than a second for chromium's 230 MB of code without entries, which must be
 * decoded; meanwhile samples would wait.  Opening a table takes 0.1 ms, whatever the size of the
 * file.  A look-up of a new address then takes 2 us, in random order over all of libLLVM, including
 * reading the file; 80 us in chromium's code without entries; and 60 ns in a function seen before
 * (bench/unwind_bench.c, on a busy machine).  So nothing is compiled in advance, and nothing is
 * cached on disk.
 */
#include "obj/cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "obj/cfi_index.h"
#include "obj/cfi_pages.h"
#include "obj/cfi_program.h"
#include "obj/cfi_rows.h"
#include "obj/code_gaps.h"
#include "obj/lazy_bytes.h"

enum { INDEX_EH_FRAME, INDEX_DEBUG_FRAME, INDEX_COUNT };

struct cfi_table {
	struct cfi_source source; /* its object points to the fields below */
	struct cfi_bare *bare;
	uint64_t *bare_ends; /* [bare_count]: where they end; 0: not determined yet */
	uint64_t *distrusted;
	struct cfi_code code;
	struct cfi_go go;
	struct cfi_index indices[INDEX_COUNT]; /* in the order of preference */
	struct cfi_rules rules;
	struct cfi_rows rows; /* the rows being built */
	struct cfi_pages pages;
	struct code_gaps gaps;
	size_t bad_programs;
};

static void *copy_array(const void *elements, size_t count, size_t size)
{
	void *copy = xcalloc(count ? count : 1, size);

	if (count)
		memcpy(copy, elements, count * size);
	return copy;
}

static void copy_object(struct cfi_table *t)
{
	struct cfi_object *object = &t->source.object;

	t->bare = copy_array(object->bare, object->bare_count, sizeof(*t->bare));
	t->bare_ends = xcalloc(object->bare_count + 1, sizeof(*t->bare_ends));
	t->distrusted =
		copy_array(object->distrusted, object->distrusted_count, sizeof(*t->distrusted));
	object->bare = t->bare;
	object->distrusted = t->distrusted;
	if (object->go) {
		t->go = *object->go;
		object->go = &t->go;
	}
	if (object->code) {
		t->code = *object->code;
		object->code = &t->code;
	}
}

static const struct cfi_section *find_section(const struct cfi_source *source, bool debug_frame)
{
	for (size_t i = 0; i < source->section_count; i++)
		if ((source->sections[i].kind == CFI_DEBUG_FRAME) == debug_frame)
			return &source->sections[i];
	return NULL;
}

struct cfi_table *cfi_table_open(const struct cfi_source *source)
{
	static const struct cfi_header no_header;
	struct cfi_table *t = xalloc(sizeof(*t));

	t->source = *source;
	copy_object(t);
	cfi_index_init(&t->indices[INDEX_EH_FRAME], find_section(&t->source, false),
		&t->source.header, &t->source.object);
	cfi_index_init(&t->indices[INDEX_DEBUG_FRAME], find_section(&t->source, true), &no_header,
		&t->source.object);
	cfi_rules_init(&t->rules, t->source.object.arch);
	t->rules.has_go_frames = t->source.object.go != NULL;
	t->rows.rules = &t->rules;
	code_gaps_init(&t->gaps, &t->source.object);
	return t;
}

void cfi_table_destroy(struct cfi_table *table)
{
	if (table == NULL)
		return;
	for (size_t i = 0; i < INDEX_COUNT; i++)
		cfi_index_deinit(&table->indices[i]);
	for (size_t i = 0; i < table->source.section_count; i++)
		lazy_bytes_destroy(table->source.sections[i].lazy);
	lazy_bytes_destroy(table->source.header.lazy);
	cfi_rows_deinit(&table->rows);
	cfi_rules_deinit(&table->rules);
	cfi_pages_deinit(&table->pages);
	code_gaps_deinit(&table->gaps);
	free(table->bare);
	free(table->bare_ends);
	free(table->distrusted);
	free(table);
}

/* ---- which entry ---- */

static void tidy(struct cfi_table *t)
{
	for (size_t i = 0; i < t->source.section_count; i++)
		if (t->source.sections[i].lazy)
			lazy_bytes_tidy(t->source.sections[i].lazy);
	if (t->source.header.lazy)
		lazy_bytes_tidy(t->source.header.lazy);
}

/* Looks an address up in the sections; returns the section of its entry, NULL if it has none. */
static const struct cfi_section *find_stretch(
	struct cfi_table *t, uint64_t obj_addr, struct cfi_stretch *stretch)
{
	uint64_t low = 0, high = UINT64_MAX;

	tidy(t);
	for (size_t i = 0; i < INDEX_COUNT; i++) {
		cfi_index_find(&t->indices[i], obj_addr, stretch);
		low = stretch->low > low ? stretch->low : low;
		high = stretch->high < high ? stretch->high : high;
		stretch->low = low;
		stretch->high = high;
		if (stretch->has_fde)
			return t->indices[i].section;
	}
	return NULL;
}

static struct cfi_cie *cie_of(struct cfi_table *t, const struct cfi_section *section, uint32_t cie)
{
	bool is_debug = section->kind == CFI_DEBUG_FRAME;

	return &t->indices[is_debug ? INDEX_DEBUG_FRAME : INDEX_EH_FRAME].cies.list.data[cie];
}

static void compile_fde(struct cfi_table *t, const struct cfi_section *section,
	const struct cfi_fde *fde, uint64_t high)
{
	struct cfi_cie *cie = cie_of(t, section, fde->cie);

	if (!cie->ready)
		cfi_program_run_cie(cie, section);
	if (cie->bad || !cfi_program_run_fde(fde, cie, high, &t->source.object, &t->rows)) {
		t->bad_programs++;
		if (cie->bad)
			cfi_rows_add_gap(&t->rows, fde->low);
	}
}

/* ---- code without an entry ---- */

static void add_bare(const struct cfi_bare *bare, struct cfi_rows *rows)
{
	struct cfi_slow_rule row = {
		.cfa_register = CFI_REGISTER_SP,
		.cfa_value = bare->cfa_offset,
		.how[CFI_REGISTER_RA] = bare->is_outermost ? CFI_UNDEFINED : CFI_AT_CFA,
		.value[CFI_REGISTER_RA] = bare->is_outermost ? 0 : -8,
		.go = (uint8_t)bare->go,
	};

	cfi_rows_add(rows, bare->low_addr, &row);
}

/* Where bare code in a gap ends: start-up code ends at the next function's start at the latest. */
static uint64_t find_bare_end(
	struct cfi_table *t, const struct cfi_bare *bare, const struct cfi_stretch *gap)
{
	uint64_t end = bare->high_addr < gap->high ? bare->high_addr : gap->high;

	if (!bare->is_outermost)
		return end;
	uint64_t next = code_gaps_next_start(&t->gaps, bare->low_addr, gap->low, gap->high);
	return next < end ? next : end;
}

/* The same for bare code number i, cached, because it is in one gap only. */
static uint64_t bare_end(struct cfi_table *t, size_t i, const struct cfi_stretch *gap)
{
	if (t->bare_ends[i] == 0)
		t->bare_ends[i] = find_bare_end(t, &t->bare[i], gap);
	return t->bare_ends[i];
}

/*
 * Finds the bare code at obj_addr in a gap that sections have no rules for.  False: there is none,
 * and [*low, *high) is the range between bare code.  Code with rules at its start is not bare.
 */
static bool find_bare(struct cfi_table *t, uint64_t obj_addr, const struct cfi_stretch *gap,
	uint64_t *low, uint64_t *high)
{
	const struct cfi_object *object = &t->source.object;

	*low = gap->low;
	*high = gap->high;
	for (size_t i = 0; i < object->bare_count; i++) {
		const struct cfi_bare *bare = &object->bare[i];

		if (bare->low_addr >= *high)
			return false;
		if (bare->low_addr > obj_addr) {
			*high = bare->low_addr;
			return false;
		}
		if (bare->low_addr < *low)
			continue;
		uint64_t to = bare_end(t, i, gap);
		if (bare->low_addr >= to)
			continue;
		if (obj_addr < to) {
			*low = bare->low_addr;
			*high = to;
			add_bare(bare, &t->rows);
			return true;
		}
		*low = to;
	}
	return false;
}

/* ---- look-ups ---- */

/* Compiles the rows of the function at obj_addr. */
static void compile(struct cfi_table *t, uint64_t obj_addr)
{
	struct cfi_stretch stretch;
	uint64_t low, high;

	const struct cfi_section *section = find_stretch(t, obj_addr, &stretch);
	cfi_rows_clear(&t->rows, section);
	low = stretch.low;
	high = stretch.high;
	if (section)
		compile_fde(t, section, &stretch.fde, high);
	else if (!find_bare(t, obj_addr, &stretch, &low, &high))
		code_gaps_add_rows(&t->gaps, obj_addr, &low, &high, &t->rows);
	cfi_pages_put(&t->pages, obj_addr, low, high, &t->rows);
}

/* The number of the rule at obj_addr. */
static uint16_t rule_at(struct cfi_table *t, uint64_t obj_addr)
{
	uint16_t number = cfi_pages_find(&t->pages, obj_addr);

	if (likely(number != CFI_RULE_UNKNOWN))
		return number;
	/* Nothing is there, and [low, high) cannot include this address. */
	if (obj_addr == UINT64_MAX)
		return CFI_RULE_NONE;
	compile(t, obj_addr);
	return cfi_pages_find(&t->pages, obj_addr);
}

const struct cfi_rule *cfi_table_find(struct cfi_table *table, uint64_t obj_addr)
{
	return cfi_rules_at(&table->rules, rule_at(table, obj_addr));
}

bool cfi_table_function(struct cfi_table *table, uint64_t obj_addr, uint64_t *start_addr)
{
	struct cfi_stretch stretch;
	uint64_t low, high;

	if (rule_at(table, obj_addr) == CFI_RULE_NONE)
		return false;
	cfi_rows_clear(&table->rows, NULL);
	if (find_stretch(table, obj_addr, &stretch)) {
		*start_addr = stretch.fde.low;
		return true;
	}
	if (find_bare(table, obj_addr, &stretch, &low, &high))
		return false;
	(void)code_gaps_function(&table->gaps, obj_addr, &low, &high);
	*start_addr = low;
	return true;
}

const struct cfi_slow_rule *cfi_table_slow(const struct cfi_table *table, uint32_t index)
{
	return table->rules.slow_rules.data[index];
}

struct str cfi_table_expression(const struct cfi_table *table, int32_t index)
{
	return table->rules.expressions.strings[index];
}

const struct cfi_go *cfi_table_go(const struct cfi_table *table)
{
	return table->source.object.go;
}

size_t cfi_table_bad_entries(const struct cfi_table *table)
{
	size_t bad = table->bad_programs + table->rules.too_many;

	for (size_t i = 0; i < INDEX_COUNT; i++)
		bad += table->indices[i].bad;
	return bad;
}

size_t cfi_table_rule_count(const struct cfi_table *table)
{
	return table->rules.count;
}

size_t cfi_table_size_bytes(const struct cfi_table *table)
{
	size_t size = sizeof(*table) + cfi_rules_size_bytes(&table->rules) +
		      table->pages.size_bytes + code_gaps_size_bytes(&table->gaps);

	for (size_t i = 0; i < INDEX_COUNT; i++)
		size += cfi_index_size_bytes(&table->indices[i]);
	for (size_t i = 0; i < table->source.section_count; i++)
		if (table->source.sections[i].lazy)
			size += lazy_bytes_size_bytes(table->source.sections[i].lazy);
	return size;
}
