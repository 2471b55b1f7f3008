#ifndef SONDE_AGENT_SENDER_H
#define SONDE_AGENT_SENDER_H

/*
 * Sends whole segments from the spool to the store, the oldest first, one at a time, and removes
 * each once the store has it.  A child process sends, so that a slow store delays nothing.
 *
 * Hosts send at different times: each waits a part of the interval that follows from its name.
 * After a failure the sender waits twice as long as before, with jitter, at most five minutes.  If
 * a shard of the store fails, only its segments wait, in a queue; the oldest of the others go on.
 *
 * The child has no rights but to read the segment, and to write to one folder (agent/rights.h):
 * that of the store, or the one with what servers have.  It may take only so much memory; if that
 * does not suffice, the next one may take twice as much.  A segment for which three times in a row
 * it does not is dropped.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/spool.h"
#include "base/error.h"
#include "base/vec.h"
#include "store/clickhouse.h"

/* The segments for one shard, by the name of the shard (store_place_of). */
struct sender_queue {
	char *place;
	uint32_t failures; /* in a row */
	uint64_t next_ns;  /* not before, CLOCK_MONOTONIC, after failures */
	uint64_t errors;   /* so far */
};

/* What the process that sends tells, in memory that both share. */
struct sender_report {
	char place[256]; /* where the segment goes; "": not known, or the store has no shards */
	bool is_left;	 /* its shard failed before, and it is not time yet */
};

struct sender_queues {
	VEC(struct sender_queue) list;
	struct sender_report *report;
	uint64_t now_ns; /* when the process was started */
};

/* Where to, and as whom; texts are borrowed. */
struct sender_target {
	const char *store; /* NULL: nothing is sent */
	const char *spool; /* the folder, for what is remembered of a store */
	const char *host;
	struct clickhouse_options access;
	struct sender_queues *queues; /* the sender's; NULL: none */
};

struct sender {
	struct sender_target target;
	int64_t group; /* whom the child becomes, as in rights_confine */
	pid_t child;   /* 0: none */
	char *name;    /* of the segment that it sends */
	struct sender_queues queues;
	uint32_t own_queue; /* of the agent's own segments, as in a spool_entry */
	uint64_t phase_ns;  /* a segment waits this long */
	uint64_t next_ns;   /* not before, CLOCK_MONOTONIC */
	uint32_t failures;  /* in a row, other than those of queues */
	uint32_t refusals;  /* of memory, for the segment with this number */
	uint32_t refused;
	uint64_t limit_bytes; /* of the child's mapped memory (memory.h) */
	void (*say)(const char *line);
	uint64_t sent, sent_bytes, errors; /* so far */
};

/* Whether the store is somewhere else than in a folder. */
bool sender_is_url(const char *store);
/* Whether it is an address of a store; nothing is asked for there. */
must_use struct error *sender_check(const char *store);
/*
 * Sends one segment: to a folder, as a file that is whole at once, with a hash of the host in its
 * name; or to a URL.  A store has it once however often it is sent.  *is_unreadable is set with an
 * error after which it can never be sent.
 */
must_use struct error *sender_push(
	const struct sender_target *target, const char *path, bool *is_unreadable);

/* say: called with messages for the user. */
void sender_init(struct sender *s, const struct sender_target *target, uint64_t every_ns,
	void (*say)(const char *line));
void sender_deinit(struct sender *s);
/* From now on; the store is the same. */
void sender_set_target(struct sender *s, const struct sender_target *target);
/* What of the spool waits for that queue's shard, as far as it is known. */
struct sender_waiting {
	uint64_t segments, bytes;
};
struct sender_waiting sender_waiting(
	const struct sender *s, const struct spool *spool, size_t queue);
/* Starts sending if something waits, it is time, and free_bytes of memory suffice. */
void sender_look(struct sender *s, struct spool *spool, uint64_t now_ns, uint64_t free_bytes);
/* Ends sending; the segment stays. */
void sender_stop(struct sender *s);
/* Its child has ended, with that status of wait4. */
void sender_ended(struct sender *s, struct spool *spool, int status, uint64_t now_ns);
/* How long to wait after so many failures in a row; random: from 0 to 1. */
uint64_t sender_back_off_ns(uint32_t failures, double random);

#endif
