#ifndef SONDE_UNWIND_LIVE_RULES_H
#define SONDE_UNWIND_LIVE_RULES_H

/*
 * Rules of code that no load object has rules for, such as code made at run time: read off its
 * instructions where a walk meets it. Private to the walker.
 */

#include "obj/cfi.h"
#include "unwind/step.h"

enum { LIVE_RULES_MOST = 512 };

/* The distinct rules that were met so far; functions of one compiler have few. */
struct live_rules {
	struct cfi_rule rules[LIVE_RULES_MOST];
	size_t count;
};

/* The rule at va, which stays where it is; NULL: the code does not say, or can't be read. */
const struct cfi_rule *live_rules_find(
	struct live_rules *live, struct unwind_memory *memory, uint64_t va);

#endif
