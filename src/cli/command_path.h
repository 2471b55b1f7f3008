#ifndef SONDE_CLI_COMMAND_PATH_H
#define SONDE_CLI_COMMAND_PATH_H

#include "base/error.h"

/*
 * Checks whether execvp would find a program with that name, so that a typo is reported before
 * anything is written.  Otherwise ERROR_SYSTEM with the errno of execvp.
 */
must_use struct error *command_path_check(const char *name);

#endif
