#ifndef SONDE_CLI_COMMAND_PATH_H
#define SONDE_CLI_COMMAND_PATH_H

#include "base/error.h"

/*
 * Whether execvp would find a program of that name, so that a typing error is reported before
 * anything is written.  An ERROR_SYSTEM with the errno that it would fail with.
 */
must_use struct error *command_path_check(const char *name);

#endif
