#ifndef SONDE_CLI_LIVE_NAMES_H
#define SONDE_CLI_LIVE_NAMES_H

/*
 * Names of a running program's functions, for zones that are functions: from the symbols of the
 * files it has mapped, not only exported names.
 */

#include <sys/types.h>

#include "base/compiler.h"
#include "zonereport/namer.h"

struct live_names;

must_use returns_owned struct live_names *live_names_create(pid_t pid);
void live_names_destroy(struct live_names *names);
/*
 * Valid as long as names; for NULL, it names nothing.  Names found once stay known after a library
 * is closed.
 */
struct zone_namer live_names_namer(struct live_names *names);

#endif
