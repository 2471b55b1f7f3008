/*
 * A stack machine for DWARF expressions.
 *
 * Call frame expressions know no object, no location pieces and no calls (DWARF 5 section 6.4.2,
 * last paragraphs), and there is one type: 64-bit integers.
 *
 * Source: DWARF 5 section 2.5.1.
 */
#include "unwind/expression.h"

#include <dwarf.h>

#include "base/cursor.h"
#include "unwind/step.h"

enum { STEPS_MAX = 4096, STACK_MAX = 64 };

struct machine {
	const struct arch *arch;
	struct cursor c;
	const struct unwind_regs *regs;
	struct unwind_memory *memory;
	uint64_t stack[STACK_MAX];
	unsigned int depth;
	bool no_memory;
};

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == STACK_MAX)
		cursor_fail(&m->c, "too many values");
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		cursor_fail(&m->c, "no value");
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_register(struct machine *m, uint64_t number, int64_t offset)
{
	unsigned int reg = arch_reg(m->arch, number);

	if (reg < UNWIND_REG_COUNT && unwind_regs_know(m->regs, reg))
		push(m, m->regs->value[reg] + (uint64_t)offset);
	else
		cursor_fail(&m->c, "unknown register");
}

/* Copies the value `from_top` entries below the top to the top. */
static void pick(struct machine *m, unsigned int from_top)
{
	if (from_top >= m->depth)
		cursor_fail(&m->c, "no value");
	else
		push(m, m->stack[m->depth - 1 - from_top]);
}

/* Moves the top value down by `places` entries, and those above it up. */
static void rotate(struct machine *m, unsigned int places)
{
	if (places >= m->depth) {
		cursor_fail(&m->c, "no value");
		return;
	}
	uint64_t top = m->stack[m->depth - 1];
	uint64_t *low = &m->stack[m->depth - 1 - places];
	memmove(low + 1, low, places * sizeof(*low));
	*low = top;
}

static void dereference(struct machine *m, uint8_t size)
{
	uint64_t va = pop(m), value = 0;

	if (size == 0 || size > 8)
		cursor_fail(&m->c, "a size that is none");
	if (!cursor_ok(&m->c))
		return;
	if (!unwind_memory_read(m->memory, va, &value)) {
		m->no_memory = true;
		cursor_fail(&m->c, "unreadable memory");
		return;
	}
	push(m, size == 8 ? value : value & ((1ull << (8 * size)) - 1));
}

static void jump(struct machine *m, int16_t distance)
{
	uint64_t here = (uint64_t)(m->c.at - m->c.start);

	cursor_seek(&m->c, here + (uint64_t)(int64_t)distance);
}

static void branch(struct machine *m)
{
	int16_t distance = (int16_t)cursor_u16(&m->c);

	if (pop(m))
		jump(m, distance);
}

static void run_unary(struct machine *m, uint8_t op)
{
	uint64_t a = pop(m);

	switch (op) {
	case DW_OP_abs:
		push(m, (int64_t)a < 0 ? -a : a);
		break;
	case DW_OP_neg:
		push(m, -a);
		break;
	case DW_OP_not:
		push(m, ~a);
		break;
	default: /* DW_OP_plus_uconst */
		push(m, a + cursor_uleb(&m->c));
	}
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		cursor_fail(&m->c, "a division by zero");
		return 0;
	}
	/* The one quotient that overflows. */
	if (a == (uint64_t)INT64_MIN && b == UINT64_MAX)
		return a;
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		cursor_fail(&m->c, "a division by zero");
		return 0;
	}
	return a % b;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t by)
{
	return (uint64_t)((int64_t)a >> (by < 64 ? by : 63));
}

static void run_arithmetic(struct machine *m, uint8_t op)
{
	uint64_t b = pop(m), a = pop(m);

	switch (op) {
	case DW_OP_and:
		push(m, a & b);
		break;
	case DW_OP_div:
		push(m, divide(m, a, b));
		break;
	case DW_OP_minus:
		push(m, a - b);
		break;
	case DW_OP_mod:
		push(m, modulo(m, a, b));
		break;
	case DW_OP_mul:
		push(m, a * b);
		break;
	case DW_OP_or:
		push(m, a | b);
		break;
	case DW_OP_plus:
		push(m, a + b);
		break;
	case DW_OP_shl:
		push(m, b < 64 ? a << b : 0);
		break;
	case DW_OP_shr:
		push(m, b < 64 ? a >> b : 0);
		break;
	case DW_OP_shra:
		push(m, shift_right_signed(a, b));
		break;
	default: /* DW_OP_xor */
		push(m, a ^ b);
	}
}

