/*
 * The shadow call stack.  See calls.h.
 */
#include "calls.h"

void calls_deinit(struct calls *c)
{
	vec_deinit(&c->stack);
}

static bool is_over(const struct call *call, uint64_t sp)
{
	/* A handler on its own stack is over when sp is no longer there (siglongjmp). */
	if (call->is_signal && call->stack_high)
		return sp < call->stack_low || sp > call->stack_high;
	return call->slot < sp;
}

/* Of an alternate stack, the innermost signal's entry parts its calls from those outside. */
static size_t first_on_this_stack(const struct calls *c)
{
	for (size_t i = c->stack.count; i-- > 0;) {
		if (c->stack.data[i].is_signal && c->stack.data[i].stack_high)
			return i;
	}
	return 0;
}

void calls_pop(struct calls *c, uint64_t sp)
{
	size_t first = first_on_this_stack(c);

	if (c->stack.count && is_over(&c->stack.data[first], sp) &&
		c->stack.data[first].is_signal && c->stack.data[first].stack_high) {
		c->stack.count = first;
		calls_pop(c, sp);
		return;
	}
	while (c->stack.count > first && is_over(&c->stack.data[c->stack.count - 1], sp))
		c->stack.count--;
}

static bool is_prefix(uint8_t byte)
{
	return (byte & 0xf0) == 0x40 || byte == 0x66 || byte == 0x67 || byte == 0x2e ||
	       byte == 0x36 || byte == 0x3e || byte == 0x26 || byte == 0x64 || byte == 0x65 ||
	       byte == 0xf2 || byte == 0xf3;
}

static bool is_call(const uint8_t code[16])
{
	unsigned int i = 0;

	while (i < 14 && is_prefix(code[i]))
		i++;
	return code[i] == 0xe8 || (code[i] == 0xff && (code[i + 1] >> 3 & 7) == 2);
}

static bool is_signal_return(const struct user_regs_struct *before, const uint8_t code[16])
{
	enum { SYS_RT_SIGRETURN = 15 };

	return code[0] == 0x0f && code[1] == 0x05 && before->rax == SYS_RT_SIGRETURN;
}

static void end_signal(struct calls *c)
{
	while (c->stack.count && !c->stack.data[c->stack.count - 1].is_signal)
		c->stack.count--;
	if (c->stack.count)
		c->stack.count--;
}

void calls_step(struct calls *c, const struct user_regs_struct *before,
	const struct user_regs_struct *after, const uint8_t code[16], uint64_t top)
{
	if (is_signal_return(before, code))
		end_signal(c);
	else if (is_call(code) && after->rsp == before->rsp - 8)
		vec_push(&c->stack,
			(struct call){.pc = top, .sp = after->rsp + 8, .slot = after->rsp});
	else
		calls_pop(c, after->rsp);
}

void calls_signal(struct calls *c, const struct user_regs_struct *before,
	const struct user_regs_struct *after, uint64_t stack_low, uint64_t stack_size, uint64_t top)
{
	struct call interrupted = {
		.pc = before->rip, .sp = before->rsp, .slot = after->rsp + 8, .is_signal = true};
	uint64_t stack_high = stack_low + stack_size;
	bool was_there = before->rsp > stack_low && before->rsp <= stack_high;

	if (stack_size && !was_there && after->rsp >= stack_low && after->rsp < stack_high) {
		interrupted.stack_low = stack_low;
		interrupted.stack_high = stack_high;
	}
	vec_push(&c->stack, interrupted);
	/* The handler returns to the trampoline, whose frame is the signal frame. */
	vec_push(&c->stack, (struct call){.pc = top, .sp = after->rsp + 8, .slot = after->rsp});
}
