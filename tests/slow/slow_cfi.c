/*
 * All rules at once.  See slow_cfi.h.
 */
#include "slow_cfi.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/search.h"
#include "obj/cfi_program.h"
#include "obj/code_frames.h"

/* ---- making ---- */

/* What the rows at hand say of [low, high). */
static void take_rows(struct slow_cfi *slow, uint64_t low, uint64_t high)
{
	struct cfi_row first = {.obj_addr = low, .number = CFI_RULE_NONE};

	for (size_t i = 0; i < slow->one.rows.count; i++)
		if (slow->one.rows.data[i].obj_addr <= low)
			first.number = slow->one.rows.data[i].number;
	vec_push(&slow->rows, first);
	for (size_t i = 0; i < slow->one.rows.count; i++)
		if (slow->one.rows.data[i].obj_addr > low && slow->one.rows.data[i].obj_addr < high)
			vec_push(&slow->rows, slow->one.rows.data[i]);
}

static void add_fde(struct slow_cfi *slow, const struct cfi_fde *fde, uint64_t high)
{
	const struct cfi_section *section = &slow->source->sections[0];
	struct cfi_cie *cie = &slow->entries.cies.data[fde->cie];

	cfi_rows_clear(&slow->one, section);
	if (!cie->ready)
		cfi_program_run_cie(cie, section);
	if (!cie->bad)
		cfi_program_run_fde(fde, cie, high, &slow->source->object, &slow->one);
	take_rows(slow, fde->low, high);
}

/* Code in a gap, all of which is there. */
static void add_piece(struct slow_cfi *slow, const struct code_piece *piece)
{
	const struct cfi_code *code = slow->source->object.code;
	uint64_t end = piece->obj_addr + piece->size;
	struct code_starts starts = {0};

	if (!code_frames_wanted(piece))
		return;
	code_frames_find_starts(piece, &starts);
	if (piece->size >= 4096)
		code->add_starts(code->context, &starts);
	code_starts_sort(&starts);
	for (uint64_t low = piece->obj_addr; low < end;) {
		uint64_t next = code_starts_from(&starts, low + 1);
		uint64_t high = next < end ? next : end;
		struct code_piece function = {
			low, piece->bytes + (low - piece->obj_addr), high - low, piece->arch};

		cfi_rows_clear(&slow->one, NULL);
		code_frames_add_rows(&function, &slow->one);
		take_rows(slow, low, high);
		low = high;
	}
	code_starts_deinit(&starts);
}

static void add_code(struct slow_cfi *slow, uint64_t low, uint64_t high)
{
	const struct cfi_code *code = slow->source->object.code;
	uint8_t *bytes = xcalloc(high - low, 1);
	struct code_piece piece = {low, bytes, high - low, code->arch};

	if (code->read(code->context, low, bytes, high - low))
		add_piece(slow, &piece);
	free(bytes);
}

/* [low, high) has no entry. */
static void add_gap(struct slow_cfi *slow, uint64_t low, uint64_t high)
{
	const struct cfi_code *code = slow->source->object.code;

	vec_push(&slow->rows, (struct cfi_row){low, CFI_RULE_NONE});
	for (size_t i = 0; code && i < code->count; i++) {
		uint64_t from = code->ranges[i].low, to = code->ranges[i].high;
		bool is_all = low <= from && to <= high;

		from = from > low ? from : low;
		to = to < high ? to : high;
		if (from >= to || (!is_all && to - from < 16))
			continue;
		vec_push(&slow->rows, (struct cfi_row){from, CFI_RULE_NONE});
		add_code(slow, from, to);
		vec_push(&slow->rows, (struct cfi_row){to, CFI_RULE_NONE});
	}
}

void slow_cfi_init(struct slow_cfi *slow, const struct cfi_source *source)
{
	uint64_t end = 0;

	*slow = (struct slow_cfi){.source = source, .entries = {.object = &source->object}};
	cfi_rules_init(&slow->rules, NULL);
	slow->one.rules = &slow->rules;
	if (source->section_count)
		cfi_entries_add(&slow->entries, &source->sections[0]);
	cfi_entries_sort(&slow->entries);
	for (size_t i = 0; i < slow->entries.fdes.count; i++) {
		const struct cfi_fde *fde = &slow->entries.fdes.data[i];
		uint64_t next = i + 1 < slow->entries.fdes.count ? fde[1].low : UINT64_MAX;
		uint64_t high = fde->high < next ? fde->high : next;

		if (high == fde->low)
			continue;
		if (end < fde->low)
			add_gap(slow, end, fde->low);
		add_fde(slow, fde, high);
		end = high;
	}
	add_gap(slow, end, UINT64_MAX);
}

void slow_cfi_deinit(struct slow_cfi *slow)
{
	cfi_entries_deinit(&slow->entries);
	cfi_rows_deinit(&slow->one);
	cfi_rules_deinit(&slow->rules);
	vec_deinit(&slow->rows);
}

/* ---- comparing ---- */

static bool same_text(struct str a, struct str b)
{
	return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static bool same_slow(const struct slow_cfi *slow, const struct cfi_slow_rule *a,
	const struct cfi_table *table, const struct cfi_slow_rule *b)
{
	struct str *expressions = slow->rules.expressions.strings;
	struct cfi_slow_rule a_rest = *a, b_rest = *b;

	if (memcmp(a->how, b->how, sizeof(a->how)) != 0 ||
		a->cfa_is_expression != b->cfa_is_expression)
		return false;
	if (a->cfa_is_expression) {
		if (!same_text(
			    expressions[a->cfa_value], cfi_table_expression(table, b->cfa_value)))
			return false;
		a_rest.cfa_value = b_rest.cfa_value = 0;
	}
	for (int i = 0; i < CFI_REGISTER_COUNT; i++) {
		if (a->how[i] != CFI_EXPRESSION && a->how[i] != CFI_AT_EXPRESSION)
			continue;
		if (!same_text(expressions[a->value[i]], cfi_table_expression(table, b->value[i])))
			return false;
		a_rest.value[i] = b_rest.value[i] = 0;
	}
	return memcmp(&a_rest, &b_rest, sizeof(a_rest)) == 0;
}

bool slow_cfi_agrees(const struct slow_cfi *slow, struct cfi_table *table, uint64_t obj_addr)
{
	const struct cfi_rule *b = cfi_table_find(table, obj_addr);
	size_t until =
		partition_point(i, 0, slow->rows.count, slow->rows.data[i].obj_addr <= obj_addr);
	const struct cfi_rule *a = cfi_rules_at(
		&slow->rules, until ? slow->rows.data[until - 1].number : CFI_RULE_NONE);

	if (a->kind != b->kind)
		return false;
	if (a->kind == CFI_SLOW)
		return same_slow(slow, slow->rules.slow_rules.data[a->slow], table,
			cfi_table_slow(table, b->slow));
	return a->cfa_offset == b->cfa_offset && a->bp_offset == b->bp_offset &&
	       a->bx_offset == b->bx_offset;
}
