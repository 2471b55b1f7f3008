/*
 * The dictionary of rules.  See cfi_rules.h.
 *
 * Nearly all rows have one of a few hundred simple rules.  Such a rule packs into 64 bits, which a
 * small direct-mapped cache maps to its number.  The others are compared completely, and their
 * expressions by content.
 */
#include "obj/cfi_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "arch/arch.h"
#include "obj/cfi_read.h"

/* .plt as GNU ld, gold and lld describe it: breg7+8, breg16+0, lit15, and, lit11, ge, lit3, shl,
 * plus */
static const uint8_t plt_expression[] = {
	0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22};

/* The origin of a row that needs a number. */
struct maker {
	struct cfi_rules *rules;
	const struct cfi_section *section;
};

static uint16_t add_rule(struct cfi_rules *rules, struct cfi_rule rule)
{
	size_t chunk = rules->count >> CFI_RULES_CHUNK_BITS;

	if (rules->count == CFI_RULES_MAX) {
		rules->too_many = true;
		return CFI_RULE_NONE;
	}
	if (rules->chunks[chunk] == NULL)
		rules->chunks[chunk] = ARENA_ARRAY(rules->arena, struct cfi_rule, CFI_RULES_CHUNK);
	rules->chunks[chunk][rules->count & (CFI_RULES_CHUNK - 1)] = rule;
	return (uint16_t)rules->count++;
}

void cfi_rules_init(struct cfi_rules *rules, const struct arch *arch)
{
	*rules = (struct cfi_rules){.arch = arch ? arch : arch_here(), .arena = arena_create()};
	str_table_init(&rules->expressions, rules->arena);
	str_table_init(&rules->slow_keys, rules->arena);
	memset(rules->memo, 0xff, sizeof(rules->memo));
	add_rule(rules, (struct cfi_rule){.kind = CFI_NONE});
}

void cfi_rules_deinit(struct cfi_rules *rules)
{
	vec_deinit(&rules->slow_rules);
	vec_deinit(&rules->slow_numbers);
	map_deinit(&rules->numbers);
	str_table_deinit(&rules->slow_keys);
	str_table_deinit(&rules->expressions);
	arena_destroy(rules->arena);
}

size_t cfi_rules_size_bytes(const struct cfi_rules *rules)
{
	return arena_size_bytes(rules->arena) + rules->numbers.capacity * sizeof(struct map_slot) +
	       rules->slow_rules.capacity * sizeof(struct cfi_slow_rule *);
}

/* ---- expressions ---- */

/* An expression in a row being built: its offset in the section. */
static struct str section_expression(const struct maker *m, int32_t offset)
{
	struct cursor c;

	cursor_init(&c, m->section->bytes, m->section->size, "", 0);
	cursor_seek(&c, (uint32_t)offset);
	uint64_t size = cursor_uleb(&c);
	const uint8_t *bytes = cursor_bytes(&c, size);
	return bytes ? (struct str){(const char *)bytes, size} : STR("");
}

static bool is_plt(const struct maker *m, const struct cfi_slow_rule *row)
{
	struct str e = section_expression(m, row->cfa_value);

	return e.size == sizeof(plt_expression) && memcmp(e.data, plt_expression, e.size) == 0;
}

/* Whether e is "sp + offset", plus a dereference if `dereferenced`, and nothing else. */
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

static bool register_at_sp_plus(const struct maker *m, const struct cfi_slow_rule *row, int reg)
{
	return row->how[reg] == CFI_AT_EXPRESSION &&
	       is_sp_plus(section_expression(m, row->value[reg]),
		       m->rules->arch->signal_offset[reg], false);
}

