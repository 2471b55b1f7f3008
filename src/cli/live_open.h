#ifndef SONDE_CLI_LIVE_OPEN_H
#define SONDE_CLI_LIVE_OPEN_H

#include "base/str.h"
#include "live/attach.h"
#include "zonereport/follow.h"

/*
 * For a program that is not running (ended, saved or stopped), a line with the open zones of each
 * thread that is in a zone.  For a crashed program, this is where it crashed.  Nothing for a
 * running one.
 */
void live_open_put(struct strbuf *out, const struct live *live, const struct zone_follow *follow);

#endif
