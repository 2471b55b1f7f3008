#ifndef SONDE_TESTS_FAKE_STACK_H
#define SONDE_TESTS_FAKE_STACK_H

/*
 * Stacks made by hand for the unwinder: an object at OBJECT_VA with functions of each kind of rule,
 * and memory at STACK_VA.
 */

#include "cfi_bytes.h"
#include "obj/cfi.h"
#include "unwind/walk.h"

/* The object's slide, and where its functions are in its own numbering. */
#define OBJECT_VA ((uint64_t)0x500000000000)
#define STACK_VA  ((uint64_t)0x7f0000000000)

enum {
	FN_SP16 = 0x1000, /* CFA = sp + 16, nothing saved */
	FN_BP = 0x2000,	  /* CFA = bp + 16, bp saved at CFA - 16 */
	FN_PLT = 0x3000,
	FN_SIGNAL = 0x4000,
	FN_END = 0x5000,
	FN_RBX = 0x6000,       /* CFA = rbx + 16 */
	FN_SAVES_RBX = 0x7000, /* CFA = sp + 24, rbx saved at CFA - 16 */
	FN_REALIGNED = 0x8000, /* CFA = *(bp - 8), bp saved at *bp */
	FN_R10 = 0x9000,       /* CFA = r10 + 0 */
	FN_BAD_EXPRESSION = 0xa000,
	FN_ENDLESS = 0xb000, /* CFA by an expression that loops for ever */
	FN_SIZE = 0x100,
	FN_BARE = 0x20000, /* no rules */
	OBJECT_SIZE = 0x30000,
};

enum { STACK_WORDS = 1 << 12 };

struct fake_stack {
	struct unwind_space space;
	struct cfi_table *table;
	struct unwind_walker *walker;
	struct unwind_regs regs; /* pc, sp, bp known */
	struct unwind_memory memory;
	uint64_t *words; /* of memory; [word_count] */
	size_t word_count;
	struct unwind_stack stack; /* of the last walk */
};

/* Writes the functions' rules. */
void fake_stack_rules(struct cfi_bytes *b);
void fake_stack_init(struct fake_stack *s, size_t word_count);
void fake_stack_deinit(struct fake_stack *s);
/* The va of the word with that index, and of a place in the object. */
uint64_t word_va(size_t index);
uint64_t code_va(uint64_t obj_addr);
/* Sets the innermost frame's registers. */
void fake_stack_set(struct fake_stack *s, uint64_t pc, uint64_t sp, uint64_t bp);
void fake_stack_walk(struct fake_stack *s, struct unwind_history *history);

#endif
