/*
 * Rows and the dictionary of rules.  See cfi_rows.h.
 *
 * Nearly all rows have one of a few hundred rules of the simple kinds; such a rule packs into 64
 * bits, which a small direct-mapped memo takes to its number.  The others are compared in full,
 * their expressions by content.
 */
#include "obj/cfi_rows.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "obj/cfi_read.h"

/* .plt as GNU ld, gold and lld describe it: breg7+8, breg16+0, lit15, and, lit11, ge, lit3, shl,
 * plus */
static const uint8_t plt_expression[] = {
	0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

/* Where struct sigcontext's registers stand, from the ucontext at sp (asm/sigcontext.h). */
enum { UCONTEXT_BP = 120, UCONTEXT_SP = 160, UCONTEXT_PC = 168 };

void cfi_rows_begin(struct cfi_rows *rows, struct cfi_table *table, uint64_t low)
{
	*rows = (struct cfi_rows){.table = table};
	table->base_addr = low >> CFI_PAGE_BITS << CFI_PAGE_BITS;
	table->arena = arena_create();
	str_table_init(&table->expressions, table->arena);
	str_table_init(&rows->slow_keys, table->arena);
	vec_push(&table->rules, (struct cfi_rule){.kind = CFI_NONE});
	memset(rows->memo, 0xff, sizeof(rows->memo));
}

/* ---- expressions ---- */

/* An expression as rows hold them while they are built: by the offset in the section. */
static struct str section_expression(const struct cfi_rows *rows, int32_t offset)
{
	struct cursor c;

	cursor_init(&c, rows->section->bytes, rows->section->size, "", 0);
	cursor_seek(&c, (uint32_t)offset);
	uint64_t size = cursor_uleb(&c);
	const uint8_t *bytes = cursor_bytes(&c, size);
	return bytes ? (struct str){(const char *)bytes, size} : STR("");
}

static bool is_plt(const struct cfi_rows *rows, const struct cfi_slow_rule *row)
{
	struct str e = section_expression(rows, row->cfa_value);

	return e.size == sizeof(plt_expression) && memcmp(e.data, plt_expression, e.size) == 0;
}

/* Whether expression e is "sp + offset", and nothing more than that and a dereference if asked. */
static bool is_sp_plus(struct str e, int64_t offset, bool dereferenced)
{
	enum { OP_BREG7 = 0x77, OP_DEREF = 0x06 };
	struct cursor c;

	cursor_init(&c, e.data, e.size, "", 0);
	if (cursor_u8(&c) != OP_BREG7 || cursor_sleb(&c) != offset)
		return false;
	if (dereferenced && cursor_u8(&c) != OP_DEREF)
		return false;
	return cursor_ok(&c) && cursor_at_end(&c);
}

static bool register_at_sp_plus(
	const struct cfi_rows *rows, const struct cfi_slow_rule *row, int reg, int64_t offset)
{
	return row->how[reg] == CFI_AT_EXPRESSION &&
	       is_sp_plus(section_expression(rows, row->value[reg]), offset, false);
}

/* A signal frame whose rules say what CFI_SIGNAL says. */
static bool is_plain_signal(const struct cfi_rows *rows, const struct cfi_slow_rule *row)
{
	return row->is_signal && row->cfa_is_expression &&
	       is_sp_plus(section_expression(rows, row->cfa_value), UCONTEXT_SP, true) &&
	       register_at_sp_plus(rows, row, CFI_REGISTER_RA, UCONTEXT_PC) &&
	       register_at_sp_plus(rows, row, CFI_REGISTER_BP, UCONTEXT_BP);
}

/* ---- rules ---- */

/* Unchanged, or saved in the frame. */
static bool is_plain(const struct cfi_slow_rule *row, int reg)
{
	return row->how[reg] <= CFI_SAME || (row->how[reg] == CFI_AT_CFA && row->value[reg]);
}

static int32_t saved_offset(const struct cfi_slow_rule *row, int reg)
{
	return row->how[reg] == CFI_AT_CFA ? row->value[reg] : 0;
}

static enum cfi_kind kind_of(const struct cfi_rows *rows, const struct cfi_slow_rule *row)
{
	bool ra_plain =
		row->how[CFI_REGISTER_RA] == CFI_AT_CFA && row->value[CFI_REGISTER_RA] == -8;
	bool sp_plain = row->how[CFI_REGISTER_SP] == CFI_DEFAULT;

	if (row->is_signal)
		return is_plain_signal(rows, row) ? CFI_SIGNAL : CFI_SLOW;
	if (row->how[CFI_REGISTER_RA] == CFI_UNDEFINED)
		return CFI_END;
	if (!ra_plain || !sp_plain || !is_plain(row, CFI_REGISTER_BP) ||
		!is_plain(row, CFI_REGISTER_BX))
		return CFI_SLOW;
	if (row->cfa_is_expression)
		return is_plt(rows, row) ? CFI_PLT : CFI_SLOW;
	if (row->is_from_code)
		return row->cfa_register == CFI_REGISTER_SP ? CFI_CODE_SP : CFI_CODE_BP;
	if (row->cfa_register == CFI_REGISTER_SP)
		return CFI_SP;
	return row->cfa_register == CFI_REGISTER_BP ? CFI_BP : CFI_SLOW;
}

static struct cfi_rule simple_rule(enum cfi_kind kind, const struct cfi_slow_rule *row)
{
	struct cfi_rule rule = {.kind = kind};

	if (kind != CFI_SIGNAL && kind != CFI_END) {
		rule.cfa_offset = kind == CFI_PLT ? 0 : row->cfa_value;
		rule.bp_offset = saved_offset(row, CFI_REGISTER_BP);
		rule.bx_offset = saved_offset(row, CFI_REGISTER_BX);
	}
	return rule;
}

static uint16_t add_rule(struct cfi_rows *rows, struct cfi_rule rule)
{
	if (rows->table->rules.count == CFI_RULES_MAX) {
		rows->too_many = true;
		return 0;
	}
	vec_push(&rows->table->rules, rule);
	return (uint16_t)(rows->table->rules.count - 1);
}

static uint16_t simple_number(struct cfi_rows *rows, struct cfi_rule rule)
{
	uint64_t a = (uint64_t)rule.kind << 32 | (uint32_t)rule.cfa_offset;
	uint64_t b = (uint64_t)(uint32_t)rule.bp_offset << 32 | (uint32_t)rule.bx_offset;
	size_t slot = ((a ^ (b << 7 | b >> 57)) * 0x9e3779b97f4a7c15u) >> 54;
	bool added;

	_Static_assert(CFI_MEMO_SIZE == 1 << (64 - 54), "the slot is the product's upper bits");
	if (likely(rows->memo[slot].a == a && rows->memo[slot].b == b))
		return rows->memo[slot].number;
	uint32_t *number = map_at(&rows->rule_numbers, a, b, 0, &added);
	if (added)
		*number = add_rule(rows, rule);
	rows->memo[slot].a = a;
	rows->memo[slot].b = b;
	rows->memo[slot].number = (uint16_t)*number;
	return (uint16_t)*number;
}

static int32_t keep_expression(struct cfi_rows *rows, int32_t offset)
{
	return (int32_t)str_table_intern(
		&rows->table->expressions, section_expression(rows, offset));
}

static uint16_t slow_number(struct cfi_rows *rows, const struct cfi_slow_rule *row)
{
	struct cfi_slow_rule kept = *row;

	if (kept.cfa_is_expression)
		kept.cfa_value = keep_expression(rows, row->cfa_value);
	for (int i = 0; i < CFI_REGISTER_COUNT; i++) {
		if (kept.how[i] == CFI_AT_EXPRESSION || kept.how[i] == CFI_EXPRESSION)
			kept.value[i] = keep_expression(rows, row->value[i]);
		else if (kept.how[i] <= CFI_UNDEFINED)
			kept.value[i] = 0;
	}
	struct str key = {(const char *)&kept, sizeof(kept)};
	uint32_t index = str_table_intern(&rows->slow_keys, key);
	if (index < rows->slow_numbers.count)
		return rows->slow_numbers.data[index];
	vec_push(&rows->table->slow_rules, kept);
	uint16_t number = add_rule(rows, (struct cfi_rule){.kind = CFI_SLOW, .slow = index});
	vec_push(&rows->slow_numbers, number);
	return number;
}

static uint16_t rule_number(struct cfi_rows *rows, const struct cfi_slow_rule *row)
{
	enum cfi_kind kind = kind_of(rows, row);

	if (likely(kind != CFI_SLOW))
		return simple_number(rows, simple_rule(kind, row));
	return rows->too_many ? 0 : slow_number(rows, row);
}

/* ---- rows ---- */

static uint64_t pages(const struct cfi_table *t)
{
	return t->page_first.count;
}

/* Begins pages up to the given one, each with a row that carries the last rule on. */
static void begin_pages(struct cfi_rows *rows, uint64_t page)
{
	struct cfi_table *t = rows->table;

	while (pages(t) <= page) {
		vec_push(&t->page_first, (uint32_t)t->rows.count);
		vec_push(&t->rows, rows->last);
	}
}

static void add_row(struct cfi_rows *rows, uint64_t obj_addr, uint16_t number)
{
	struct cfi_table *t = rows->table;
	uint64_t offset = obj_addr - t->base_addr;
	uint32_t low = (uint32_t)offset << CFI_PAGE_BITS;

	assert(obj_addr >= t->base_addr && (offset >> CFI_PAGE_BITS) + 1 >= pages(t));
	begin_pages(rows, offset >> CFI_PAGE_BITS);
	uint32_t *last_row = &t->rows.data[t->rows.count - 1];
	assert(*last_row >> CFI_PAGE_BITS <= low >> CFI_PAGE_BITS);
	if (*last_row >> CFI_PAGE_BITS == low >> CFI_PAGE_BITS)
		*last_row = low | number;
	else if (rows->last != number)
		vec_push(&t->rows, low | number);
	rows->last = number;
}

void cfi_rows_add(struct cfi_rows *rows, uint64_t obj_addr, const struct cfi_slow_rule *row)
{
	add_row(rows, obj_addr, rule_number(rows, row));
}

void cfi_rows_add_gap(struct cfi_rows *rows, uint64_t obj_addr)
{
	add_row(rows, obj_addr, 0);
}

void cfi_rows_add_start(struct cfi_rows *rows, uint64_t obj_addr)
{
	struct cfi_table *t = rows->table;

	if (obj_addr - t->base_addr <= UINT32_MAX)
		vec_push(&t->starts, (uint32_t)(obj_addr - t->base_addr));
}

void cfi_rows_finish(struct cfi_rows *rows)
{
	struct cfi_table *t = rows->table;

	vec_push(&t->page_first, (uint32_t)t->rows.count);
	t->rows.data = xrealloc_array(t->rows.data, t->rows.count, sizeof(*t->rows.data));
	t->rows.capacity = t->rows.count;
	map_deinit(&rows->rule_numbers);
	str_table_deinit(&rows->slow_keys);
	vec_deinit(&rows->slow_numbers);
}
