#ifndef SONDE_ZONEREPORT_NAMER_H
#define SONDE_ZONEREPORT_NAMER_H

/*
 * A callback that names functions by address: zones that are functions (-finstrument-functions)
 * have at most the names that their program exports.  This room knows no symbols; callers that do
 * can provide the callback.
 */

#include <stddef.h>
#include <stdint.h>

/* A function.  Strings are NULL if unknown, and valid until the namer's next call. */
struct zone_function {
	uint64_t code;	    /* its address in the process */
	const char *name;   /* demangled */
	const char *file;   /* where it is defined */
	const char *module; /* path of the load object */
	uint32_t line;
};

struct zone_namer {
	/*
	 * Sets what it knows of count functions, whose strings are all NULL.  NULL: knows nothing.
	 */
	void (*name)(void *context, struct zone_function *function, size_t count);
	void *context;
};

#endif
