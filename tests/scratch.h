#ifndef SONDE_TESTS_SCRATCH_H
#define SONDE_TESTS_SCRATCH_H

/*
 * A folder for one test to build programs in.
 */

#include <stdbool.h>

#include "base/compiler.h"

/* A new folder; the caller's path. */
must_use returns_owned char *scratch_create(void);
/* Removes it with all that is in it, and frees the path. */
void scratch_destroy(char *folder);
/*
 * Runs a shell command in the folder, its output thrown away; whether it succeeded.  $SRC is
 * tests/programs. A command that is not installed fails.
 */
bool scratch_run(const char *folder, const char *format, ...) printf_like(2, 3);

#endif