/* A signal frame with exactly the rules that CFI_SIGNAL stands for. */
static bool is_plain_signal(const struct maker *m, const struct cfi_slow_rule *row)
{
	return row->is_signal && row->cfa_is_expression &&
	       is_sp_plus(section_expression(m, row->cfa_value),
		       m->rules->arch->signal_offset[CFI_REGISTER_SP], true) &&
	       register_at_sp_plus(m, row, CFI_REGISTER_RA) &&
	       register_at_sp_plus(m, row, CFI_REGISTER_BP);
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

/*
 * On machines with a link register, only complete rows say where the return address was saved.  The
 * frame record below a signal handler leads to the interrupted function's caller, so the registers
 * saved by the kernel are used.
 */
static enum cfi_kind kind_with_link_register(
	const struct arch *arch, const struct cfi_slow_rule *row)
{
	if (row->is_signal)
		return CFI_SIGNAL;
	return row->how[arch->return_reg] == CFI_UNDEFINED ? CFI_END : CFI_SLOW;
}

static enum cfi_kind kind_of(const struct maker *m, const struct cfi_slow_rule *row)
{
	if (row->go)
		return row->go == CFI_GO_SIGNAL_RETURN ? CFI_SIGNAL : CFI_GO;
	bool ra_plain =
		row->how[CFI_REGISTER_RA] == CFI_AT_CFA && row->value[CFI_REGISTER_RA] == -8;
	bool sp_plain = row->how[CFI_REGISTER_SP] == CFI_DEFAULT;

	if (unlikely(arch_has_link_register(m->rules->arch)))
		return kind_with_link_register(m->rules->arch, row);
	if (row->is_signal)
		return is_plain_signal(m, row) ? CFI_SIGNAL : CFI_SLOW;
	if (row->how[CFI_REGISTER_RA] == CFI_UNDEFINED)
		return CFI_END;
	if (!ra_plain || !sp_plain || !is_plain(row, CFI_REGISTER_BP) ||
		!is_plain(row, CFI_REGISTER_BX))
		return CFI_SLOW;
	if (row->cfa_is_expression)
		return is_plt(m, row) ? CFI_PLT : CFI_SLOW;
	if (row->is_from_code)
		return row->cfa_register == CFI_REGISTER_SP ? CFI_CODE_SP : CFI_CODE_BP;
	if (row->cfa_register == CFI_REGISTER_SP)
		return CFI_SP;
	return row->cfa_register == CFI_REGISTER_BP ? CFI_BP : CFI_SLOW;
}

static struct cfi_rule simple_rule(enum cfi_kind kind, const struct cfi_slow_rule *row)
{
	struct cfi_rule rule = {.kind = kind};

	if (kind == CFI_GO) {
		rule.go = (enum cfi_go_kind)row->go;
		return rule;
	}
	if (kind != CFI_SIGNAL && kind != CFI_END) {
		rule.cfa_offset = kind == CFI_PLT ? 0 : row->cfa_value;
		rule.bp_offset = saved_offset(row, CFI_REGISTER_BP);
		rule.bx_offset = saved_offset(row, CFI_REGISTER_BX);
	}
	return rule;
}

static uint16_t simple_number(struct cfi_rules *rules, struct cfi_rule rule)
{
	uint64_t a = (uint64_t)rule.kind << 32 | (uint32_t)rule.cfa_offset;
	uint64_t b = (uint64_t)(uint32_t)rule.bp_offset << 32 | (uint32_t)rule.bx_offset;
	size_t slot = ((a ^ (b << 7 | b >> 57)) * 0x9e3779b97f4a7c15u) >> 54;
	bool added;

	_Static_assert(CFI_MEMO_SIZE == 1 << (64 - 54), "the slot is the product's upper bits");
	if (likely(rules->memo[slot].a == a && rules->memo[slot].b == b))
		return rules->memo[slot].number;
	uint32_t *number = map_at(&rules->numbers, a, b, 0, &added);
	if (added)
		*number = add_rule(rules, rule);
	rules->memo[slot].a = a;
	rules->memo[slot].b = b;
	rules->memo[slot].number = (uint16_t)*number;
	return (uint16_t)*number;
}

static int32_t keep_expression(const struct maker *m, int32_t offset)
{
	return (int32_t)str_table_intern(&m->rules->expressions, section_expression(m, offset));
}

static uint16_t slow_number(const struct maker *m, const struct cfi_slow_rule *row)
{
	struct cfi_rules *rules = m->rules;
	struct cfi_slow_rule kept = *row;

	if (kept.cfa_is_expression)
		kept.cfa_value = keep_expression(m, row->cfa_value);
	for (int i = 0; i < CFI_REGISTER_COUNT; i++) {
		if (kept.how[i] == CFI_AT_EXPRESSION || kept.how[i] == CFI_EXPRESSION)
			kept.value[i] = keep_expression(m, row->value[i]);
		else if (kept.how[i] <= CFI_UNDEFINED)
			kept.value[i] = 0;
	}
	struct str key = {(const char *)&kept, sizeof(kept)};
	uint32_t index = str_table_intern(&rules->slow_keys, key);
	if (index < rules->slow_numbers.count)
		return rules->slow_numbers.data[index];
	struct cfi_slow_rule *copy = ARENA_NEW(rules->arena, struct cfi_slow_rule);
	*copy = kept;
	vec_push(&rules->slow_rules, copy);
	uint16_t number = add_rule(rules, (struct cfi_rule){.kind = CFI_SLOW, .slow = index});
	vec_push(&rules->slow_numbers, number);
	return number;
}

/*
 * Go's compiler and assembler save bp at the upper end of each frame that has room for more than
 * the return address, but its linker does not say so.
 */
static void add_go_frame(const struct maker *m, struct cfi_rule *rule)
{
	if (m->rules->has_go_frames && m->section && m->section->kind == CFI_DEBUG_FRAME &&
		rule->kind == CFI_SP && rule->bp_offset == 0 && rule->cfa_offset >= 16)
		rule->bp_offset = -16;
}

uint16_t cfi_rules_number(
	struct cfi_rules *rules, const struct cfi_section *section, const struct cfi_slow_rule *row)
{
	const struct maker m = {.rules = rules, .section = section};
	enum cfi_kind kind = kind_of(&m, row);

	if (likely(kind != CFI_SLOW)) {
		struct cfi_rule rule = simple_rule(kind, row);
		add_go_frame(&m, &rule);
		return simple_number(rules, rule);
	}
	return rules->too_many ? CFI_RULE_NONE : slow_number(&m, row);
}
