#ifndef SONDE_CLI_RECENT_RECORDING_H
#define SONDE_CLI_RECENT_RECORDING_H

/*
 * A recording that goes on in a child process and keeps its last seconds, as `record --keep` does.
 * Each session is a dump of these.
 *
 *	err = recent_recording_start(&request, first_ms, &recording);
 *	do
 *		err = recent_recording_take(recording, wait_ms, &session);
 *	while (err == NULL && !recent_recording_has_ended(recording));
 *	recent_recording_stop(recording);
 *
 * Its files are in a private folder below TMPDIR, which stop removes.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/record_session.h"
#include "session/session.h"

struct recent_recording;

/*
 * Starts recording what the request names, with its keep_ns; output and quiet are set here.  Then
 * waits first_ms, for something to be there.  The request must outlive the recording.
 */
must_use struct error *recent_recording_start(
	struct record_request *request, uint64_t first_ms, struct recent_recording **recording);
/* NULL is allowed. */
void recent_recording_stop(struct recent_recording *recording);

/*
 * Asks for the last seconds, and waits at most wait_ms for them; *session: NULL if that was not
 * enough: then call it again.  The caller closes the session, which does not depend on the
 * recording.  An error is the recorder's, if it ended without a file, or the reader's.
 */
must_use struct error *recent_recording_take(
	struct recent_recording *recording, uint64_t wait_ms, struct session **session);
/* Whether the recorded processes have ended, so that the last session was the last one. */
bool recent_recording_has_ended(const struct recent_recording *recording);

#endif
