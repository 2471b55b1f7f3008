#ifndef SONDE_CLI_RECORD_OPTIONS_H
#define SONDE_CLI_RECORD_OPTIONS_H

/* The options of a recording, shared by the commands that make one. */

#include "cli/command.h"
#include "cli/options.h"
#include "cli/record_session.h"

/* What is sampled, and how; then the recording as a whole. */
extern const struct option_row record_sample_rows[], record_option_rows[];
/* Options of recordings that are not shown immediately, as views have their own. */
extern const struct option_row record_alone_rows[];

/* The defaults; command must be set. */
struct record_request record_request_default(void);
/* Uses the operands as the command.  ERROR_USAGE if it is unclear what to record. */
must_use struct error *record_request_target(
	struct record_request *request, const struct operands *operands);
/* For options_parse; context is a struct record_request. */
must_use struct error *record_options_set(void *context, int id, const char *value);

#endif
