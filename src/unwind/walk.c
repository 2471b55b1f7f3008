/*
 * The stack walk: looks up the rule for a frame's pc and steps out of the frame by that rule, until
 * the outermost frame.
 *
 * A rule is the object's, the program's own for code that it generated, or derived from the code's
 * instructions (live_rules.h).  Where none holds, and where a rule needs a frame pointer that is
 * unknown, heuristics/ may find the caller: this file counts each such step, and marks the callers
 * that may be wrong.
 *
 * A direct-mapped cache holds the rules by pc: samples fall in few places, and callers repeat even
 * more.  A miss costs a search of the mappings and of the object's table.
 *
 * A step must lead outwards: sp grows, except from a signal frame, which may leave an alternate
 * signal stack.  So a corrupt or hostile stack ends the walk instead of continuing it for ever.
 */
#include "unwind/walk.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "obj/cfi.h"
#include "unwind/go_stack.h"
#include "unwind/heuristics/bp_chain.h"
#include "unwind/heuristics/guess.h"
#include "unwind/heuristics/lost_bp.h"
#include "unwind/heuristics/scan.h"
#include "unwind/history.h"
#include "unwind/live_rules.h"
#include "unwind/print.h"
#include "unwind/return_address.h"
#include "unwind/slow.h"
#include "unwind/step.h"

/* CACHE_BITS: more than 16 K entries had no benefit on clang, the largest program tried. */
enum { CACHE_BITS = 14, CACHE_SIZE = 1 << CACHE_BITS };

/* How many callers of one stack are searched for (heuristics/scan.h), as that is slow. */
enum { SCANS_MAX = 8 };

/* How often a signal frame may lead inwards, to another stack. */
enum { STACK_SWITCHES_MAX = 64 };
/* How often Go may call C, and C Go, on one stack. */
enum { GO_SWITCHES_MAX_DEPTH = 4096 };
/* The register that holds g in Go's own calling convention, since Go 1.17. */
enum { GO_REG_G = 14 };

/* From the frame pointer to the return address, if there is nothing in between. */
#define FRAME_RETURN_OFFSET ((uint64_t)8)

/* The cached result for a pc in a space. */
struct place {
	uint64_t pc;
	uint64_t slide;
	const struct cfi_rule *rule;
	uint32_t state;	 /* of the space, and whether pc is a return address; see place_state */
	uint32_t object; /* UINT32_MAX: in no mapping */
};

struct unwind_walker {
	VEC(struct unwind_frame) frames;
	struct unwind_counts counts;
	uint64_t epoch; /* the upper bits of the generations in the cache */
	struct place cache[CACHE_SIZE];
	struct return_cache returns;
	struct lost_bp_cache depths;
	struct scan_cache scans;
	struct live_rules live;
};

struct walk {
	struct unwind_walker *walker;
	const struct unwind_space *space;
	struct unwind_history *history;
	struct unwind_memory *memory;
	struct unwind_regs regs; /* of the frame at hand */
	uint32_t flags;		 /* of the frame at hand */
	unsigned int stack_switches, go_switches;
	struct bp_chain chain;
	unsigned int scans;
	uint64_t go_g; /* the sample's value of the register that holds g in Go; 0: unknown */
	struct unwind_stack *stack;
};

static const struct cfi_rule no_rule = {.kind = CFI_NONE};
static const struct cfi_rule signal_rule = {.kind = CFI_SIGNAL};
/* For the beginning of a function to which a coroutine returns at its end. */
static const struct cfi_rule begin_rule = {.kind = CFI_END};

struct unwind_walker *unwind_walker_create(void)
{
	struct unwind_walker *walker = xalloc(sizeof(*walker));

	walker->epoch = UINT64_MAX;
	return walker;
}

void unwind_walker_destroy(struct unwind_walker *walker)
{
	if (walker == NULL)
		return;
	vec_deinit(&walker->frames);
	free(walker);
}

struct unwind_counts unwind_walker_counts(const struct unwind_walker *walker)
{
	return walker->counts;
}

/* ---- places ---- */

/* A return address may already be in the next function; the call before it is not. */
static uint64_t call_va(uint64_t return_va)
{
	return return_va - 1;
}

