#ifndef SONDE_CLI_NOTE_MESSAGES_H
#define SONDE_CLI_NOTE_MESSAGES_H

/* Notes on standard error, one line each, for outputs that cannot hold them. */

#include "view/report.h"

/* Prints the notes that affect a profile's figures; with_info: also the others. */
void note_messages_profile(const struct profile *profile, bool with_info);
/* Prints everything that the text format shows below reports, all of one profile; count >= 1. */
void note_messages_reports(const struct report *const *reports, size_t count);

#endif
