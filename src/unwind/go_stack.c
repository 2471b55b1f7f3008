/*
 * Go's runtime runs code on three kinds of stacks: each goroutine's, each thread's own (that of its
 * "g0"), and the one for signals.  A few assembly functions switch between them
 * (obj/go_switches.h).  This is how to get from a frame of each to its caller on the other stack.
 *
 * systemstack, morestack: a goroutine called them, and they called a function on the thread's own
 *     stack.  They leave bp alone, so the callees have saved the frame pointer of the goroutine's
 *     innermost frame.  What lies below it is that frame, whose size is known from the rule at its
 *     return address: so the frame is the one that ends at bp and whose return address follows a
 *     call of this function.  If bp is unknown, or there are several, the registers that the
 *     runtime has stored are used: g, g.m, m.curg, its sched.sp.
 * mcall: the same, with the goroutine as an argument on the stack.  The goroutine stays the
 *     thread's until the scheduler takes the next one, which never returns: its stack is that of
 *     the function that started the thread's loop.
 * asmcgocall: a goroutine calls C.  The frame holds the goroutine and the depth of its stack.
 * cgocallback: C calls Go, which runs on the goroutine's stack again.  bp is the frame's on C's
 *     stack.
 * nanotime1 and others call the vDSO on the thread's own stack.  bp is their frame's.
 *
 * Everything is verified: a return address must follow a call, and the structures must refer to
 * each other.  Their layout is that of Go 1.19; the code shows where m.curg is.  With another
 * layout, the verification fails, and bp is enough for most frames.
 * The idea of going on at the goroutine's saved registers is that of the runtime's own tracebacks.
 */
#include "unwind/go_stack.h"

#include <stddef.h>

#include "arch/arch.h"
#include "unwind/go_layout.h"

enum {
	G_STACK_HI = offsetof(struct go_g, high_va),
	G_M = offsetof(struct go_g, m),
	G_SCHED_SP = offsetof(struct go_g, sched_sp),
	G_SCHED_PC = offsetof(struct go_g, sched_pc),
};
/* In the frame of asmcgocall. */
enum { CGO_DEPTH = 0x28, CGO_G = 0x30 };

enum { PAGE_BYTES = 4096 };
/* The scheduler is this far inside mcall at most. */
enum { SCHEDULER_FRAMES_MAX = 64 };

static bool read(const struct go_frame *f, uint64_t va, uint64_t *value)
{
	return unwind_memory_read(f->memory, va, value);
}

static uint64_t obj_addr(const struct go_frame *f, uint64_t va)
{
	return va - f->mapping->slide;
}

static bool is_return_address(const struct go_frame *f, uint64_t va)
{
	return return_address_is_plausible(f->returns, f->space, f->memory, va);
}

/* Continues at pc, where sp is what it will be after the return; bp as it is. */
static enum step enter(struct unwind_regs *regs, uint64_t pc, uint64_t sp)
{
	regs->known &= UNWIND_BITS_FOLLOWED;
	regs->value[UNWIND_REG_PC] = pc;
	regs->value[UNWIND_REG_SP] = sp;
	return STEP_CALLER;
}

/* Continues at the return address at va. */
static enum step return_at(const struct go_frame *f, struct unwind_regs *regs, uint64_t va)
{
	uint64_t pc;

	if (!read(f, va, &pc))
		return STEP_NO_MEMORY;
	return is_return_address(f, pc) ? enter(regs, pc, va + 8) : STEP_NO_RULE;
}

/* ---- by bp ---- */

/* The rule of a Go function that a call returns to, if its frame is of the usual form. */
static const struct cfi_rule *frame_rule(const struct go_frame *f, uint64_t return_va)
{
	const struct unwind_mapping *mapping = unwind_space_find(f->space, return_va - 1);

	if (!mapping || !mapping->table)
		return NULL;
	const struct cfi_rule *rule =
		cfi_table_find(mapping->table, return_va - 1 - mapping->slide);
	bool has_size = rule->kind == CFI_SP || rule->kind == CFI_CODE_SP;

	return has_size ? rule : NULL;
}

/* The function that the call before return_va names.  False: it is indirect. */
static bool called_directly(const struct go_frame *f, uint64_t return_va, uint64_t *addr)
{
	enum { CALL_BYTES = 8 };
	uint8_t bytes[CALL_BYTES];
	struct arch_target target;

	if (!f->memory->read_code ||
		!f->memory->read_code(f->memory, return_va - CALL_BYTES, bytes, CALL_BYTES) ||
		!f->space->arch->call_target(bytes, CALL_BYTES, return_va, &target) ||
		target.is_slot)
		return false;
	*addr = obj_addr(f, target.addr);
	return true;
}