/* The cache holds 31 bits of the generation; when the others change, it starts afresh. */
static void check_epoch(struct unwind_walker *walker, const struct unwind_space *space)
{
	uint64_t epoch = space->generation >> 31;

	if (walker->epoch == epoch)
		return;
	walker->epoch = epoch;
	for (size_t i = 0; i < CACHE_SIZE; i++)
		walker->cache[i] = (struct place){.state = UINT32_MAX, .rule = &no_rule};
}

static uint32_t place_state(const struct unwind_space *space, uint32_t flags)
{
	return (uint32_t)space->generation << 1 | (flags & FRAME_INTERRUPTED);
}

static bool is_signal_return(const struct walk *w, uint64_t pc)
{
	if (w->flags & FRAME_INTERRUPTED)
		return signal_return_is_around(w->space->arch, w->memory, pc);
	return signal_return_is_at(w->space->arch, w->memory, pc);
}

/* The program's own rule is better than one derived from the code after a place. */
static const struct cfi_rule *find_live_rule(const struct walk *w, uint64_t pc, uint64_t va)
{
	const struct cfi_rule *rule = live_rules_made(&w->walker->live, w->memory, va);

	if (!rule)
		rule = live_rules_read(&w->walker->live, w->space->arch, w->memory, pc);
	return rule ? rule : &no_rule;
}

/*
 * The rule for a pc in a mapping.  A pc at the beginning of a function, or in none, may be the
 * return address of a signal handler that was not called from the code before it.  Likewise, the
 * creator of a coroutine sets the return address of its first function (makecontext(3)): nothing
 * called it, so its stack is complete there.  For code without rules, rules are derived from the
 * code.
 */
static const struct cfi_rule *find_rule(
	const struct walk *w, const struct unwind_mapping *mapping, uint64_t pc, uint64_t va)
{
	const struct cfi_rule *rule = &no_rule, *at_pc = &no_rule;

	if (mapping->table) {
		rule = cfi_table_find(mapping->table, va - mapping->slide);
		at_pc = cfi_table_find(mapping->table, pc - mapping->slide);
	}
	if ((at_pc->kind == CFI_NONE || at_pc->kind == CFI_SIGNAL) && is_signal_return(w, pc))
		return &signal_rule;
	if (rule->kind == CFI_NONE && at_pc->kind != CFI_NONE &&
		!return_address_is_plausible(&w->walker->returns, w->space, w->memory, pc))
		return &begin_rule;
	return rule->kind == CFI_NONE && at_pc->kind == CFI_NONE ? find_live_rule(w, pc, va) : rule;
}

static void fill_place(const struct walk *w, struct place *place, uint64_t pc)
{
	uint64_t va = w->flags & FRAME_INTERRUPTED ? pc : call_va(pc);
	const struct unwind_mapping *mapping = unwind_space_find(w->space, va);

	*place = (struct place){.pc = pc,
		.state = place_state(w->space, w->flags),
		.rule = &no_rule,
		.object = UINT32_MAX};
	if (mapping == NULL)
		return;
	place->slide = mapping->slide;
	place->object = mapping->object;
	place->rule = find_rule(w, mapping, pc, va);
}

static struct place *place_slot(const struct walk *w, uint64_t pc)
{
	uint64_t key = pc + w->space->generation * 0xd6e8feb86659fd93u;

	return &w->walker->cache[key * 0x9e3779b97f4a7c15u >> (64 - CACHE_BITS)];
}

static const struct place *find_place(const struct walk *w)
{
	uint64_t pc = w->regs.value[UNWIND_REG_PC];
	struct place *place = place_slot(w, pc);

	if (likely(place->pc == pc && place->state == place_state(w->space, w->flags))) {
		w->walker->counts.cache_hits++;
		return place;
	}
	w->walker->counts.cache_misses++;
	fill_place(w, place, pc);
	return place;
}

/* ---- frames ---- */

/* A hash of three words at sp; unreadable words count as 0. */
static uint64_t fingerprint(struct unwind_memory *memory, uint64_t sp)
{
	uint64_t word[3] = {0};

	if (likely(unwind_memory_has(memory, sp, sizeof(word)))) {
		memcpy(word, memory->bytes + (sp - memory->low_va), sizeof(word));
	} else {
		for (unsigned int i = 0; i < ARRAY_SIZE(word); i++) {
			if (!unwind_memory_read(memory, sp + 8 * i, &word[i]))
				break;
		}
	}
	return unwind_print(word);
}

