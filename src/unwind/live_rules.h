#ifndef SONDE_UNWIND_LIVE_RULES_H
#define SONDE_UNWIND_LIVE_RULES_H

/*
 * Rules for code without rules in a load object, such as code generated at run time: from the
 * program itself, or derived from its instructions when a walk reaches it. Private to the walker.
 */

#include "obj/cfi.h"
#include "unwind/step.h"

enum { LIVE_RULES_MAX = 2048 };

/* The distinct rules so far; functions of one compiler have few. */
struct live_rules {
	struct cfi_rule rules[LIVE_RULES_MAX];
	size_t count;
};

/*
 * The rule at va from the program, or derived from the code. The pointer stays valid; NULL: no
 * rule, or unreadable.
 */
const struct cfi_rule *live_rules_made(
	struct live_rules *live, struct unwind_memory *memory, uint64_t va);
const struct cfi_rule *live_rules_read(struct live_rules *live, const struct arch *arch,
	struct unwind_memory *memory, uint64_t va);

#endif
