#ifndef SONDE_RECORD_AGENT_PRELOAD_H
#define SONDE_RECORD_AGENT_PRELOAD_H

/*
 * Where the preloaded library is, and the environment that loads it.
 */

#include "base/error.h"

/* Names and values for launch_start, and their memory. */
struct agent_preload {
	char *variables[3]; /* the last is NULL */
};

/*
 * What has a command load the library and find the memory of that descriptor of ours.  It is put
 * in front of no library of `before`, what is preloaded anyway (may be NULL).  ERROR_UNSUPPORTED:
 * there is no library.
 */
must_use struct error *agent_preload_init(
	struct agent_preload *p, int memory_fd, const char *before);
/* A zeroed one is fine. */
void agent_preload_deinit(struct agent_preload *p);

/* The path of one of our libraries, of that room, the caller's to free; NULL: it is not there. */
char *preload_library(const char *room, const char *name);
/* The library's path, the caller's to free; NULL: it is not there. */
char *agent_preload_library(void);

#endif
