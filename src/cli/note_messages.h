#ifndef SONDE_CLI_NOTE_MESSAGES_H
#define SONDE_CLI_NOTE_MESSAGES_H

/* Notes on standard error, one line each, for outputs that cannot hold them. */

#include "view/report.h"

/* The notes of a profile that are of its figures; with_info: the others, too. */
void note_messages_profile(const struct profile *profile, bool with_info);
/* All that the text format would show below reports, which are of one profile; count >= 1. */
void note_messages_reports(const struct report *const *reports, size_t count);

#endif
