#ifndef SONDE_CLI_LIVE_OPEN_H
#define SONDE_CLI_LIVE_OPEN_H

#include "base/str.h"
#include "live/attach.h"
#include "zonereport/follow.h"

/*
 * Of a program that stands still (it has ended, it was saved, it is stopped) a line for each thread
 * that is in a zone: where it stands.  Of one that crashed, this is where.  Nothing of one that
 * runs.
 */
void live_open_put(struct strbuf *out, const struct live *live, const struct zone_follow *follow);

#endif