/*
 * The address that represents the frame.  Signal handlers and coroutines return to the very start
 * of code that was not called from the instruction before it.
 */
static uint64_t frame_va(const struct walk *w, const struct place *place)
{
	bool exact = (w->flags & FRAME_INTERRUPTED) || place->rule->kind == CFI_SIGNAL ||
		     place->rule == &begin_rule;

	return exact ? place->pc : call_va(place->pc);
}

static struct unwind_frame *add_frame(struct walk *w, const struct place *place)
{
	struct unwind_walker *walker = w->walker;
	uint64_t va = frame_va(w, place), sp = w->regs.value[UNWIND_REG_SP];

	vec_reserve(&walker->frames, walker->frames.count + 1);
	struct unwind_frame *frame = &walker->frames.data[walker->frames.count++];
	*frame = (struct unwind_frame){
		.va = va,
		.obj_addr = va - place->slide,
		.object = place->object,
		.pc = place->pc,
		.sp = sp,
		.bp = w->regs.value[UNWIND_REG_BP],
		.flags = w->flags,
	};
	return frame;
}

/* ---- heuristics: what may be wrong is counted here, and a guess is marked ---- */

/* Notes that the caller of the current frame, if any, is a guess. */
static void note_guess(struct walk *w)
{
	if (w->stack->guessed++ == 0)
		w->stack->guess_at = w->walker->frames.count;
}

/*
 * Searches for an unknown frame pointer, as of threads seen asleep. return_offset: from it to the
 * return address.  False: it is known but useless, or not found.
 */
static bool regain_bp(struct walk *w, const struct place *place, uint64_t return_offset)
{
	struct lost_bp frame = {
		.returns = &w->walker->returns,
		.cache = &w->walker->depths,
		.space = w->space,
		.memory = w->memory,
		.va = w->flags & FRAME_INTERRUPTED ? place->pc : call_va(place->pc),
		.sp = w->regs.value[UNWIND_REG_SP],
		.return_offset = return_offset,
	};
	enum lost_bp_verdict verdict;
	uint64_t bp;

	if (unwind_regs_know(&w->regs, UNWIND_REG_BP) || !w->space->arch->decode)
		return false;
	verdict = lost_bp_find(&frame, &bp);
	if (verdict == LOST_BP_NOT_FOUND)
		return false;
	unwind_regs_set(&w->regs, UNWIND_REG_BP, bp);
	w->walker->counts.heuristic_steps++;
	if (verdict == LOST_BP_GUESSED)
		note_guess(w);
	return true;
}

/* The frame may be that of a function that jumped here. */
static enum step step_by_scan(struct walk *w)
{
	struct scan scan = {
		.returns = &w->walker->returns,
		.cache = &w->walker->scans,
		.space = w->space,
		.memory = w->memory,
		.interrupted = w->flags & FRAME_INTERRUPTED,
	};

	if (w->scans == SCANS_MAX)
		return STEP_NO_RULE;
	w->scans++;
	return scan_step(&scan, &w->regs);
}

static enum step step_by_guess(struct walk *w, const struct place *place)
{
	bool interrupted = w->flags & FRAME_INTERRUPTED;

	/* A return address outside all code is invalid. */
	if (place->object == UINT32_MAX && !interrupted)
		return STEP_NO_RULE;
	w->walker->counts.heuristic_steps++;
	enum step step = guess_step(
		&w->walker->returns, &w->chain, w->space, interrupted, &w->regs, w->memory);

	if (step == STEP_NO_RULE && regain_bp(w, place, FRAME_RETURN_OFFSET))
		step = guess_step(
			&w->walker->returns, &w->chain, w->space, interrupted, &w->regs, w->memory);
	/* An object that is not open yet may have the rule: the stack is walked again then. */
	if (step == STEP_NO_RULE && !(place->object & UNWIND_PENDING))
		step = step_by_scan(w);
	if (step == STEP_CALLER)
		note_guess(w);
	return step;
}

/* ---- steps ---- */

/*
 * Restores a register that the current frame saved at CFA + offset; 0: it did not.  In an epilogue,
 * rows still name slots below sp that have been popped: the register then has its old value again,
 * and the memory there may be overwritten.
 */
