/*
 * Finds the return address of a function by following its code to the exit.
 *
 * At a return instruction, sp points to the return address.  So the total that the instructions on
 * the way there add to sp is the distance of the return address from sp.  If they set sp from bp,
 * it is the distance from bp.  If they restore sp from a slot of an aligned frame, or from a
 * register, it is the distance from that.  Branches are followed both ways until one path reaches a
 * return: all paths find the same return address.  Calls on the way do not change sp.  A call that
 * does not return is the last instruction of its function, and padding follows.
 */
#include "obj/code_exit.h"

#include <string.h>

#include "arch/arch.h"

/* WAYS_MAX: branches not yet taken; CODE_MAX: bytes of code examined. */
enum { STEPS_MAX = 2048, WAYS_MAX = 64, CODE_MAX = 8192 };

struct way {
	size_t at;
	struct exit_state state;
};

struct exits {
	const struct code_piece *code;
	struct way ways[WAYS_MAX];
	size_t count, steps;
	bool visited[CODE_MAX];
	struct code_exit next; /* for the first path that leaves the code */
};

static void restore(struct exit_state *s, uint8_t reg, int64_t slot)
{
	/* Pushed on this path, so the register still holds its value. */
	bool is_own = s->base == EXIT_SP && slot < 0;

	if (reg == ARCH_REG_BP) {
		s->bp_slot = is_own ? CODE_EXIT_NOT_RESTORED : slot;
		s->is_gone = !is_own;
		s->has_own = s->is_other = false;
	} else if (reg == ARCH_REG_BX) {
		s->bx_slot = is_own ? CODE_EXIT_NOT_RESTORED : slot;
	}
}

/* False: bp is no longer known. */
static bool take_bp(struct exit_state *s, int64_t distance)
{
	if (s->has_own) {
		s->sp = s->own_bp + distance;
		return true;
	}
	if (s->is_gone || s->is_other)
		return false;
	s->base = EXIT_BP;
	s->is_adrift = false;
	s->sp = distance;
	return true;
}

/* bp is loaded from its own frame; where sp is relative to that is unknown. */
static bool load_bp(struct exit_state *s, int64_t distance)
{
	if (s->has_own || s->is_gone || s->is_other)
		return false;
	s->is_adrift |= s->base != EXIT_BP;
	s->base = EXIT_BP;
	restore(s, ARCH_REG_BP, distance);
	return true;
}

/* sp is restored to its value before the frame was aligned. */
static bool take_sp(struct exit_state *s, enum exit_base base, int64_t origin, int64_t distance)
{
	if (s->base != EXIT_SP || s->is_gone)
		return false;
	s->base = base;
	s->origin = origin;
	s->is_other |= s->has_own;
	s->has_own = false;
	s->sp = distance;
	s->bx_slot = CODE_EXIT_NOT_RESTORED;
	return true;
}

/* Loads reg from the slot at sp + distance. */
static void load(struct exit_state *s, uint8_t reg, int64_t distance)
{
	if (!s->is_adrift)
		restore(s, reg, s->sp + distance);
	else if (reg == ARCH_REG_BX)
		s->bx_slot = CODE_EXIT_NOT_RESTORED;
	else if (reg == ARCH_REG_BP)
		s->is_other = true;
}

static void pop(struct exit_state *s, uint8_t reg)
{
	load(s, reg, 0);
	s->sp += 8;
}

/* Applies one instruction.  False: sp is unknown from there on. */
static bool pass(struct exit_state *s, const struct arch_instruction *i)
{
	switch (i->kind) {
	case INSTRUCTION_PUSH:
		s->sp -= 8;
		break;
	case INSTRUCTION_POP:
		pop(s, i->reg);
		break;
	case INSTRUCTION_MOVE_SP:
		s->sp += i->value;
		break;
	case INSTRUCTION_LOAD:
		load(s, i->reg, i->value);
		break;
	case INSTRUCTION_BP_FROM_SP:
		s->has_own = true;
		s->own_bp = s->sp + i->value;
		break;
	case INSTRUCTION_SP_FROM_BP:
		return take_bp(s, i->value);
	case INSTRUCTION_LEAVE:
		if (!take_bp(s, 0))
			return false;
		pop(s, ARCH_REG_BP);
		break;
	case INSTRUCTION_BP_FROM_BP:
		return load_bp(s, i->value);
	case INSTRUCTION_SP_FROM_STACK:
		return s->sp + i->value >= 0 && take_sp(s, EXIT_SAVED, s->sp + i->value, 0);
	case INSTRUCTION_SWITCH_SP:
		return i->reg != ARCH_REG_NONE && take_sp(s, EXIT_REGISTER, i->reg, i->value);
	case INSTRUCTION_SWITCH_BP:
		s->is_other = true;
		s->has_own = false;
		break;
	case INSTRUCTION_ALIGN_SP:
	case INSTRUCTION_ZERO_BP:
	case INSTRUCTION_BAD:
	case INSTRUCTION_STOP:
		return false;
	case INSTRUCTION_OTHER:
	case INSTRUCTION_NOP:
	case INSTRUCTION_STORE:
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
	case INSTRUCTION_BRANCH:
	case INSTRUCTION_RETURN:
	case INSTRUCTION_ADDRESS:
		break;
	}
	return true;
}

