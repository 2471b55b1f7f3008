#ifndef SONDE_BROWSE_BROWSE_H
#define SONDE_BROWSE_BROWSE_H

/*
 * The terminal browser: `sonde report FILE` on a terminal, and `sonde top`.  It asks one session
 * again and again, and draws the reports that it gets; it computes no figure of its own.
 */

#include <stdbool.h>
#include <stdint.h>

#include "session/session.h"

/* An answer about one function's code, and what else it needs while it is used. */
struct browse_source {
	struct answer *answer;
	void *kept;
};

/* What is shown goes on: a newer session takes the place of the one before. */
struct browse_live {
	/*
	 * Gives a newer session, which the browser closes, or NULL if there is none yet.  *wait_ms:
	 * until the next call; initially every_ms; BROWSE_ENDED: there is nothing newer, and this
	 * was the last call.  It must not wait itself.  NULL: the session stays as it is.
	 */
	struct error *(*look)(void *data, struct session **session, uint64_t *wait_ms);
	/*
	 * What is known of it now, in a few words, shown at the right of the filters; *is_trouble:
	 * so that it should be seen.  Lives until the next call.  NULL: nothing to show.
	 */
	const char *(*state)(void *data, bool *is_trouble);
	void *data;
	uint64_t every_ms;
};
#define BROWSE_ENDED UINT64_MAX

struct browse_options {
	/* Clock, filters, rules and the tree's roots to begin with; borrowed. */
	const struct question *question;
	/*
	 * Lines and instructions of a function, given as for --center, as far as this machine has
	 * them; question is of view_annotate and settled.  source_free takes what it kept.
	 */
	struct error *(*source)(struct session *session, struct question *question,
		const char *function, struct browse_source *source);
	void (*source_free)(struct browse_source *source);
	struct browse_live live;
};

/*
 * Shows the session until the user leaves, or a signal ends it: then *signal is its number, else 0.
 * ERROR_UNSUPPORTED if the terminal lacks what is needed; nothing was shown then.
 */
must_use struct error *browse_run(
	struct session *session, const struct browse_options *options, int *signal);

#endif
