#ifndef SONDE_OBJ_BARE_CODE_H
#define SONDE_OBJ_BARE_CODE_H

/*
 * Start-up code that is written in assembly and has no unwind rules, but whose frame is known.
 */

#include "obj/cfi.h"

struct objfile;

enum { BARE_CODE_MAX = 7 };

/* Fills bare, ascending and disjoint; returns how many. */
size_t bare_code_find(struct objfile *file, struct cfi_bare bare[BARE_CODE_MAX]);

#endif
