#ifndef SONDE_CLI_LIVE_ONCE_H
#define SONDE_CLI_LIVE_ONCE_H

/* `sonde live --once`: one look at a program's zones, for scripts. */

#include "base/str.h"
#include "live/attach.h"
#include "zonereport/report.h"

struct live_once {
	struct zone_query query; /* all but focus and slot */
	const char *zone;	 /* the focus's name; NULL: _global */
	const char *thread;	 /* its name or tid; NULL: all */
	const char *frames;	 /* "auto", "run", "looks", or a stream's name; NULL: auto */
	uint64_t observe_ns;	 /* UINT64_MAX: as long as needed */
	bool is_json;
};

/* Adds the report to `out`; namer: who names functions. */
must_use struct error *live_once_report(struct live *live, struct zone_namer namer,
	const struct live_once *once, struct strbuf *out);

#endif
