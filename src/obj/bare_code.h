#ifndef SONDE_OBJ_BARE_CODE_H
#define SONDE_OBJ_BARE_CODE_H

/*
 * Start-up code that is written in assembly and has no unwind rules, but whose frame is known.
 */

#include "obj/cfi.h"
#include "obj/go_switches.h"

struct objfile;

enum { BARE_CODE_STARTS_MAX = 4, BARE_CODE_MAX = 11 + GO_SWITCHES_MAX };

/* [low, high), obj_addrs: a function that nothing called. */
struct bare_code_start {
	uint64_t low, high;
};

/*
 * Fills bare, ascending and disjoint; returns the count.  starts: functions known to be start-up
 * code, at most BARE_CODE_STARTS_MAX.
 */
size_t bare_code_find(struct objfile *file, const struct bare_code_start *starts,
	size_t start_count, struct cfi_bare bare[BARE_CODE_MAX]);
/* Adds the code of Go's runtime that has switched stacks; returns the new count. */
size_t bare_code_add_switches(
	struct cfi_bare bare[BARE_CODE_MAX], size_t count, const struct go_switches *switches);

#endif