static void run_comparison(struct machine *m, uint8_t op)
{
	int64_t b = (int64_t)pop(m), a = (int64_t)pop(m);

	switch (op) {
	case DW_OP_eq:
		push(m, a == b);
		break;
	case DW_OP_ge:
		push(m, a >= b);
		break;
	case DW_OP_gt:
		push(m, a > b);
		break;
	case DW_OP_le:
		push(m, a <= b);
		break;
	case DW_OP_lt:
		push(m, a < b);
		break;
	default: /* DW_OP_ne */
		push(m, a != b);
	}
}

static void push_constant(struct machine *m, uint8_t op)
{
	struct cursor *c = &m->c;

	switch (op) {
	case DW_OP_const1u:
		push(m, cursor_u8(c));
		break;
	case DW_OP_const1s:
		push(m, (uint64_t)(int8_t)cursor_u8(c));
		break;
	case DW_OP_const2u:
		push(m, cursor_u16(c));
		break;
	case DW_OP_const2s:
		push(m, (uint64_t)(int16_t)cursor_u16(c));
		break;
	case DW_OP_const4u:
		push(m, cursor_u32(c));
		break;
	case DW_OP_const4s:
		push(m, (uint64_t)(int32_t)cursor_u32(c));
		break;
	case DW_OP_constu:
		push(m, cursor_uleb(c));
		break;
	case DW_OP_consts:
		push(m, (uint64_t)cursor_sleb(c));
		break;
	default: /* DW_OP_const8u, DW_OP_const8s */
		push(m, cursor_u64(c));
	}
}

static void run_stack_op(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_OP_dup:
		pick(m, 0);
		break;
	case DW_OP_drop:
		(void)pop(m);
		break;
	case DW_OP_over:
		pick(m, 1);
		break;
	case DW_OP_pick:
		pick(m, cursor_u8(&m->c));
		break;
	case DW_OP_swap:
		rotate(m, 1);
		break;
	default: /* DW_OP_rot */
		rotate(m, 2);
	}
}

static void run_register(struct machine *m, uint8_t op)
{
	if (op == DW_OP_bregx) {
		uint64_t reg = cursor_uleb(&m->c);
		push_register(m, reg, cursor_sleb(&m->c));
	} else {
		push_register(m, op - DW_OP_breg0, cursor_sleb(&m->c));
	}
}

static void run_other(struct machine *m, uint8_t op)
{
	switch (op) {
	case DW_OP_addr: /* relative to the object, whose slide is unknown here */
	default:
		cursor_fail(&m->c, "an operation that has no place here");
		break;
	case DW_OP_deref:
		dereference(m, 8);
		break;
	case DW_OP_deref_size:
		dereference(m, cursor_u8(&m->c));
		break;
	case DW_OP_skip:
		jump(m, (int16_t)cursor_u16(&m->c));
		break;
	case DW_OP_bra:
		branch(m);
		break;
	case DW_OP_nop:
		break;
	}
}

static bool is_comparison(uint8_t op)
{
	return op >= DW_OP_eq && op <= DW_OP_ne;
}

static bool is_unary(uint8_t op)
{
	return op == DW_OP_abs || op == DW_OP_neg || op == DW_OP_not || op == DW_OP_plus_uconst;
}

static void run_op(struct machine *m, uint8_t op)
{
	if (op >= DW_OP_lit0 && op <= DW_OP_lit31)
		push(m, op - DW_OP_lit0);
	else if ((op >= DW_OP_breg0 && op <= DW_OP_breg31) || op == DW_OP_bregx)
		run_register(m, op);
	else if (op >= DW_OP_const1u && op <= DW_OP_consts)
		push_constant(m, op);
	else if (op >= DW_OP_dup && op <= DW_OP_rot)
		run_stack_op(m, op);
	else if (is_unary(op))
		run_unary(m, op);
	else if (op >= DW_OP_and && op <= DW_OP_xor)
		run_arithmetic(m, op);
	else if (is_comparison(op))
		run_comparison(m, op);
	else
		run_other(m, op);
}

enum expression_result expression_evaluate(const struct arch *arch, struct str expression,
	const struct unwind_regs *regs, struct unwind_memory *memory, const uint64_t *initial,
	uint64_t *result)
{
	struct machine m = {.arch = arch, .regs = regs, .memory = memory};
	unsigned int steps = 0;

	cursor_init(&m.c, expression.data, expression.size, "", 0);
	if (initial)
		push(&m, *initial);
	while (!cursor_at_end(&m.c) && steps++ < STEPS_MAX)
		run_op(&m, cursor_u8(&m.c));
	if (steps > STEPS_MAX)
		cursor_fail(&m.c, "an expression without end");
	uint64_t value = pop(&m);
	if (!cursor_ok(&m.c))
		return m.no_memory ? EXPRESSION_NO_MEMORY : EXPRESSION_BAD;
	*result = value;
	return EXPRESSION_GOOD;
}