static inline void restore_register(struct walk *w, unsigned int reg, uint64_t cfa, int32_t offset)
{
	if (offset == 0 || cfa + (uint64_t)(int64_t)offset < w->regs.value[UNWIND_REG_SP])
		return;
	w->regs.known |= 1u << reg;
	if (!unwind_memory_read(w->memory, cfa + (uint64_t)(int64_t)offset, &w->regs.value[reg]))
		w->regs.known &= ~(1u << reg);
}

static inline enum step simple_step(struct walk *w, const struct cfi_rule *rule, uint64_t base)
{
	struct unwind_regs *regs = &w->regs;
	uint64_t cfa = base + (uint64_t)(int64_t)rule->cfa_offset, return_va;

	if (unlikely(cfa <= regs->value[UNWIND_REG_SP] || (cfa & 7)))
		return STEP_NO_PROGRESS;
	if (unlikely(!unwind_memory_read(w->memory, cfa - 8, &return_va)))
		return STEP_NO_MEMORY;
	/* Assembly may base its frame on a register that its innermost callee does not change. */
	if (!(w->flags & FRAME_INTERRUPTED))
		regs->known &= UNWIND_BITS_FOLLOWED;
	restore_register(w, UNWIND_REG_BP, cfa, rule->bp_offset);
	restore_register(w, UNWIND_REG_BX, cfa, rule->bx_offset);
	regs->value[UNWIND_REG_SP] = cfa;
	regs->value[UNWIND_REG_PC] = return_va;
	w->flags = 0;
	return STEP_CALLER;
}

/* Goroutines return to a place without a call: after the first byte of their outermost function. */
static bool is_outermost_return(const struct walk *w, uint64_t return_va)
{
	const struct unwind_mapping *mapping = unwind_space_find(w->space, return_va - 1);
	uint64_t obj_addr, start;

	if (!mapping || !mapping->table)
		return false;
	obj_addr = return_va - 1 - mapping->slide;
	return cfi_table_find(mapping->table, obj_addr)->kind == CFI_END &&
	       cfi_table_function(mapping->table, obj_addr, &start) && start == obj_addr;
}

static bool is_return_address(struct walk *w, uint64_t va)
{
	return return_address_is_plausible(&w->walker->returns, w->space, w->memory, va) ||
	       signal_return_is_at(w->space->arch, w->memory, va) || is_outermost_return(w, va);
}

/*
 * Whether a rule depends on a register that is not followed: the frame's callee, which was
 * innermost, may have changed it without saving it.
 */
static bool is_loose(const struct cfi_slow_rule *rule, bool interrupted)
{
	return !interrupted && !rule->cfa_is_expression &&
	       !(UNWIND_BITS_FOLLOWED >> rule->cfa_register & 1);
}

static enum step step_by_table(struct walk *w, const struct place *place)
{
	bool interrupted = w->flags & FRAME_INTERRUPTED;
	const struct unwind_mapping *mapping =
		unwind_space_find(w->space, interrupted ? place->pc : call_va(place->pc));

	const struct cfi_slow_rule *rule = cfi_table_slow(mapping->table, place->rule->slow);
	enum step step =
		slow_step(w->space->arch, mapping->table, rule, interrupted, &w->regs, w->memory);

	w->walker->counts.slow_steps++;
	if (step == STEP_CALLER && is_loose(rule, interrupted) &&
		!is_return_address(w, w->regs.value[UNWIND_REG_PC]))
		return STEP_NO_RULE;
	if (step == STEP_NO_RULE && regain_bp(w, place, FRAME_RETURN_OFFSET))
		step = slow_step(
			w->space->arch, mapping->table, rule, interrupted, &w->regs, w->memory);
	return step;
}

/*
 * Checks the result of a step other than the simple ones, and sets the flags of the new frame. odd:
 * FRAME_ODD if the return address may not have been right below the caller's sp.
 */
static enum step finish_step(struct walk *w, enum step step, uint64_t sp_before, uint32_t odd)
{
	uint64_t sp = w->regs.value[UNWIND_REG_SP];
	/* longjmp moves sp before it jumps. */
	bool may_stay = step == STEP_CALLER && (w->flags & FRAME_INTERRUPTED);
	bool progress = sp > sp_before || (sp == sp_before && may_stay);

