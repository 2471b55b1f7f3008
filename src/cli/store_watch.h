#ifndef SONDE_CLI_STORE_WATCH_H
#define SONDE_CLI_STORE_WATCH_H

/*
 * What many machines did in the last minutes, as a store has it, again and again.
 *
 *	err = store_watch_create(&store_options, keep_s, &watch);
 *	do
 *		err = store_watch_take(watch, wait_ms, &session);
 *	while (…);
 *	store_watch_destroy(watch);
 *
 * A child process asks, so that a server that is slow, or away, holds up nobody.  It looks first
 * whether anything has changed, and reads only then.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cli/store_options.h"
#include "session/session.h"

struct store_watch;

/*
 * Sessions are of what options->query asks for, whose since_s is then keep_s ago.  The options must
 * outlive the watch.  ERROR_USAGE if they name no store; makes no request.
 */
must_use struct error *store_watch_create(
	struct store_options *options, uint64_t keep_s, struct store_watch **watch);
/* Ends the child, if it is asking; NULL is allowed. */
void store_watch_destroy(struct store_watch *watch);

/*
 * Asks, unless the child does so already, and waits at most wait_ms for the answer.  *session: NULL
 * if it has not come, or nothing has changed since the last one; the caller closes it.  After an
 * error, another call asks again; so it does after one of the kind ERROR_INPUT with the words that
 * nothing was found.
 */
must_use struct error *store_watch_take(
	struct store_watch *watch, uint64_t wait_ms, struct session **session);
/* Whether a child is asking. */
bool store_watch_is_asking(const struct store_watch *watch);

/*
 * How much is there and what is missing, as of now: "3 hosts, newest data 74 s old, 1 host silent".
 * *is_trouble: something is missing.  Lives until the next call.
 */
const char *store_watch_state(struct store_watch *watch, bool *is_trouble);

#endif
