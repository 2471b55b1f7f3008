#ifndef SONDE_ZONEREPORT_NAMER_H
#define SONDE_ZONEREPORT_NAMER_H

/*
 * A callback that names functions by address: zones that are functions (-finstrument-functions)
 * have at most the names that their program exports.  This room knows no symbols; callers that do
 * can provide the callback.
 */

#include <stddef.h>
#include <stdint.h>

/* A function.  Strings are NULL where nothing is known, and the namer's until its next call. */
struct zone_function {
	uint64_t code;	    /* its address in the process */
	const char *name;   /* as a person would write it: demangled */
	const char *file;   /* where it is defined */
	const char *module; /* path of the load object */
	uint32_t line;
};

struct zone_namer {
	/* Fills in what it can of so many functions, whose strings are all NULL.  NULL: nothing. */
	void (*name)(void *context, struct zone_function *function, size_t count);
	void *context;
};

#endif