	if (step != STEP_CALLER && step != STEP_INTERRUPTED)
		return step;
	w->flags = odd | (step == STEP_INTERRUPTED ? FRAME_INTERRUPTED : 0);
	if (step == STEP_CALLER && (sp & 7))
		return STEP_NO_PROGRESS;
	if (progress)
		return step;
	if (step == STEP_CALLER || ++w->stack_switches > STACK_SWITCHES_MAX)
		return STEP_NO_PROGRESS;
	return step;
}

static unsigned int base_register(const struct cfi_rule *rule)
{
	if (rule->kind == CFI_CODE_REGISTER)
		return (unsigned int)rule->origin;
	return rule->kind == CFI_CODE_BP ? UNWIND_REG_BP : UNWIND_REG_SP;
}

/* The base of the CFA of a rule derived from the code.  False: cannot be read. */
static bool rule_base(const struct walk *w, const struct cfi_rule *rule, uint64_t *base)
{
	*base = w->regs.value[base_register(rule)];
	return rule->kind != CFI_CODE_SAVED ||
	       unwind_memory_read(w->memory, *base + (uint64_t)(int64_t)rule->origin, base);
}

/* The caller's frame pointer by a rule. False: unknown. */
static bool rule_bp(const struct walk *w, const struct cfi_rule *rule, uint64_t cfa, uint64_t *bp)
{
	uint64_t va = cfa + (uint64_t)(int64_t)rule->bp_offset;

	*bp = w->regs.value[UNWIND_REG_BP];
	if (rule->bp_offset == 0 || va < w->regs.value[UNWIND_REG_SP])
		return unwind_regs_know(&w->regs, UNWIND_REG_BP);
	return unwind_memory_read(w->memory, va, bp);
}

/* Whether a frame can return to an address without a call, by the frame pointers outside. */
static bool is_enclosed(
	struct walk *w, const struct cfi_rule *rule, uint64_t cfa, uint64_t return_va)
{
	uint64_t bp;

	return rule_bp(w, rule, cfa, &bp) && bp_chain_holds(&w->chain, &w->walker->returns,
						     w->space, w->memory, return_va, cfa, bp);
}

/* The result of a rule derived from the code. */
enum code_rule { CODE_RULE_HOLDS, CODE_RULE_LIKELY, CODE_RULE_FAILS, CODE_RULE_NO_MEMORY };

/*
 * The rule holds if it finds a return address.  It is likely if frame pointers show that the
 * address may be one.
 */
static enum code_rule try_code_rule(struct walk *w, const struct cfi_rule *rule)
{
	uint64_t cfa, return_va;

	if (!unwind_regs_know(&w->regs, base_register(rule)))
		return CODE_RULE_FAILS;
	if (!rule_base(w, rule, &cfa))
		return CODE_RULE_NO_MEMORY;
	cfa += (uint64_t)(int64_t)rule->cfa_offset;
	if (cfa <= w->regs.value[UNWIND_REG_SP] || (cfa & 7) != 0)
		return CODE_RULE_FAILS;
	if (!unwind_memory_read(w->memory, cfa - 8, &return_va))
		return CODE_RULE_NO_MEMORY;
	if (is_return_address(w, return_va))
		return CODE_RULE_HOLDS;
	return is_enclosed(w, rule, cfa, return_va) ? CODE_RULE_LIKELY : CODE_RULE_FAILS;
}

/* Whether a different rule than the place's holds, which then becomes the place's. */
static bool rule_holds(struct walk *w, const struct place *place, const struct cfi_rule *rule)
{
	if (!rule || rule == place->rule || rule->kind == CFI_END ||
		try_code_rule(w, rule) != CODE_RULE_HOLDS)
		return false;
	place_slot(w, place->pc)->rule = rule;
	return true;
}

/* The program's information about its code may have arrived only now. */
static bool made_rule_holds(struct walk *w, const struct place *place)
{
	uint64_t va = w->flags & FRAME_INTERRUPTED ? place->pc : call_va(place->pc);

	return rule_holds(w, place, live_rules_made(&w->walker->live, w->memory, va));
}

/*
 * A rule derived from the code's beginning does not hold: for a loop that pushes, it covers one
 * iteration.  The path to the exit may show more.
 */
static bool other_rule_holds(struct walk *w, const struct place *place)
{
	return made_rule_holds(w, place) ||
	       rule_holds(w, place,
		       live_rules_read(&w->walker->live, w->space->arch, w->memory, place->pc));
}

