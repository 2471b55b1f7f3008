#ifndef SONDE_OBJ_GO_SWITCHES_H
#define SONDE_OBJ_GO_SWITCHES_H

/*
 * Where the assembly of Go's runtime runs on another stack than its caller's: code between a write
 * to sp and the one that undoes it.
 */

#include "obj/cfi.h"

struct objfile;

enum { GO_SWITCHES_MAX = 32 };

/* What matters to a stack walk, and the code of the runtime's functions that switched stacks. */
struct go_switches {
	struct cfi_bare code[GO_SWITCHES_MAX]; /* ascending, disjoint */
	size_t count;
	struct cfi_go facts;
};

/* Visits one function of the program's table; see go_functions.h. */
void go_switches_add(struct go_switches *switches, struct objfile *file, uint64_t low,
	uint64_t high, const char *name);

#endif
