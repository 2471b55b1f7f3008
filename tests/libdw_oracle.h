#ifndef SONDE_TESTS_LIBDW_ORACLE_H
#define SONDE_TESTS_LIBDW_ORACLE_H

/*
 * Functions, inlined calls and lines at an address as elfutils' libdw sees them: another reader of
 * the same debug information, to compare ours with.
 */

#include <stdint.h>

#include "base/arena.h"
#include "obj/debug_info.h"

struct oracle;

/* NULL if the file has no debug information of its own. */
struct oracle *oracle_open(const char *path);
void oracle_close(struct oracle *o);
/* The place at an address; strings live in the arena. function_file and function_line are not set.
 */
struct debug_place oracle_find(struct oracle *o, uint64_t addr, struct arena *arena);

#endif
