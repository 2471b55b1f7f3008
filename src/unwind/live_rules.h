#ifndef SONDE_UNWIND_LIVE_RULES_H
#define SONDE_UNWIND_LIVE_RULES_H

/*
 * Rules of code that no load object has rules for, such as code made at run time: what the program
 * says of it, or what is read off its instructions where a walk meets it. Private to the walker.
 */

#include "obj/cfi.h"
#include "unwind/step.h"

enum { LIVE_RULES_MAX = 2048 };

/* The distinct rules that were met so far; functions of one compiler have few. */
struct live_rules {
	struct cfi_rule rules[LIVE_RULES_MAX];
	size_t count;
};

/*
 * The rule at va that the program tells, or that the code tells.  It stays where it is; NULL: the
 * program or the code does not say, or can't be read.
 */
const struct cfi_rule *live_rules_made(
	struct live_rules *live, struct unwind_memory *memory, uint64_t va);
const struct cfi_rule *live_rules_read(struct live_rules *live, const struct arch *arch,
	struct unwind_memory *memory, uint64_t va);

#endif
