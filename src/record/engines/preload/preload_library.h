#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIBRARY_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIBRARY_H

/*
 * Where the preloaded library is installed, and the environment that loads it.
 */

#include "base/error.h"
#include "record/engines/preload/preload_memory.h"

/* Variables for target_start, with their memory. */
struct preload_variables {
	char *variables[3]; /* the last is NULL */
};

/*
 * The variables that make a command load the library and find that memory.  The library comes after
 * those in `before`, the current LD_PRELOAD (may be NULL).  ERROR_UNSUPPORTED: the library is not
 * installed.
 */
must_use struct error *preload_variables_init(
	struct preload_variables *p, const struct preload_memory *memory, const char *before);
/* A zeroed one is allowed. */
void preload_variables_deinit(struct preload_variables *p);

/*
 * The path of one of our libraries; room: the source folder that builds it.  The caller frees it.
 * NULL: there is none (library_missing).
 */
char *library_path(const char *room, const char *name);
/* The same for the preloaded library. */
char *preload_library_path(void);

#endif