static bool is_offset(int64_t offset)
{
	return offset > INT32_MIN / 2 && offset < INT32_MAX / 2;
}

static int32_t from_cfa(int64_t slot, int64_t cfa)
{
	return slot == CODE_EXIT_NOT_RESTORED || !is_offset(slot - cfa) ? 0 : (int32_t)(slot - cfa);
}

static bool make_rule(const struct exit_state *s, struct cfi_rule *rule)
{
	static const enum cfi_kind kinds[] = {[EXIT_SP] = CFI_CODE_SP,
		[EXIT_BP] = CFI_CODE_BP,
		[EXIT_SAVED] = CFI_CODE_SAVED,
		[EXIT_REGISTER] = CFI_CODE_REGISTER};
	int64_t cfa = s->sp + 8;

	if (!is_offset(cfa) || cfa < 8 || !is_offset(s->origin))
		return false;
	*rule = (struct cfi_rule){
		.kind = kinds[s->base],
		.cfa_offset = (int32_t)cfa,
		.bp_offset = from_cfa(s->bp_slot, cfa),
		.bx_offset = from_cfa(s->bx_slot, cfa),
		.origin = (int32_t)s->origin,
	};
	return true;
}

/*
 * For code whose sp is unknown at its exit.  Such code pops a variable number of arguments, after
 * taking the return address off the stack, or it ends in a jump.  Once bp is the caller's, the
 * frame has been removed, and the return address is in its usual place above the saved bp.
 */
static bool make_frame_rule(const struct exit_state *s, struct cfi_rule *rule)
{
	struct exit_state at_return = *s;

	at_return.sp = s->bp_slot + 8;
	return s->base == EXIT_BP && s->is_gone && make_rule(&at_return, rule);
}

static bool make_return_rule(const struct exit_state *s, struct cfi_rule *rule)
{
	return s->is_adrift ? make_frame_rule(s, rule) : make_rule(s, rule);
}

static void branch(struct exits *e, uint64_t target, const struct exit_state *state)
{
	uint64_t at = target - e->code->obj_addr;

	if (at < e->code->size && e->count < WAYS_MAX)
		e->ways[e->count++] = (struct way){(size_t)at, *state};
	else if (at >= e->code->size && !e->next.leads_on)
		e->next = (struct code_exit){*state, true, target};
}

static bool follow(struct exits *e, struct way way, struct cfi_rule *rule)
{
	const struct code_piece *code = e->code;
	bool after_call = false;

	while (way.at < code->size && !e->visited[way.at] && e->steps++ < STEPS_MAX) {
		struct arch_instruction i = code->arch->decode(
			code->bytes + way.at, code->size - way.at, code->obj_addr + way.at);

		e->visited[way.at] = true;
		if (i.kind == INSTRUCTION_RETURN)
			return make_return_rule(&way.state, rule);
		bool may_leave = i.kind == INSTRUCTION_SWITCH_SP ||
				 i.kind == INSTRUCTION_ALIGN_SP ||
				 (i.kind == INSTRUCTION_JUMP && !i.has_target);
		if (may_leave && make_frame_rule(&way.state, rule))
			return true;
		if ((after_call && i.kind == INSTRUCTION_NOP) || !pass(&way.state, &i))
			return false;
		after_call = i.kind == INSTRUCTION_CALL;
		if (i.has_target && (i.kind == INSTRUCTION_BRANCH || i.kind == INSTRUCTION_JUMP))
			branch(e, i.target, &way.state);
		if (i.kind == INSTRUCTION_JUMP)
			return false;
		way.at += i.size;
	}
	return false;
}

bool code_exit_rule(
	const struct code_piece *code, size_t at, struct code_exit *exit, struct cfi_rule *rule)
{
	struct code_piece piece = *code;
	struct exits e = {.code = &piece, .count = 1};

	if (piece.size > CODE_MAX)
		piece.size = CODE_MAX;
	e.ways[0] = (struct way){at, exit->state};
	while (e.count)
		if (follow(&e, e.ways[--e.count], rule))
			return true;
	*exit = e.next;
	return false;
}
