/*
 * The distance between sp and bp is followed along all direct jumps from the function's first
 * instruction.  Where paths with different distances meet, and after alloca, the smallest distance
 * is kept as a lower bound: allocating by a register's value only moves sp further down.
 *
 * States only become less definite, but a loop that pops could lower the smallest distance many
 * times, so the work is bounded.
 */
#include "obj/code_depth.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "arch/arch.h"

/* Instructions followed per byte of code. */
enum { STEPS_PER_BYTE = 8 };

struct depth_state {
	bool is_reached, has_bp;
	bool is_loose; /* bytes is a lower bound */
	int64_t bytes; /* bp - sp */
};

struct depths {
	const struct code_piece *code;
	struct depth_state *before; /* [code->size], at the first byte of each instruction */
	VEC(uint32_t) open;	    /* offsets whose state has changed */
	size_t steps_left;
};

static struct depth_state after(struct depth_state s, const struct arch_instruction *i)
{
	switch (i->kind) {
	case INSTRUCTION_PUSH:
		s.bytes += 8;
		break;
	case INSTRUCTION_POP:
		s.bytes -= 8;
		s.has_bp &= i->reg != ARCH_REG_BP;
		break;
	case INSTRUCTION_MOVE_SP:
		s.bytes -= i->value;
		break;
	case INSTRUCTION_SP_FROM_BP:
		s.bytes = -(int64_t)i->value;
		s.is_loose = false;
		break;
	case INSTRUCTION_BP_FROM_SP:
		s = (struct depth_state){.is_reached = true, .has_bp = true, .bytes = i->value};
		break;
	case INSTRUCTION_ALIGN_SP:
	case INSTRUCTION_SWITCH_SP:
	case INSTRUCTION_SP_FROM_STACK:
		s.is_loose = true;
		break;
	case INSTRUCTION_LEAVE:
	case INSTRUCTION_ZERO_BP:
	case INSTRUCTION_BP_FROM_BP:
	case INSTRUCTION_SWITCH_BP:
		s.has_bp = false;
		break;
	case INSTRUCTION_LOAD:
		s.has_bp &= i->reg != ARCH_REG_BP;
		break;
	case INSTRUCTION_BAD:
	case INSTRUCTION_OTHER:
	case INSTRUCTION_NOP:
	case INSTRUCTION_STORE:
	case INSTRUCTION_CALL:
	case INSTRUCTION_JUMP:
	case INSTRUCTION_BRANCH:
	case INSTRUCTION_RETURN:
	case INSTRUCTION_STOP:
	case INSTRUCTION_ADDRESS:
		break;
	}
	return s;
}

/* The state that covers both. */
static struct depth_state meet(struct depth_state a, struct depth_state b)
{
	return (struct depth_state){
		.is_reached = true,
		.has_bp = a.has_bp && b.has_bp,
		.is_loose = a.is_loose || b.is_loose || a.bytes != b.bytes,
		.bytes = a.bytes < b.bytes ? a.bytes : b.bytes,
	};
}

static bool is_same(const struct depth_state *a, const struct depth_state *b)
{
	return a->has_bp == b->has_bp && a->is_loose == b->is_loose && a->bytes == b->bytes;
}

static void reach(struct depths *d, uint64_t at, struct depth_state state)
{
	if (at >= d->code->size)
		return;
	struct depth_state *before = &d->before[at];

	if (before->is_reached)
		state = meet(*before, state);
	if (before->is_reached && is_same(before, &state))
		return;
	*before = state;
	vec_push(&d->open, (uint32_t)at);
}

static struct arch_instruction decode(const struct code_piece *code, size_t at)
{
	return code->arch->decode(code->bytes + at, code->size - at, code->obj_addr + at);
}

static void follow(struct depths *d, size_t at)
{
	struct arch_instruction i = decode(d->code, at);
	struct depth_state next = after(d->before[at], &i);

	if (i.has_target && (i.kind == INSTRUCTION_JUMP || i.kind == INSTRUCTION_BRANCH))
		reach(d, i.target - d->code->obj_addr, next);
	if (i.kind != INSTRUCTION_JUMP && i.kind != INSTRUCTION_RETURN &&
		i.kind != INSTRUCTION_STOP && i.kind != INSTRUCTION_BAD)
		reach(d, at + i.size, next);
}

/* The state before the instruction that contains the byte; not reached if no reached one does. */
static struct depth_state state_at(const struct depths *d, size_t at)
{
	enum { INSTRUCTION_MAX = 15 };
	size_t low = at < INSTRUCTION_MAX ? 0 : at - INSTRUCTION_MAX + 1;

	for (size_t begin = at + 1; begin-- > low;)
		if (d->before[begin].is_reached && begin + decode(d->code, begin).size > at)
			return d->before[begin];
	return (struct depth_state){.is_reached = false};
}

struct code_depth code_depth_at(const struct code_piece *code, size_t at)
{
	struct depths d = {
		.code = code,
		.before = xcalloc(code->size, sizeof(*d.before)),
		.steps_left = code->size * STEPS_PER_BYTE,
	};

	reach(&d, 0, (struct depth_state){.is_reached = true});
	while (d.open.count && d.steps_left--)
		follow(&d, d.open.data[--d.open.count]);
	struct depth_state state = state_at(&d, at);
	bool is_known = d.open.count == 0 && state.is_reached && state.has_bp && state.bytes >= 0;

	vec_deinit(&d.open);
	free(d.before);
	return (struct code_depth){.is_known = is_known,
		.is_exact = is_known && !state.is_loose,
		.bytes = is_known ? (uint64_t)state.bytes : 0};
}
