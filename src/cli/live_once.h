#ifndef SONDE_CLI_LIVE_ONCE_H
#define SONDE_CLI_LIVE_ONCE_H

/* `sonde live --once`: one report on a program's zones, for scripts. */

#include "base/str.h"
#include "live/attach.h"
#include "zonereport/report.h"

struct live_once {
	struct zone_query query; /* except focus and slot */
	const char *zone;	 /* name of the focus; NULL: _global */
	const char *thread;	 /* name or tid; NULL: all */
	const char *frames;	 /* "auto", "run", "looks", or the name of a stream; NULL: auto */
	uint64_t observe_ns;	 /* UINT64_MAX: as long as needed */
	bool is_json;
};

/* Appends the report to `out`; namer: names functions. */
must_use struct error *live_once_report(struct live *live, struct zone_namer namer,
	const struct live_once *once, struct strbuf *out);

#endif
