/*
 * Steps by complete rows, and out of signal frames.
 *
 * Registers that the sampler did not provide, and those that a simple step did not follow, are
 * unknown.  A rule that needs one fails instead of guessing.
 *
 * Sources: DWARF 5 section 6.4.1; arch/arch.h for the signal frame.
 */
#include "unwind/slow.h"

#include "unwind/expression.h"

struct slow {
	const struct arch *arch;
	const struct cfi_table *table;
	const struct cfi_slow_rule *rule;
	const struct unwind_regs *regs;
	struct unwind_memory *memory;
	uint64_t cfa;
};

static enum expression_result find_cfa(struct slow *s)
{
	if (s->rule->cfa_is_expression)
		return expression_evaluate(s->arch,
			cfi_table_expression(s->table, s->rule->cfa_value), s->regs, s->memory,
			NULL, &s->cfa);
	if (!unwind_regs_know(s->regs, s->rule->cfa_register))
		return EXPRESSION_BAD;
	s->cfa = s->regs->value[s->rule->cfa_register] + (uint64_t)(int64_t)s->rule->cfa_value;
	return EXPRESSION_GOOD;
}

static enum expression_result keep(
	const struct slow *s, unsigned int reg, bool known_kept, uint64_t *value)
{
	if (!known_kept || !unwind_regs_know(s->regs, reg))
		return EXPRESSION_BAD;
	*value = s->regs->value[reg];
	return EXPRESSION_GOOD;
}

static enum expression_result read(const struct slow *s, uint64_t va, uint64_t *value)
{
	return unwind_memory_read(s->memory, va, value) ? EXPRESSION_GOOD : EXPRESSION_NO_MEMORY;
}

static enum expression_result evaluate(const struct slow *s, int32_t expression, uint64_t *value)
{
	return expression_evaluate(s->arch, cfi_table_expression(s->table, expression), s->regs,
		s->memory, &s->cfa, value);
}

/* The caller's value of a register; unknown unless the result is EXPRESSION_GOOD. */
static enum expression_result find_register(const struct slow *s, unsigned int reg, uint64_t *value)
{
	int32_t operand = s->rule->value[reg];
	enum expression_result result;
	uint64_t va;

	switch ((enum cfi_how)s->rule->how[reg]) {
	case CFI_DEFAULT:
		if (reg == UNWIND_REG_SP) {
			*value = s->cfa;
			return EXPRESSION_GOOD;
		}
		return keep(s, reg, s->arch->callee_saved >> reg & 1, value);
	case CFI_SAME:
		return keep(s, reg, true, value);
	case CFI_AT_CFA:
		return read(s, s->cfa + (uint64_t)(int64_t)operand, value);
	case CFI_CFA_PLUS:
		*value = s->cfa + (uint64_t)(int64_t)operand;
		return EXPRESSION_GOOD;
	case CFI_REGISTER:
		return keep(s, (unsigned int)operand, true, value);
	case CFI_AT_EXPRESSION:
		result = evaluate(s, operand, &va);
		return result == EXPRESSION_GOOD ? read(s, va, value) : result;
	case CFI_EXPRESSION:
		return evaluate(s, operand, value);
	case CFI_UNDEFINED:
		break;
	}
	return EXPRESSION_BAD;
}

static enum step failed(enum expression_result result)
{
	return result == EXPRESSION_NO_MEMORY ? STEP_NO_MEMORY : STEP_NO_RULE;
}

/* Whether the return address is in a register, as in a leaf with a link register. */
static bool returns_by_register(const struct slow *s)
{
	uint8_t how = s->rule->how[s->arch->return_reg];

	return how == CFI_REGISTER || (arch_has_link_register(s->arch) && how <= CFI_SAME);
}

/* The caller's value of a slot; for the pc, by the rule for the return address. */
static enum expression_result find_slot(const struct slow *s, unsigned int reg, uint64_t *value)
{
	if (reg != UNWIND_REG_PC)
		return find_register(s, reg, value);
	enum expression_result result = find_register(s, s->arch->return_reg, value);
	if (result == EXPRESSION_GOOD)
		*value &= s->arch->return_mask;
	return result;
}

/*
 * Whether there is stack memory at the CFA. Rules that never read the stack could lead outwards for
 * ever.  What is inside of the stack pointer is never copied.
 */
static bool has_stack(const struct slow *s)
{
	uint64_t inside = s->cfa - (s->rule->is_signal ? 0 : 8), word;

	/* longjmp: the CFA is its buffer. */
	if (returns_by_register(s))
		return true;
	if (inside == s->regs->value[UNWIND_REG_SP] - 8)
		inside += 8;
	return unwind_memory_read(s->memory, inside, &word);
}

enum step slow_step(const struct arch *arch, const struct cfi_table *table,
	const struct cfi_slow_rule *rule, bool interrupted, struct unwind_regs *regs,
	struct unwind_memory *memory)
{
	struct slow s = {
		.arch = arch, .table = table, .rule = rule, .regs = regs, .memory = memory};
	struct unwind_regs caller = {.known = 0};
	enum expression_result result = find_cfa(&s);

	_Static_assert((int)CFI_REGISTER_COUNT == (int)UNWIND_REG_COUNT, "one numbering");
	if (rule->how[arch->return_reg] == CFI_UNDEFINED)
		return STEP_ROOT;
	if (result != EXPRESSION_GOOD)
		return failed(result);
	/* A frame that made a call has its return address on the stack. */
	if (returns_by_register(&s) && !interrupted)
		return STEP_NO_RULE;
	if (!has_stack(&s))
		return STEP_NO_MEMORY;
	for (unsigned int reg = 0; reg < UNWIND_REG_COUNT; reg++) {
		uint64_t value;
		result = find_slot(&s, reg, &value);
		if (result == EXPRESSION_GOOD)
			unwind_regs_set(&caller, reg, value);
		else if (reg == UNWIND_REG_SP || reg == UNWIND_REG_PC)
			return failed(result);
	}
	*regs = caller;
	return rule->is_signal ? STEP_INTERRUPTED : STEP_CALLER;
}

enum step signal_step(
	const struct arch *arch, struct unwind_regs *regs, struct unwind_memory *memory)
{
	struct unwind_regs interrupted = {.known = 0};
	uint64_t frame_sp = regs->value[UNWIND_REG_SP], value;

	for (unsigned int reg = 0; reg < UNWIND_REG_COUNT; reg++) {
		if (arch->signal_offset[reg] != UINT16_MAX &&
			unwind_memory_read(memory, frame_sp + arch->signal_offset[reg], &value))
			unwind_regs_set(&interrupted, reg, value);
	}
	if (!unwind_regs_know(&interrupted, UNWIND_REG_SP) ||
		!unwind_regs_know(&interrupted, UNWIND_REG_PC))
		return STEP_NO_MEMORY;
	*regs = interrupted;
	return STEP_INTERRUPTED;
}
