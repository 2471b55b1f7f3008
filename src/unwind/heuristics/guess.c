/*
 * Code without unwind rules: hand-written assembly, code generated at run time, objects that could
 * not be read.  Three layouts are tried; each is accepted only if it gives an address that follows
 * a call instruction in an executable mapping:
 *
 * 1. A function that has not touched the stack yet, or never does: the return address is at sp.
 * 2. One that has just saved bp: bp is at sp, the return address above it.
 * 3. One with a frame pointer: both are at bp.
 *
 * An address in generated code that follows no call is also accepted if a chain of frame pointers
 * encloses it (heuristics/bp_chain.h); for 1 and 3, only if no address after a call is found.
 *
 * All are guesses, and marked as such; rules derived from the code (unwind/live_rules.h) are tried
 * first.  A frame that made a call can only be of the third kind.  The psABI's convention that bp
 * is 0 in the outermost frame (section 3.4.1) ends the stack there, and nowhere else.
 */
#include "unwind/heuristics/guess.h"

struct guess {
	struct return_cache *cache;
	struct bp_chain *chain;
	const struct unwind_space *space;
	struct unwind_regs *regs;
	struct unwind_memory *memory;
};

/* What shows that an address is a return address. */
enum evidence { EVIDENCE_CALL, EVIDENCE_CHAIN };

/* Whether a frame with the caller's frame pointer bp can return to the address at va. */
static bool read_return_address(
	struct guess *g, uint64_t va, uint64_t bp, enum evidence evidence, uint64_t *return_va)
{
	if (!unwind_memory_read(g->memory, va, return_va))
		return false;
	if (evidence == EVIDENCE_CHAIN)
		return bp_chain_holds(
			g->chain, g->cache, g->space, g->memory, *return_va, va + 8, bp);
	return return_address_is_plausible(g->cache, g->space, g->memory, *return_va);
}

static void step_out(struct guess *g, uint64_t return_va, uint64_t sp, uint64_t bp)
{
	g->regs->value[UNWIND_REG_PC] = return_va;
	g->regs->value[UNWIND_REG_SP] = sp;
	g->regs->value[UNWIND_REG_BP] = bp;
	/* Code without rules may have used rbx. */
	g->regs->known &= UNWIND_BIT_BP | UNWIND_BIT_SP | UNWIND_BIT_PC;
}

static bool step_by_sp(struct guess *g, enum evidence evidence)
{
	uint64_t sp = g->regs->value[UNWIND_REG_SP], bp = g->regs->value[UNWIND_REG_BP];
	uint64_t return_va;

	if (!read_return_address(g, sp, bp, evidence, &return_va))
		return false;
	step_out(g, return_va, sp + 8, bp);
	return true;
}

static bool step_by_saved_bp(struct guess *g)
{
	uint64_t sp = g->regs->value[UNWIND_REG_SP], bp = g->regs->value[UNWIND_REG_BP];
	uint64_t return_va, saved_bp;

	if (!unwind_memory_read(g->memory, sp, &saved_bp) || saved_bp != bp ||
		!(read_return_address(g, sp + 8, bp, EVIDENCE_CALL, &return_va) ||
			read_return_address(g, sp + 8, bp, EVIDENCE_CHAIN, &return_va)))
		return false;
	step_out(g, return_va, sp + 16, bp);
	return true;
}

static bool step_by_bp(struct guess *g, enum evidence evidence)
{
	uint64_t bp = g->regs->value[UNWIND_REG_BP], saved_bp, return_va;

	if (!unwind_regs_know(g->regs, UNWIND_REG_BP) || bp < g->regs->value[UNWIND_REG_SP] ||
		(bp & 7) || !unwind_memory_read(g->memory, bp, &saved_bp) ||
		!read_return_address(g, bp + 8, saved_bp, evidence, &return_va))
		return false;
	step_out(g, return_va, bp + 16, saved_bp);
	return true;
}

static bool step_by_layout(struct guess *g, bool interrupted)
{
	if (interrupted && (step_by_sp(g, EVIDENCE_CALL) || step_by_saved_bp(g)))
		return true;
	return step_by_bp(g, EVIDENCE_CALL) || (interrupted && step_by_sp(g, EVIDENCE_CHAIN)) ||
	       step_by_bp(g, EVIDENCE_CHAIN);
}

enum step guess_step(struct return_cache *cache, struct bp_chain *chain,
	const struct unwind_space *space, bool interrupted, struct unwind_regs *regs,
	struct unwind_memory *memory)
{
	struct guess g = {cache, chain, space, regs, memory};

	/* All layouts assume calls that push the return address. */
	if (arch_has_link_register(space->arch))
		return STEP_NO_RULE;
	if (step_by_layout(&g, interrupted))
		return STEP_CALLER;
	if (!interrupted && unwind_regs_know(regs, UNWIND_REG_BP) &&
		regs->value[UNWIND_REG_BP] == 0)
		return STEP_ROOT;
	return STEP_NO_RULE;
}

/*
 * OpenJDK's interpreter takes its arguments on the stack, and compiled code passes them in
 * registers.  So what is called between them makes room on the stack of the compiled caller, and
 * the interpreter's frame keeps the caller's stack pointer right below the saved frame pointer.
 * Source: src/hotspot/cpu/x86/frame_x86.hpp, interpreter_frame_sender_sp_offset.
 */
bool guess_moved_sp(struct unwind_memory *memory, uint64_t bp, uint64_t *sp)
{
	/* A method has at most 255 arguments. */
	enum { ARGUMENTS_BYTES_MAX = 256 * 8, SAVED_BYTES = 16 };

	return unwind_memory_read(memory, bp - 8, sp) && (*sp & 7) == 0 && *sp > bp + SAVED_BYTES &&
	       *sp - (bp + SAVED_BYTES) <= ARGUMENTS_BYTES_MAX;
}
