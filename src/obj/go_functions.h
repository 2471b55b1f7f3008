#ifndef SONDE_OBJ_GO_FUNCTIONS_H
#define SONDE_OBJ_GO_FUNCTIONS_H

/*
 * The functions of a Go program, from the table that its runtime uses for tracebacks, which
 * stripping keeps.
 */

#include <stdbool.h>
#include <stdint.h>

struct objfile;

/*
 * Calls visit for each function, in the order of their addresses: [low, high) as obj_addrs; name is
 * owned by the object.  False if the object is not a Go program, or its table has an unknown
 * version or is damaged.
 */
bool go_functions_each(struct objfile *object,
	void (*visit)(void *context, uint64_t low, uint64_t high, const char *name), void *context);

#endif
