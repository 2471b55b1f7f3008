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
	double overhead_most; /* maximum allowed, as a fraction of 1; 0: no limit */
	uint64_t size_bytes;  /* of the file; 0: nothing was written, or it is missing */
	struct record_summary_modules {
		struct strbuf names; /* the first few, without duplicates */
		uint64_t named;	     /* in names */
		uint64_t count;	     /* of all */
		bool is_cut;	     /* some are not in names */
	} nameless, replaced;	     /* without symbols; whose files are other builds by now */
	bool leaves_names;	     /* to `sonde symbolize` */
	bool has_when;		     /* samples were selected with --when */
	uint64_t excluded;	     /* samples without a kept stack */
};

/* Registers a load object without symbols; is_replaced: as its file is another build by now. */
void record_summary_nameless(struct record_summary *summary, struct str path, bool is_replaced);
void record_summary_deinit(struct record_summary *summary);
/* quiet: only problems.  hint: end with the next command. */
void record_summary_print(const struct record_summary *summary, bool quiet, bool hint);

#endif