/* The rule was tried, so its memory can be read. */
static enum step step_by_held_rule(struct walk *w, const struct place *place)
{
	uint64_t base;

	if (!rule_base(w, place->rule, &base))
		return STEP_NO_MEMORY;
	return simple_step(w, place->rule, base);
}

/* Whether the rule may hold where the frame's stack pointer was before its callee moved it. */
static bool moved_rule_is_likely(struct walk *w, const struct place *place)
{
	uint64_t sp = w->regs.value[UNWIND_REG_SP], moved_sp;
	size_t count = w->walker->frames.count;

	if ((w->flags & FRAME_INTERRUPTED) || count < 2 ||
		!guess_moved_sp(w->memory, w->walker->frames.data[count - 2].bp, &moved_sp) ||
		moved_sp <= sp)
		return false;
	w->regs.value[UNWIND_REG_SP] = moved_sp;
	enum code_rule result = try_code_rule(w, place->rule);

	if (result == CODE_RULE_HOLDS || result == CODE_RULE_LIKELY)
		return true;
	w->regs.value[UNWIND_REG_SP] = sp;
	return false;
}

/* Without memory, guessing is not possible either. */
static enum step step_by_code(struct walk *w, const struct place *place)
{
	enum code_rule result = try_code_rule(w, place->rule);

	if (result == CODE_RULE_NO_MEMORY)
		return STEP_NO_MEMORY;
	if (result == CODE_RULE_HOLDS || other_rule_holds(w, place))
		return step_by_held_rule(w, place);
	if (moved_rule_is_likely(w, place) || result == CODE_RULE_LIKELY) {
		w->walker->counts.heuristic_steps++;
		note_guess(w);
		return step_by_held_rule(w, place);
	}
	return finish_step(w, step_by_guess(w, place), w->regs.value[UNWIND_REG_SP], 0);
}

/* Out of code of Go's runtime that runs on another stack than its caller's. */
static enum step step_in_go(struct walk *w, const struct place *place)
{
	bool interrupted = w->flags & FRAME_INTERRUPTED;
	const struct unwind_mapping *mapping =
		unwind_space_find(w->space, interrupted ? place->pc : call_va(place->pc));
	struct go_frame frame = {
		.returns = &w->walker->returns,
		.space = w->space,
		.memory = w->memory,
		.mapping = mapping,
		.kind = place->rule->go,
		.inner = w->walker->frames.data,
		.inner_count = w->walker->frames.count,
		.g = w->go_g,
	};

	if (++w->go_switches > GO_SWITCHES_MAX_DEPTH)
		return STEP_NO_PROGRESS;
	enum step step = go_step(&frame, &w->regs);
	w->stack->misses_stack = step != STEP_CALLER;
	w->flags = FRAME_ODD;
	return step;
}

static enum step other_step(struct walk *w, const struct place *place)
{
	uint64_t sp = w->regs.value[UNWIND_REG_SP];

	switch (place->rule->kind) {
	case CFI_END:
		return STEP_ROOT;
	case CFI_SIGNAL:
		return finish_step(
			w, signal_step(w->space->arch, &w->regs, w->memory), sp, FRAME_ODD);
	case CFI_GO:
		return step_in_go(w, place);
	case CFI_SLOW:
		return finish_step(w, step_by_table(w, place), sp, FRAME_ODD);
	case CFI_CODE_SP:
	case CFI_CODE_BP:
	case CFI_CODE_SAVED:
	case CFI_CODE_REGISTER:
		return step_by_code(w, place);
	case CFI_NONE:
		if (made_rule_holds(w, place))
			return step_by_held_rule(w, place);
		break;
	case CFI_SP:
	case CFI_BP:
	case CFI_PLT:
		break;
	}
	return finish_step(w, step_by_guess(w, place), sp, 0);
}

