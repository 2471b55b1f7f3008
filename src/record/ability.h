#ifndef SONDE_RECORD_ABILITY_H
#define SONDE_RECORD_ABILITY_H

/*
 * What to tell somebody whom this machine does not let sample.
 */

#include "base/error.h"

/*
 * An ERROR_UNSUPPORTED in words for a failure to set up sampling: the cause, and the command that
 * would allow it.  cause stays the caller's.
 */
must_use struct error *ability_refusal(const struct error *cause);
/* The same for the whole machine. */
must_use struct error *ability_refusal_machine(const struct error *cause);

#endif
