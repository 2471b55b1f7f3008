#ifndef SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIBRARY_H
#define SONDE_RECORD_ENGINES_PRELOAD_PRELOAD_LIBRARY_H

/*
 * Where the preloaded library is, and the environment that loads it.
 */

#include "base/error.h"
#include "record/engines/preload/preload_memory.h"

/* Names and values for launch_start, and their memory. */
struct preload_variables {
	char *variables[3]; /* the last is NULL */
};

/*
 * What has a command load the library and find that memory.  It is put
 * in front of no library of `before`, what is preloaded anyway (may be NULL).  ERROR_UNSUPPORTED:
 * there is no library.
 */
must_use struct error *preload_variables_init(
	struct preload_variables *p, const struct preload_memory *memory, const char *before);
/* A zeroed one is fine. */
void preload_variables_deinit(struct preload_variables *p);

/* The path of one of our libraries, of that room, the caller's to free; NULL: it is not there. */
char *library_path(const char *room, const char *name);
/* The library's path, the caller's to free; NULL: it is not there. */
char *preload_library_path(void);

#endif
