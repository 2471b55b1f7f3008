#ifndef SONDE_UNWIND_WALK_H
#define SONDE_UNWIND_WALK_H

/*
 * Walks a stack from registers and memory to its frames. Uses no process, symbols or I/O: struct
 * unwind_memory provides the memory.
 *
 * A walker belongs to one thread of sonde; it holds the pc cache and the frame buffer. A struct
 * unwind_history belongs to one thread of the target; it holds that thread's last stack, so that
 * the unchanged part is not walked again (suffix reuse):
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
	 * Bit n: value[n] is known; SP and PC must be. BP is unknown for a sleeping thread, and is
	 * searched for if a frame depends on it. BX is useful: lazy binding in the dynamic loader
	 * keeps its CFA there. The others help in prologues that realign the stack.
	 */
	uint32_t known;
};

/* Target memory: an available window, and a callback for memory outside it. */
struct unwind_memory {
	const uint8_t *bytes; /* of [low_va, high_va) */
	uint64_t low_va, high_va;
	/*
	 * Reads the 8 bytes at va, outside the window. True with *value set, or false: not
	 * available. May be NULL. It may also replace the window.
	 */
	bool (*read)(struct unwind_memory *memory, uint64_t va, uint64_t *value);
	/*
	 * Copies size (at most 16) bytes of code at va, all or none; called seldom, and results are
	 * cached. Used to recognize call instructions and signal trampolines without unwind rules.
	 * May be NULL: then any address in an executable mapping counts as a return address.
	 */
	bool (*read_code)(struct unwind_memory *memory, uint64_t va, uint8_t *bytes, size_t size);
	/*
	 * The program's own rule for the frame at va, in code generated at run time
	 * (obj/jit_rules.h). False: none. May be NULL. Results are cached as long as the space does
	 * not change; rules that do not hold are requested again.
	 */
	bool (*made_rule)(struct unwind_memory *memory, uint64_t va, struct cfi_rule *rule);
	/*
	 * Set by the provider of the memory: a check of a reuse that needs unavailable memory is
	 * postponed to a later reuse instead of abandoned.
	 */
	bool checks_wait;
	bool is_check; /* set by the walker: this read only checks a reuse, or a guess */
	void *context; /* for the callbacks */
};

/* How a walk ended. */
enum unwind_end {
	UNWIND_ROOT,	    /* at the outermost frame: complete */
	UNWIND_REUSED,	    /* at a frame of the thread's last stack, which was complete: complete
			     * */
	UNWIND_NO_MEMORY,   /* stack memory could not be read */
	UNWIND_NO_RULE,	    /* no unwind rule, and no heuristic held */
	UNWIND_NO_PROGRESS, /* the next frame would not be further out: corrupt */
	UNWIND_TOO_DEEP,    /* UNWIND_DEPTH_MAX frames */
};

#define UNWIND_DEPTH_MAX ((size_t)1 << 20)

struct unwind_frame {
	uint64_t va;	   /* the instruction's address; for callers, one before the return address
			    * */
	uint64_t obj_addr; /* the same relative to the load object */
	uint32_t object;   /* the mapping's, or UINT32_MAX if va is in no mapping */
	uint32_t node;	   /* for the caller: the stack tree node of the stack up to here */
	uint64_t pc, sp, bp, print; /* the walk's own, to recognise the frame */
	uint32_t flags;		    /* the walk's own */
};

struct unwind_stack {
	struct unwind_frame *frames; /* [count], leaf first; owned by the walker, until its next
				      * walk */
	size_t count;
	enum unwind_end end;
	/*
	 * The number of guessed callers. frames[guess_at] is the innermost: it and everything
	 * outside it are a guess. If guess_at is count, it is the innermost reused frame.
	 */
	size_t guessed, guess_at;
	bool returns_to_zero; /* UNWIND_ROOT: because the return address is 0, not by a rule */
	bool misses_stack;    /* incomplete: the caller's stack is another one, not found */
	uint64_t outer_sp;    /* how far out the walk itself got */
	size_t reused;	      /* UNWIND_REUSED: how many outer frames were taken from the history */
	uint32_t reused_node; /* UNWIND_REUSED: the node of the innermost of these; else 0 */
};

/* Whether the frame made a call; false: it is the leaf, or a signal interrupted it. */
bool unwind_frame_has_called(const struct unwind_frame *frame);

struct unwind_walker;
must_use returns_owned struct unwind_walker *unwind_walker_create(void);
void unwind_walker_destroy(struct unwind_walker *walker);

struct unwind_history;
must_use returns_owned struct unwind_history *unwind_history_create(void);
void unwind_history_destroy(struct unwind_history *history);
/* Forgets the last stack. */
void unwind_history_clear(struct unwind_history *history);
/*
 * Whether a check of a reuse is due: the next walk can then use all of the stack's memory. Never
 * while nothing of the last stack could be reused.
 */
bool unwind_history_check_due(const struct unwind_history *history);

/* The number of frames in a row that must be recognised to reuse the rest of the stack. */
enum { UNWIND_REUSE_RUN = 24 };

/* A frame of the last stack. */
struct unwind_kept {
	uint64_t pc, sp, print;
	bool is_plain; /* pc is a return address, right below sp */
};
/* How many frames the next walk could reuse. */
size_t unwind_history_count(const struct unwind_history *history);
/* One of these, where 0 is the innermost. */
struct unwind_kept unwind_history_frame(const struct unwind_history *history, size_t i);
/*
 * Keeps a stack if its walk ended at the root or by reuse, without guesses.  Its frames must have
 * their nodes.
 */
void unwind_history_keep(struct unwind_history *history, const struct unwind_stack *stack);
/*
 * Whether the frames of a complete stack from frames[inner] outwards are, including their data, the
 * outermost frames of the thread's last stack: then they have not changed since it was taken.
 */
bool unwind_history_ends_like(
	const struct unwind_history *history, const struct unwind_stack *stack, size_t inner);
/*
 * If the outermost frame of an incomplete stack is on another stack than its caller: the node of
 * the caller in the thread's last stack that had such a frame with the same frame pointer.  0: it
 * had none.
 */
uint32_t unwind_history_other_stack(
	const struct unwind_history *history, const struct unwind_stack *stack);

/*
 * Walks one stack. history may be NULL: no reuse. Never fails: stack->end is how the walk ended. If
 * it is UNWIND_REUSED, stack->frames holds only the frames inside the reused ones, possibly none.
 */
void unwind_walk(struct unwind_walker *walker, const struct unwind_space *space,
	struct unwind_history *history, const struct unwind_regs *regs,
	struct unwind_memory *memory, struct unwind_stack *stack);

struct unwind_counts {
	uint64_t walks, frames; /* frames walked, not reused */
	uint64_t reuses, reused_frames;
	uint64_t reuse_checks, reuse_mismatches; /* reuses verified by a complete walk */
	uint64_t cache_hits, cache_misses;
	uint64_t heuristic_steps; /* steps without a rule, or with a searched frame pointer */
	uint64_t slow_steps;
};
struct unwind_counts unwind_walker_counts(const struct unwind_walker *walker);

#endif
