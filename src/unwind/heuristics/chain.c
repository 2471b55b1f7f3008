/*
 * A stack is a chain of calls, and each link can be checked: the function that returns to an
 * address was entered by the call before it.  Frames that have returned also leave chains, whose
 * inner links look like those of live ones.  But where such a chain reaches live frames, it now
 * finds the return address of a different function, from the call that entered that function.
 *
 * Every program and thread begins with indirect calls of a given function.  These are no evidence
 * against the frames inside them.
 *
 * A direct call names its target.  The target may be a stub, which jumps to the address in a memory
 * slot; the slot is bound once the function has been entered.  An indirect call may name such a
 * slot itself, or a register that was loaded from one just before.  The slot still holds the same
 * address, unless the program has changed it.
 */
#include "unwind/heuristics/chain.h"

#include "arch/arch.h"
#include "obj/cfi.h"
#include "unwind/slow.h"

enum {
	/* A longer chain is assumed to be complete. */
	FRAMES_MAX = 512,
	/* The number of outermost calls that may be those that start programs and threads. */
	BEGIN_CALLS = 3,
};

enum {
	/* How far before the return address the call, and the load of its target, are searched. */
	CALL_BYTES = 8,
	LOAD_BYTES = 48,
	READ_BYTES = 16,
	/* The maximum number of jumps from stub to stub. */
	JUMPS_MAX = 4,
};

/* ---- which function a call entered ---- */

/* The contents of a slot, read with read_code, which copies bytes of any memory. */
static bool read_slot(struct unwind_memory *memory, uint64_t va, uint64_t *value)
{
	uint8_t bytes[sizeof(*value)];

	if (!memory->read_code(memory, va, bytes, sizeof(bytes)))
		return false;
	memcpy(value, bytes, sizeof(bytes));
	return true;
}

/* Resolves a target to its address. False: its slot cannot be read. */
static bool resolve(
	struct unwind_memory *memory, const struct arch_target *target, uint64_t *target_va)
{
	if (target->is_slot)
		return read_slot(memory, target->addr, target_va);
	*target_va = target->addr;
	return true;
}

/* Follows the stub at *va. False: not a stub, or its slot cannot be read. */
static bool follow_stub(
	const struct arch *arch, struct unwind_memory *memory, uint64_t *va, bool *is_unread)
{
	uint8_t bytes[ARCH_STUB_BYTES];
	struct arch_target target;

	if (!memory->read_code(memory, *va, bytes, sizeof(bytes)) ||
		!arch->stub_target(bytes, *va, &target))
		return false;
	*is_unread = !resolve(memory, &target, va);
	return !*is_unread;
}

static enum callee compare(const struct arch *arch, struct unwind_memory *memory,
	uint64_t target_va, uint64_t start_va)
{
	bool is_unread = false;

	for (int i = 0; i < JUMPS_MAX && target_va != start_va; i++)
		if (!follow_stub(arch, memory, &target_va, &is_unread))
			break;
	if (target_va == start_va)
		return CALLEE_THIS;
	return is_unread ? CALLEE_UNKNOWN : CALLEE_OTHER;
}

/* Most calls name their target; for others, earlier instructions loaded it. */
static bool find_target(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	struct arch_target *target)
{
	uint8_t bytes[LOAD_BYTES];

	if (!memory->read_code(memory, return_va - CALL_BYTES, bytes, CALL_BYTES))
		return false;
	if (arch->call_target(bytes, CALL_BYTES, return_va, target))
		return true;
	for (size_t i = 0; i < LOAD_BYTES; i += READ_BYTES)
		if (!memory->read_code(memory, return_va - LOAD_BYTES + i, bytes + i, READ_BYTES))
			return false;
	return arch->call_target(bytes, LOAD_BYTES, return_va, target);
}

bool chain_call_target(const struct arch *arch, struct unwind_memory *memory, uint64_t return_va,
	uint64_t *target_va)
{
	struct arch_target target;

	return memory->read_code && arch->decode && find_target(arch, memory, return_va, &target) &&
	       resolve(memory, &target, target_va);
}

/* Whether the call that returns to return_va entered the function that begins at start_va. */
static enum callee callee_is(const struct arch *arch, struct unwind_memory *memory,
	uint64_t return_va, uint64_t start_va)
{
	uint64_t target_va;

	if (!chain_call_target(arch, memory, return_va, &target_va))
		return CALLEE_UNKNOWN;
	return compare(arch, memory, target_va, start_va);
}

/* ---- following ---- */

struct follower {
	const struct chain_place *place;
	struct unwind_regs regs;
	struct chain chain;
	size_t frames;
	size_t foreign;	      /* unknown calls that another load object made */
	size_t first_foreign; /* the number of the innermost one's frame */
};

static uint64_t pc_of(const struct follower *f)
{
	return f->regs.value[UNWIND_REG_PC];
}

static bool function_of(const struct unwind_mapping *mapping, uint64_t va, uint64_t *start_va)
{
	uint64_t start;

	if (!mapping || !mapping->table ||
		!cfi_table_function(mapping->table, va - mapping->slide, &start))
		return false;
	*start_va = start + mapping->slide;
	return true;
}

/* ---- steps ---- */

static bool restore(struct follower *f, unsigned int reg, uint64_t cfa, int32_t offset)
{
	if (offset == 0)
		return true;
	f->regs.known |= 1u << reg;
	return unwind_memory_read(
		f->place->memory, cfa + (uint64_t)(int64_t)offset, &f->regs.value[reg]);
}

static enum step step_to_cfa(struct follower *f, const struct cfi_rule *rule, uint64_t cfa)
{
	uint64_t return_va;

