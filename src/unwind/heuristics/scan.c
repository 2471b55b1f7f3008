/*
 * Some runtimes keep a stack of their own, and use neither the machine's nor a frame pointer: all
 * code that GHC compiles runs in the frame of the C function that jumped to it, and jumps on
 * without returning.  It has no rules and no frame of its own, so its caller is the one of that
 * function, and that function's rules lead there.
 *
 * Which function it was shows only at its return address: there was the call that entered it.  So
 * each return address outside is tried: it is taken if a rule of the function that its call entered
 * leads from the current stack pointer to right there, and rules lead on from there to the root.
 */
#include "unwind/heuristics/scan.h"

#include "base/hash.h"
#include "obj/cfi.h"
#include "unwind/heuristics/chain.h"
#include "unwind/slow.h"

#define SEARCH_BYTES ((uint64_t)32 << 10)

enum {
	TRIES_MAX = 1024, /* return addresses */
	/* How much of a function is looked at for its rules, and in which steps. */
	ENTERED_BYTES = 128,
	ENTERED_STEP = 4,
	PUSHED_MAX = 32, /* around a call: to align the stack, and a few arguments */
};

struct search {
	const struct scan *scan;
	const struct unwind_regs *regs; /* of the frame */
	uint64_t most_pushed;		/* what the frame itself may have on the stack, in bytes */
	struct unwind_regs caller;
	size_t tries;
};

/*
 * Steps from the frame by a rule of another function, if the frame has pushed so many bytes. False:
 * it does not apply.
 */
static bool step_by(const struct search *s, const struct unwind_mapping *mapping,
	const struct cfi_rule *rule, uint64_t pushed, struct unwind_regs *caller)
{
	struct unwind_memory *memory = s->scan->memory;
	uint64_t sp = s->regs->value[UNWIND_REG_SP] + pushed;
	uint64_t cfa = sp + (uint64_t)(int64_t)rule->cfa_offset, word;

	*caller = *s->regs;
	caller->value[UNWIND_REG_SP] = sp;
	if (rule->kind == CFI_SLOW)
		return slow_step(s->scan->space->arch, mapping->table,
			       cfi_table_slow(mapping->table, rule->slow), false, caller,
			       memory) == STEP_CALLER;
	if (rule->kind != CFI_SP)
		return false;
	/* The frame's own values are not its caller's: only what was saved is known. */
	caller->known = 0;
	if (rule->bp_offset &&
		unwind_memory_read(memory, cfa + (uint64_t)(int64_t)rule->bp_offset, &word))
		unwind_regs_set(caller, UNWIND_REG_BP, word);
	if (!unwind_memory_read(memory, cfa - 8, &word))
		return false;
	unwind_regs_set(caller, UNWIND_REG_PC, word);
	unwind_regs_set(caller, UNWIND_REG_SP, cfa);
	return true;
}

/* Whether a function that begins at start_va can be the one that jumped here. */
static bool jumped_here(struct search *s, uint64_t start_va, uint64_t return_va, uint64_t sp)
{
	const struct unwind_mapping *mapping = unwind_space_find(s->scan->space, start_va);
	const struct cfi_rule *last = NULL;
	uint64_t start;

	if (!mapping || !mapping->table ||
		!cfi_table_function(mapping->table, start_va - mapping->slide, &start) ||
		start != start_va - mapping->slide)
		return false;
	for (uint64_t at = 0; at < ENTERED_BYTES; at += ENTERED_STEP) {
		const struct cfi_rule *rule = cfi_table_find(mapping->table, start + at);

		if (rule == last)
			continue;
		last = rule;
		for (uint64_t pushed = 0; pushed <= s->most_pushed; pushed += 8)
			if (step_by(s, mapping, rule, pushed, &s->caller) &&
				s->caller.value[UNWIND_REG_PC] == return_va &&
				s->caller.value[UNWIND_REG_SP] == sp)
				return true;
	}
	return false;
}

/*
 * Whether rules lead on from the caller.  Where the stack was copied only up to a frame that is
 * known, as far as the copy goes: the process itself has moved on.
 */
static bool leads_on(struct search *s)
{
	const struct scan *scan = s->scan;
	struct chain_place place = {
		.cache = scan->returns, .space = scan->space, .memory = scan->memory};
	const uint64_t *caller = s->caller.value;

	scan->memory->is_check = true;
	struct chain chain = chain_follow(
		&place, caller[UNWIND_REG_PC], caller[UNWIND_REG_SP], caller[UNWIND_REG_BP]);
	scan->memory->is_check = false;
	return chain.is_whole || chain.is_cut;
}

/* Whether the frame can return to return_va, which is at va. */
static bool returns_by(struct search *s, uint64_t va, uint64_t return_va)
{
	const struct scan *scan = s->scan;
	uint64_t target_va;

	if (!return_address_is_plausible(scan->returns, scan->space, scan->memory, return_va))
		return false;
	s->tries++;
	return chain_call_target(scan->space->arch, scan->memory, return_va, &target_va) &&
	       jumped_here(s, target_va, return_va, va + 8) && leads_on(s);
}

/* Memory that cannot be read is beyond the stack. */
static bool search(struct search *s, uint64_t sp, uint64_t *va)
{
	uint64_t return_va;

	for (*va = sp; *va - sp < SEARCH_BYTES && s->tries < TRIES_MAX; *va += 8) {
		if (!unwind_memory_read(s->scan->memory, *va, &return_va))
			return false;
		if (returns_by(s, *va, return_va))
			return true;
	}
	return false;
}

enum step scan_step(const struct scan *scan, struct unwind_regs *regs)
{
	uint64_t sp = regs->value[UNWIND_REG_SP], generation = scan->space->generation;
	size_t slot = hash_pair(sp, generation) % SCAN_CACHE_SIZE;
	bool is_known = scan->cache->slots[slot].sp == sp &&
			scan->cache->slots[slot].generation == generation;
	struct search s = {
		.scan = scan, .regs = regs, .most_pushed = scan->interrupted ? 0 : PUSHED_MAX};
	uint64_t va = scan->cache->slots[slot].va, return_va;

	/* The calls that are looked at push their return address. */
	if ((sp & 7) || arch_has_link_register(scan->space->arch))
		return STEP_NO_RULE;
	is_known = is_known && unwind_memory_read(scan->memory, va, &return_va) &&
		   returns_by(&s, va, return_va);
	if (!is_known && !search(&s, sp, &va))
		return STEP_NO_RULE;
	scan->cache->slots[slot].sp = sp;
	scan->cache->slots[slot].generation = generation;
	scan->cache->slots[slot].va = va;
	*regs = s.caller;
	return STEP_CALLER;
}
