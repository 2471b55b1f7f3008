#ifndef SONDE_CLI_RECORD_SUMMARY_H
#define SONDE_CLI_RECORD_SUMMARY_H

/*
 * The last lines of a recording: what was counted, lost and unknown, the location of the file, and
 * what to type next.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "record/recorder.h"

struct record_summary {
	const struct recorder_result *result;
	const char *output;
	double overhead_most;	 /* maximum allowed, as a fraction of 1; 0: no limit */
	uint64_t size_bytes;	 /* of the file; 0: nothing was written, or it is missing */
	struct strbuf nameless;	 /* the first few modules without symbols, by name */
	uint64_t nameless_count; /* of all such modules */
	bool leaves_names;	 /* to `sonde symbolize` */
	bool has_when;		 /* samples were selected with --when */
	uint64_t excluded;	 /* samples without a kept stack */
};

/* Registers a load object without symbols. */
void record_summary_nameless(struct record_summary *summary, struct str path);
void record_summary_deinit(struct record_summary *summary);
/* quiet: only problems.  hint: end with the next command. */
void record_summary_print(const struct record_summary *summary, bool quiet, bool hint);

#endif
