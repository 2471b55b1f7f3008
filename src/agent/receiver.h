#ifndef SONDE_AGENT_RECEIVER_H
#define SONDE_AGENT_RECEIVER_H

/*
 * A process that takes other programs' profiles over HTTP (intake/) and makes recordings of them,
 * which go to the store like segments.  It is not part of the agent's budget: what it costs is up
 * to those who send.
 *
 * The process can write to nothing but .in/ in the spool's folder, and as root it becomes another
 * user (agent/rights.h).  A recording is written there.  Its name follows from what it is, and its
 * segment's from that, so it is there once however often it is sent, in the spool as in the store.
 * One that states no time gets that at which it came first (agent/digests.h).
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/spool.h"
#include "base/error.h"

struct receiver_options {
	const char *address;	/* as in struct intake_options; NULL: nothing is received */
	const char *token_file; /* likewise */
	uint64_t keep_ns;	/* how long the spool keeps segments; 0: without a limit */
	void (*say)(const char *line);
};

struct receiver {
	struct receiver_options options;
	int folder_fd;	  /* .in; -1: not open */
	int64_t group;	  /* whom the process becomes, as in rights_confine */
	pid_t pid;	  /* 0: none */
	uint64_t next_ns; /* not to be started before, CLOCK_MONOTONIC */
};

/* One that is not open. */
#define RECEIVER_NONE ((struct receiver){.folder_fd = -1, .group = -1})
/* A file in .in with the agent's own metrics, for GET /metrics. */
#define RECEIVER_METRICS ".metrics"

/* Makes the folder, while we have the rights to share it with the process. */
must_use struct error *receiver_open(struct receiver *r, const struct spool *spool);
/*
 * Starts the process of an open one; fails if it cannot listen.  Texts are borrowed.  Without an
 * address it does nothing.
 */
must_use struct error *receiver_start(
	struct receiver *r, const struct receiver_options *options, struct spool *spool);
/* Moves what has come to the spool; starts the process again some time after it has ended. */
void receiver_look(struct receiver *r, struct spool *spool, uint64_t now_ns);
/* Whether that child was its process, which has ended. */
bool receiver_ended(struct receiver *r, pid_t pid, uint64_t now_ns);
/* Ends the process within a second, whatever it does, and takes what has come. */
void receiver_stop(struct receiver *r, struct spool *spool);

#endif