static inline enum step step_out(struct walk *w, const struct place *place)
{
	const struct cfi_rule *rule = place->rule;
	uint64_t sp = w->regs.value[UNWIND_REG_SP];

	switch (rule->kind) {
	case CFI_SP:
		return simple_step(w, rule, sp);
	case CFI_BP:
		if (likely(unwind_regs_know(&w->regs, UNWIND_REG_BP)) ||
			regain_bp(w, place, (uint64_t)(int64_t)rule->cfa_offset - 8))
			return simple_step(w, rule, w->regs.value[UNWIND_REG_BP]);
		return STEP_NO_MEMORY;
	case CFI_PLT:
		return simple_step(w, rule, sp + 8 + ((place->pc & 15) >= 11 ? 8 : 0));
	case CFI_NONE:
	case CFI_SIGNAL:
	case CFI_END:
	case CFI_GO:
	case CFI_SLOW:
	case CFI_CODE_SP:
	case CFI_CODE_BP:
	case CFI_CODE_SAVED:
	case CFI_CODE_REGISTER:
		break;
	}
	return other_step(w, place);
}

static enum unwind_end end_of(enum step step)
{
	switch (step) {
	case STEP_ROOT:
		return UNWIND_ROOT;
	case STEP_NO_MEMORY:
		return UNWIND_NO_MEMORY;
	case STEP_NO_PROGRESS:
		return UNWIND_NO_PROGRESS;
	case STEP_NO_RULE:
	case STEP_CALLER:
	case STEP_INTERRUPTED:
		break;
	}
	return UNWIND_NO_RULE;
}

/* ---- reuse ---- */

static enum history_verdict check_reuse(const struct walk *w)
{
	enum history_verdict verdict;

	w->memory->is_check = true;
	verdict = history_verify(w->history, w->memory);
	w->memory->is_check = false;
	if (verdict == HISTORY_UNREADABLE && w->memory->checks_wait)
		history_put_off_check(w->history);
	return verdict;
}

/* Takes the rest of the stack from the history, if it passes a check when one is due. */
static bool reuse_rest(struct walk *w)
{
	struct unwind_counts *counts = &w->walker->counts;
	struct history_match match = history_reuse(w->history);

	if (match.check_due) {
		enum history_verdict verdict = check_reuse(w);
		counts->reuse_checks += verdict != HISTORY_UNREADABLE;
		if (verdict == HISTORY_CHANGED) {
			counts->reuse_mismatches++;
			history_distrust(w->history);
			return false;
		}
	}
	w->walker->frames.count -= match.run;
	w->stack->reused = match.reused;
	w->stack->reused_node = match.node;
	counts->reuses++;
	counts->reused_frames += match.reused;
	return true;
}

static bool meets_history(struct walk *w, struct unwind_frame *frame)
{
	frame->print = fingerprint(w->memory, frame->sp);
	return history_meets(w->history, frame) && reuse_rest(w);
}

/* ---- the walk ---- */

static enum unwind_end walk(struct walk *w)
{
	struct unwind_walker *walker = w->walker;

	while (walker->frames.count < UNWIND_DEPTH_MAX) {
		const struct place *place = find_place(w);
		struct unwind_frame *frame = add_frame(w, place);
		if (w->history && meets_history(w, frame))
			return UNWIND_REUSED;
		enum step step = step_out(w, place);
		if (unlikely(step > STEP_INTERRUPTED))
			return end_of(step);
		if (unlikely(w->regs.value[UNWIND_REG_PC] == 0 && step == STEP_CALLER)) {
			w->stack->returns_to_zero = true;
			return UNWIND_ROOT;
		}
	}
	return UNWIND_TOO_DEEP;
}

void unwind_walk(struct unwind_walker *walker, const struct unwind_space *space,
	struct unwind_history *history, const struct unwind_regs *regs,
	struct unwind_memory *memory, struct unwind_stack *stack)
{
	struct walk w = {
		.walker = walker,
		.space = space,
		.history = history,
		.memory = memory,
		.regs = *regs,
		.flags = FRAME_INTERRUPTED,
		.stack = stack,
		.go_g = unwind_regs_know(regs, GO_REG_G) ? regs->value[GO_REG_G] : 0,
	};

	*stack = (struct unwind_stack){0};
	check_epoch(walker, space);
	if (history)
		history_begin(history, space);
	walker->frames.count = 0;
	stack->end = walk(&w);
	stack->outer_sp = w.regs.value[UNWIND_REG_SP];
	stack->frames = walker->frames.data;
	stack->count = walker->frames.count;
	/* The reused frames are from a stack without guesses. */
	if (stack->guess_at > stack->count)
		stack->guessed = stack->guess_at = 0;
	walker->counts.walks++;
	walker->counts.frames += stack->count;
}