	if (cfa <= f->regs.value[UNWIND_REG_SP] || (cfa & 7))
		return STEP_NO_PROGRESS;
	if (!unwind_memory_read(f->place->memory, cfa - 8, &return_va))
		return STEP_NO_MEMORY;
	f->regs.known &= UNWIND_BITS_FOLLOWED;
	if (rule->kind != CFI_PLT && (!restore(f, UNWIND_REG_BP, cfa, rule->bp_offset) ||
					     !restore(f, UNWIND_REG_BX, cfa, rule->bx_offset)))
		return STEP_NO_MEMORY;
	f->regs.value[UNWIND_REG_SP] = cfa;
	f->regs.value[UNWIND_REG_PC] = return_va;
	return STEP_CALLER;
}

static enum step step_slow(
	struct follower *f, const struct unwind_mapping *mapping, const struct cfi_rule *rule)
{
	uint64_t sp = f->regs.value[UNWIND_REG_SP];
	enum step step = slow_step(f->place->space->arch, mapping->table,
		cfi_table_slow(mapping->table, rule->slow), false, &f->regs, f->place->memory);

	return step == STEP_CALLER && f->regs.value[UNWIND_REG_SP] <= sp ? STEP_NO_PROGRESS : step;
}

/* Steps out of code without rules by its frame pointer, which is not certain. */
static enum step step_bare(struct follower *f)
{
	static const struct cfi_rule rule = {.kind = CFI_BP, .cfa_offset = 16, .bp_offset = -16};

	f->chain.unknown++;
	if (!unwind_regs_know(&f->regs, UNWIND_REG_BP))
		return STEP_NO_RULE;
	return step_to_cfa(f, &rule, f->regs.value[UNWIND_REG_BP] + 16);
}

static enum step step_out(struct follower *f, const struct unwind_mapping *mapping)
{
	static const struct cfi_rule none = {.kind = CFI_NONE};
	const struct cfi_rule *rule =
		mapping->table ? cfi_table_find(mapping->table, pc_of(f) - 1 - mapping->slide)
			       : &none;
	uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;

	switch (rule->kind) {
	case CFI_END:
		return STEP_ROOT;
	case CFI_SP:
	case CFI_CODE_SP:
		return step_to_cfa(f, rule, f->regs.value[UNWIND_REG_SP] + offset);
	case CFI_BP:
	case CFI_CODE_BP:
		if (!unwind_regs_know(&f->regs, UNWIND_REG_BP))
			return STEP_NO_RULE;
		return step_to_cfa(f, rule, f->regs.value[UNWIND_REG_BP] + offset);
	case CFI_SLOW:
		return step_slow(f, mapping, rule);
	case CFI_NONE:
	case CFI_CODE_SAVED: /* derived from code only when a walk reaches it */
	case CFI_CODE_REGISTER:
		return step_bare(f);
	case CFI_GO:  /* the caller is on another stack */
	case CFI_PLT: /* calls nothing */
	case CFI_SIGNAL:
		break;
	}
	return STEP_NO_RULE;
}

/* ---- links ---- */

static void count_unknown(struct follower *f)
{
	if (unwind_space_find(f->place->space, pc_of(f) - 1) == f->place->mapping) {
		f->chain.unknown++;
		return;
	}
	if (f->foreign++ == 0)
		f->first_foreign = f->frames;
}

/* Checks that the function that begins at start_va returns to the current position. */
static void check_link(struct follower *f, bool has_start, uint64_t start_va)
{
	enum callee callee =
		has_start ? callee_is(f->place->space->arch, f->place->memory, pc_of(f), start_va)
			  : CALLEE_UNKNOWN;

	f->chain.against += callee == CALLEE_OTHER;
	if (callee == CALLEE_UNKNOWN)
		count_unknown(f);
	f->chain.recurs |= has_start && f->place->has_start && start_va == f->place->start_va;
}

static enum step follow_frame(struct follower *f)
{
	const struct unwind_mapping *mapping = unwind_space_find(f->place->space, pc_of(f) - 1);
	uint64_t start_va = 0;

	if (!mapping)
		return STEP_NO_RULE;
	if (mapping->object & UNWIND_PENDING)
		return STEP_NO_MEMORY;
	bool has_start = function_of(mapping, pc_of(f) - 1, &start_va);
	enum step step = step_out(f, mapping);

	if (step != STEP_CALLER)
		return step;
	/* A return address of 0 also ends a stack, but memory is full of zeros. */
	if (!return_address_is_plausible(
		    f->place->cache, f->place->space, f->place->memory, pc_of(f)))
		return STEP_NO_RULE;
	f->frames++;
	check_link(f, has_start, start_va);
	return step;
}

struct chain chain_follow(
	const struct chain_place *place, uint64_t return_va, uint64_t sp, uint64_t bp)
{
	struct follower f = {.place = place};
	enum step step = STEP_CALLER;

	unwind_regs_set(&f.regs, UNWIND_REG_PC, return_va);
	unwind_regs_set(&f.regs, UNWIND_REG_SP, sp);
	unwind_regs_set(&f.regs, UNWIND_REG_BP, bp);
	f.chain.first = place->has_start ? callee_is(place->space->arch, place->memory, return_va,
						   place->start_va)
					 : CALLEE_UNKNOWN;
	f.chain.against = f.chain.first == CALLEE_OTHER;
	while (step == STEP_CALLER && f.frames < FRAMES_MAX)
		step = follow_frame(&f);
	f.chain.is_whole = step == STEP_ROOT || step == STEP_CALLER;
	f.chain.is_cut = step == STEP_NO_MEMORY;
	if (f.foreign && f.frames - f.first_foreign >= BEGIN_CALLS)
		f.chain.unknown += f.foreign;
	return f.chain;
}
