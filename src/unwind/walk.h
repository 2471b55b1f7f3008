#ifndef SONDE_UNWIND_WALK_H
#define SONDE_UNWIND_WALK_H

/*
 * From registers and a way to read memory to the frames of a stack.  No process, no symbols, no I/O
 * here: memory comes through struct unwind_memory.
 *
 * A walker belongs to one thread of ours; it holds the pc cache and the frame buffer.  A
 * struct unwind_history belongs to one thread of the target; it holds that thread's last stack, so
 * that the part of it that has not changed is not walked again (suffix reuse):
 *
 *	unwind_walk(walker, space, history, &regs, &memory, &stack);
 *	... intern stack.frames[count-1 .. 0] below stack.reused_node, giving each its .node ...
 *	unwind_history_keep(history, &stack);
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/arch.h"
#include "base/compiler.h"
#include "unwind/space.h"

/* Slots of registers (arch/arch.h). */
enum {
	UNWIND_REG_BX = ARCH_REG_BX,
	UNWIND_REG_BP = ARCH_REG_BP,
	UNWIND_REG_SP = ARCH_REG_SP,
	UNWIND_REG_PC = ARCH_REG_PC,
	UNWIND_REG_COUNT = ARCH_REG_COUNT
};

struct cfi_rule;

struct unwind_regs {
	uint64_t value[UNWIND_REG_COUNT];
	/*
	 * Bit n: value[n] is known; SP and PC must be. Without BP, which a sleeping thread does not
	 * show, it is searched for where a frame hangs on it. BX is worth having: lazy binding in
	 * the dynamic loader keeps its CFA there. The others help in prologues that realign the
	 * stack.
	 */
	uint32_t known;
};

/* Target memory: a window that is there, and a call for what lies outside it. */
struct unwind_memory {
	const uint8_t *bytes; /* of [low_va, high_va) */
	uint64_t low_va, high_va;
	/*
	 * Asked for the 8 bytes at va, outside the window. True with *value set, or false: they are
	 * not to be had. May be NULL. It may also replace the window.
	 */
	bool (*read)(struct unwind_memory *memory, uint64_t va, uint64_t *value);
	/*
	 * Copies size (at most 16) bytes of code at va, all or none; asked seldom, and the answers
	 * are remembered. It tells call instructions and signal trampolines where there are no
	 * unwind rules. May be NULL: then any address in an executable mapping is taken for a
	 * return address.
	 */
	bool (*read_code)(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size);
	/*
	 * What the program itself says of the frame at va, in code that it made at run time
	 * (obj/jit_rules.h). False: nothing. May be NULL. The answers are remembered for as long as
	 * the space stays as it is; those that do not hold are asked for again.
	 */
	bool (*made_rule)(struct unwind_memory *memory, uint64_t va, struct cfi_rule *rule);
	/*
	 * Set by who gives the memory: a check of a reuse that goes beyond what is at hand is put
	 * off to a later reuse rather than given up.
	 */
	bool checks_wait;
	bool is_check; /* set by the walker: what is read now only checks a reuse */
	void *context; /* for the calls */
};

/* How a walk ended. */
enum unwind_end {
	UNWIND_ROOT,	    /* at the outermost frame: all there */
	UNWIND_REUSED,	    /* at a frame of the thread's last stack, which was whole: all there */
	UNWIND_NO_MEMORY,   /* stack memory could not be read */
	UNWIND_NO_RULE,	    /* no unwind rule, and no heuristic held */
	UNWIND_NO_PROGRESS, /* the next frame would not be further out: corrupt */
	UNWIND_TOO_DEEP,    /* UNWIND_DEPTH_MAX frames */
};

#define UNWIND_DEPTH_MAX ((size_t)1 << 20)

struct unwind_frame {
	uint64_t va;	   /* of the instruction: for callers, one before the return address */
	uint64_t obj_addr; /* the same in the load object's numbering */
	uint32_t object;   /* the mapping's, or UINT32_MAX where va is in no mapping */
	uint32_t node;	   /* for the caller: the stack tree node of the stack up to here */
	uint64_t pc, sp, bp, print; /* the walk's own, to recognise the frame */
	uint32_t flags;		    /* the walk's own */
};

struct unwind_stack {
	struct unwind_frame *frames; /* [count], leaf first; the walker's, until its next walk */
	size_t count;
	enum unwind_end end;
	/*
	 * Callers that may not be the right ones. frames[guess_at] is the innermost: it and all
	 * outside of it are a guess. Where that is count, the innermost reused frame is it.
	 */
	size_t guessed, guess_at;
	bool returns_to_zero; /* UNWIND_ROOT: as the return address is 0, by no rule */
	uint64_t outer_sp;    /* how far out the walk itself came */
	size_t reused;	      /* UNWIND_REUSED: how many outer frames were taken from the history */
	uint32_t reused_node; /* UNWIND_REUSED: the node of the innermost of these; else 0 */
};

struct unwind_walker;
must_use returns_owned struct unwind_walker *unwind_walker_create(void);
void unwind_walker_destroy(struct unwind_walker *walker);

struct unwind_history;
must_use returns_owned struct unwind_history *unwind_history_create(void);
void unwind_history_destroy(struct unwind_history *history);
/* Forgets the last stack. */
void unwind_history_clear(struct unwind_history *history);
/*
 * Whether a check of a reuse is due: then all of the stack's memory is of use to the next walk.
 * Never while nothing of the last stack could be reused.
 */
bool unwind_history_check_due(const struct unwind_history *history);

/* So many frames in a row must be recognised for the rest of the stack to be reused. */
enum { UNWIND_REUSE_RUN = 24 };

/* A frame of the last stack. */
struct unwind_kept {
	uint64_t pc, sp, print;
	bool is_plain; /* pc is a return address and stands right below sp */
};
/* How many frames the next walk could reuse. */
size_t unwind_history_count(const struct unwind_history *history);
/* One of them, 0 being the innermost. */
struct unwind_kept unwind_history_frame(const struct unwind_history *history, size_t i);
/*
 * Remembers a stack whose frames have their nodes, if its walk ended at the root or by reuse, and
 * nothing in it is a guess.
 */
void unwind_history_keep(struct unwind_history *history, const struct unwind_stack *stack);
/*
 * Whether the frames of a whole stack from frames[inner] outwards are, with their data, the
 * outermost frames of the thread's last stack: then they have not changed since that was taken.
 */
bool unwind_history_ends_like(
	const struct unwind_history *history, const struct unwind_stack *stack, size_t inner);

/*
 * Walks one stack. history may be NULL: no reuse. Never fails: stack->end says how far it got.
 * Where it is UNWIND_REUSED, stack->frames holds only the frames inside of the reused ones, perhaps
 * none.
 */
void unwind_walk(struct unwind_walker *walker, const struct unwind_space *space,
	struct unwind_history *history, const struct unwind_regs *regs,
	struct unwind_memory *memory, struct unwind_stack *stack);

struct unwind_counts {
	uint64_t walks, frames; /* frames walked, not reused */
	uint64_t reuses, reused_frames;
	uint64_t reuse_checks, reuse_mismatches; /* reuses walked in full to verify them */
	uint64_t cache_hits, cache_misses;
	uint64_t heuristic_steps; /* without a rule, or with a frame pointer that was looked for */
	uint64_t slow_steps;
};
struct unwind_counts unwind_walker_counts(const struct unwind_walker *walker);

#endif
