#ifndef SONDE_CLI_RECORD_NAMES_H
#define SONDE_CLI_RECORD_NAMES_H

#include <stdbool.h>

#include "base/str.h"
#include "record/recorder.h"

/*
 * Resolves the sampled addresses of a recording that has ended, and writes their names to its file.
 * later: only those that cannot be found later, of the kernel and of generated code.  Calls
 * nameless, which may be NULL, for each object without a symbol table.
 */
void record_names(struct recorder *recorder, bool later,
	void (*nameless)(void *context, struct str path), void *context);

#endif
