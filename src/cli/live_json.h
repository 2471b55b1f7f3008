#ifndef SONDE_CLI_LIVE_JSON_H
#define SONDE_CLI_LIVE_JSON_H

/* The JSON output of `sonde live`; man/sonde-live.1 lists the keys. */

#include "base/str.h"
#include "live/attach.h"
#include "live/find.h"
#include "zonereport/follow.h"
#include "zonereport/report.h"

/* "running", "stopped", "ended", "saved". */
extern const char *const live_state_names[];
/* As in --mode, --recursion and --average. */
extern const char *const live_mode_names[], *const live_recursion_names[],
						    *const live_average_names[];

void live_json_list(struct strbuf *out, const struct live_list *list);
/* Appends a report, and the program's activity since its start. */
void live_json_report(struct strbuf *out, const struct live *live, const struct zone_follow *follow,
	const struct zone_report *report);

#endif