static bool calls_systemstack(const struct go_frame *f, uint64_t return_va)
{
	uint64_t addr;

	return called_directly(f, return_va, &addr) &&
	       addr == cfi_table_go(f->mapping->table)->systemstack;
}

/* The start of the frame's function, which is one of those that switch. */
static uint64_t function_start(const struct go_frame *f)
{
	const struct cfi_go *go = cfi_table_go(f->mapping->table);
	uint64_t addr = obj_addr(f, f->inner[f->inner_count - 1].va), start = 0;

	for (size_t i = 0; i < go->function_count; i++)
		if (go->functions[i] <= addr && go->functions[i] > start)
			start = go->functions[i];
	return start;
}

/* Whether the call before return_va may be one of the frame's function. */
static bool may_call_this(const struct go_frame *f, uint64_t return_va)
{
	uint64_t addr;

	return !called_directly(f, return_va, &addr) || addr == function_start(f);
}

/* Continues at the return address at va, of a call of the frame's function. */
static enum step return_from_call_at(
	const struct go_frame *f, struct unwind_regs *regs, uint64_t va)
{
	uint64_t pc;

	if (!read(f, va, &pc))
		return STEP_NO_MEMORY;
	return may_call_this(f, pc) ? return_at(f, regs, va) : STEP_NO_RULE;
}

/*
 * Whether the goroutine's innermost frame, whose saved bp is at bp, returns to the address at va.
 * morestack is called before its caller has a frame: that one has only its return address, below.
 */
static bool is_innermost(const struct go_frame *f, uint64_t va, uint64_t bp)
{
	enum { BP_TO_CFA = 16 };
	bool is_deeper = f->kind == CFI_GO_MORESTACK;
	const struct cfi_rule *rule;
	uint64_t pc, inner;

	if (!read(f, va, &pc) || !is_return_address(f, pc))
		return false;
	rule = frame_rule(f, pc);
	if (!rule || va + 8 + (uint64_t)(int64_t)rule->cfa_offset != bp + BP_TO_CFA)
		return false;
	if (is_deeper)
		return read(f, va - 8, &inner) && is_return_address(f, inner);
	return calls_systemstack(f, pc);
}

/* The only place below bp that may hold the innermost frame's return; 0: none or several. */
static uint64_t find_innermost(const struct go_frame *f, uint64_t bp)
{
	uint64_t found = 0, low = bp - GO_FRAME_BYTES, value;

	for (uint64_t va = low; va < bp; va += 8) {
		if (!read(f, va, &value)) {
			va = (va | (PAGE_BYTES - 1)) - 7;
			continue;
		}
		if (!is_innermost(f, va, bp))
			continue;
		if (found)
			return 0;
		found = va;
	}
	return found;
}

static enum step step_by_bp(const struct go_frame *f, struct unwind_regs *regs)
{
	uint64_t bp = regs->value[UNWIND_REG_BP], va;

	if (!unwind_regs_know(regs, UNWIND_REG_BP) || (bp & 7) || bp < GO_FRAME_BYTES)
		return STEP_NO_RULE;
	va = find_innermost(f, bp);
	if (va == 0)
		return STEP_NO_RULE;
	return return_at(f, regs, f->kind == CFI_GO_MORESTACK ? va - 8 : va);
}

/* ---- by the runtime's structures ---- */

static bool m_of(const struct go_frame *f, uint64_t g, uint64_t *m)
{
	return g && (g & 7) == 0 && read(f, g + G_M, m) && *m && (*m & 7) == 0;
}

/* The goroutine of an m; both refer to each other. */
static bool curg_of(const struct go_frame *f, uint64_t m, uint64_t *curg)
{
	uint64_t back, offset = (uint64_t)cfi_table_go(f->mapping->table)->curg_offset;

	return offset && read(f, m + offset, curg) && m_of(f, *curg, &back) && back == m;
}

/* Continues where a goroutine was left. */
static enum step resume(const struct go_frame *f, struct unwind_regs *regs, uint64_t g)
{
	uint64_t sp, pc, low, high;

	if (!read(f, g + G_SCHED_SP, &sp) || !read(f, g + G_SCHED_PC, &pc) || !read(f, g, &low) ||
		!read(f, g + G_STACK_HI, &high))
		return STEP_NO_MEMORY;
	if (sp < low || sp >= high || (sp & 7))
		return STEP_NO_RULE;
	if (f->kind == CFI_GO_SYSTEMSTACK)
		return return_at(f, regs, sp);
	return is_return_address(f, pc) ? enter(regs, pc, sp) : STEP_NO_RULE;
}

