#ifndef SONDE_AGENT_SENDER_H
#define SONDE_AGENT_SENDER_H

/*
 * Sends whole segments from the spool to the store, the oldest first, one at a time, and removes
 * each once the store has it.  A child process sends, so that a slow store delays nothing.
 *
 * Hosts send at different times: each waits a part of the interval that follows from its name.
 * After a failure the sender waits twice as long as before, with jitter, at most five minutes.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/spool.h"
#include "base/error.h"

struct sender {
	const char *store; /* NULL: nothing is sent */
	pid_t child;	   /* 0: none */
	char *name;	   /* of the segment that it sends */
	uint64_t phase_ns; /* a segment waits this long */
	uint64_t next_ns;  /* not before, CLOCK_MONOTONIC */
	uint32_t failures; /* in a row */
	void (*say)(const char *line);
	uint64_t sent, sent_bytes, errors; /* so far */
};

/* Whether the store is somewhere else than in a folder. */
bool sender_is_url(const char *store);
/* Whether this build can send there. */
must_use struct error *sender_check(const char *store);
/*
 * Sends one segment: to a folder, as a file of the same name that is whole at once; or to a URL.
 * The store must not have it twice if it is sent again.
 */
must_use struct error *sender_push(const char *store, const char *path);

/* store: borrowed; NULL: nothing is sent.  say: called with messages for the user. */
void sender_init(struct sender *s, const char *store, const char *host, uint64_t every_ns,
	void (*say)(const char *line));
void sender_deinit(struct sender *s);
/* Starts sending if something waits and it is time. */
void sender_look(struct sender *s, struct spool *spool, uint64_t now_ns);
/* Its child has ended, with that status of wait4. */
void sender_ended(struct sender *s, struct spool *spool, int status, uint64_t now_ns);
/* How long to wait after so many failures in a row; random: from 0 to 1. */
uint64_t sender_back_off_ns(uint32_t failures, double random);

#endif
