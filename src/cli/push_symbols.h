#ifndef SONDE_CLI_PUSH_SYMBOLS_H
#define SONDE_CLI_PUSH_SYMBOLS_H

#include <stdbool.h>

#include "store/store.h"

/*
 * Names frames of a store that have none, by build ID: from this machine's files and those below a
 * folder, or, for "debuginfod", from its servers.  Prints what was found, unless `quiet`.
 */
must_use struct error *push_symbols(struct store *store, const char *from, bool quiet);

#endif
