#ifndef SONDE_CLI_LIVE_SESSION_H
#define SONDE_CLI_LIVE_SESSION_H

/*
 * A running program's zones as sessions: each is the program's whole run so far, frozen, and
 * answers any question that a recording does.
 *
 *	err = live_session_create("game", &live);
 *	do {
 *		err = live_session_open(live, &session);
 *		… session_ask(session, …), session_close(session) …
 *	} while (live_session_wait(live, every_ns));
 *	live_session_destroy(live);
 */

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

struct live_session;

/* program: as live_target_open takes it, whose errors these are. */
must_use struct error *live_session_create(const char *program, struct live_session **result);
/* NULL is fine. */
void live_session_destroy(struct live_session *live);

/* The zones as they are now.  The session is the caller's, and does not need `live` any more. */
must_use struct error *live_session_open(struct live_session *live, struct session **session);
/*
 * Waits so long, or until the program ends.  False: what the last session had was all there is, as
 * the program had ended before, or is a file.
 */
bool live_session_wait(struct live_session *live, uint64_t time_ns);

#endif
