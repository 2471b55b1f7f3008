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

/* program: as for live_target_open, which also defines the errors. */
must_use struct error *live_session_create(const char *program, struct live_session **result);
/* NULL is allowed. */
void live_session_destroy(struct live_session *live);

/* The zones at this moment.  The caller owns the session, which does not depend on `live`. */
must_use struct error *live_session_open(struct live_session *live, struct session **session);
/*
 * Waits for that time, or until the program ends.  False: the last session was complete, because
 * the program had ended before, or it is a file.
 */
bool live_session_wait(struct live_session *live, uint64_t time_ns);

#endif