static enum step step_by_g(const struct go_frame *f, struct unwind_regs *regs)
{
	uint64_t m, g0, back, curg;

	if (!m_of(f, f->g, &m) || !read(f, m + GO_M_G0, &g0) || !m_of(f, g0, &back) || back != m ||
		!curg_of(f, m, &curg))
		return STEP_NO_RULE;
	return resume(f, regs, curg);
}

/* ---- the scheduler ---- */

static bool is_in_scheduler(const struct go_frame *f)
{
	const struct cfi_go *go = cfi_table_go(f->mapping->table);
	size_t count = f->inner_count;

	for (size_t i = count; i-- > 0 && count - i <= SCHEDULER_FRAMES_MAX;) {
		uint64_t addr = obj_addr(f, f->inner[i].va);
		if (addr >= go->schedule_low && addr < go->schedule_high)
			return true;
	}
	return false;
}

/* Whether a frame at sp that a call returns to at an address of the runtime leads to a caller. */
static bool leads_on(const struct go_frame *f, uint64_t addr, uint64_t sp)
{
	const struct cfi_rule *rule = addr ? frame_rule(f, addr + f->mapping->slide) : NULL;
	uint64_t pc;

	return rule && read(f, sp + (uint64_t)(int64_t)rule->cfa_offset - 8, &pc) &&
	       is_return_address(f, pc);
}

/* The thread's own stack begins at sp with the thread's loop, or with C's call of Go. */
static enum step step_to_loop(const struct go_frame *f, struct unwind_regs *regs, uint64_t sp)
{
	const struct cfi_go *go = cfi_table_go(f->mapping->table);
	uint64_t slide = f->mapping->slide;

	if (leads_on(f, go->scheduler_return, sp))
		return enter(regs, go->scheduler_return + slide, sp);
	if (leads_on(f, go->callback_switch, sp))
		return enter(regs, go->callback_switch + slide, sp);
	return STEP_NO_RULE;
}

/* ---- steps ---- */

static enum step step_to_goroutine(const struct go_frame *f, struct unwind_regs *regs)
{
	enum step step;

	if (f->kind == CFI_GO_MORESTACK && is_in_scheduler(f))
		return step_to_loop(f, regs, regs->value[UNWIND_REG_SP]);
	step = step_by_bp(f, regs);
	return step == STEP_CALLER ? step : step_by_g(f, regs);
}

static enum step step_out_of_mcall(const struct go_frame *f, struct unwind_regs *regs)
{
	uint64_t sp = regs->value[UNWIND_REG_SP], g, m, curg;

	if (!is_in_scheduler(f) && read(f, sp, &g) && m_of(f, g, &m) && curg_of(f, m, &curg) &&
		curg == g && resume(f, regs, g) == STEP_CALLER)
		return STEP_CALLER;
	return step_to_loop(f, regs, sp + 8);
}

static enum step step_out_of_c(const struct go_frame *f, struct unwind_regs *regs)
{
	uint64_t sp = regs->value[UNWIND_REG_SP], g, place, high;

	if (!read(f, sp + CGO_G, &g) || !read(f, sp + CGO_DEPTH, &place))
		return STEP_NO_MEMORY;
	if (g == 0)
		return return_from_call_at(f, regs, place);
	if ((g & 7) || !read(f, g + G_STACK_HI, &high))
		return STEP_NO_MEMORY;
	return (place & 7) ? STEP_NO_RULE : return_from_call_at(f, regs, high - place);
}

static enum step step_by_frame_pointer(const struct go_frame *f, struct unwind_regs *regs)
{
	uint64_t bp = regs->value[UNWIND_REG_BP], caller_bp;
	enum step step;

	if (!unwind_regs_know(regs, UNWIND_REG_BP) || (bp & 7))
		return STEP_NO_RULE;
	if (!read(f, bp, &caller_bp))
		return STEP_NO_MEMORY;
	step = return_from_call_at(f, regs, bp + 8);
	regs->value[UNWIND_REG_BP] = caller_bp;
	return step;
}

enum step go_step(const struct go_frame *frame, struct unwind_regs *regs)
{
	switch (frame->kind) {
	case CFI_GO_SYSTEMSTACK:
	case CFI_GO_MORESTACK:
		return step_to_goroutine(frame, regs);
	case CFI_GO_MCALL:
		return step_out_of_mcall(frame, regs);
	case CFI_GO_ASMCGOCALL:
		return step_out_of_c(frame, regs);
	case CFI_GO_FRAME_POINTER:
		return step_by_frame_pointer(frame, regs);
	case CFI_GO_NONE:
	case CFI_GO_SIGNAL_RETURN:
		break;
	}
	return STEP_NO_RULE;
}
