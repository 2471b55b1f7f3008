#ifndef SONDE_AGENT_LEDGER_H
#define SONDE_AGENT_LEDGER_H

/*
 * What an agent lost, and how far it has sampled, in a file that survives it: a kill at any time
 * neither forgets a loss nor counts it twice.
 *
 *	ledger_open(&l, folder_fd, name);
 *	ledger_lose(&l, LEDGER_EARLY_NS, ns);	counted at once
 *	ledger_give(&l, number, amounts);	a segment is to note what is untold
 *	ledger_told(&l, number);  or  ledger_not_told(&l, number);
 *
 * The file keeps its size, so that it can be written on a full disk.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ledger_loss {
	LEDGER_DROPPED, /* segments: by limits, for lack of room, unreadable ones */
	LEDGER_DROPPED_BYTES,
	LEDGER_BROKEN,	  /* segments that ended early */
	LEDGER_PAUSED_NS, /* without sampling: by the budget, */
	LEDGER_DOWN_NS,	  /* as no agent ran, */
	LEDGER_EARLY_NS,  /* as a segment ended early */
	LEDGER_UNWRITTEN, /* samples for which there was no room on the disk */
	LEDGER_LOSSES
};

#define LEDGER_GIVEN_MAX 8

/* An instant, by two clocks; zero: none. */
struct ledger_instant {
	uint64_t monotonic_ns; /* of this boot */
	uint64_t unix_ns;
};

/* As it is in the file. */
struct ledger_state {
	uint64_t total[LEDGER_LOSSES];
	uint64_t untold[LEDGER_LOSSES]; /* in no segment's notes yet */
	struct {
		uint64_t number; /* of the segment, plus 1; 0: none */
		uint64_t amounts[LEDGER_LOSSES];
	} given[LEDGER_GIVEN_MAX];
	struct ledger_instant until; /* samples up to then are kept, or counted as lost */
	char boot[40];		     /* which the monotonic clock belongs to */
	uint64_t next;		     /* number of the next segment */
	uint64_t removing;	     /* number of the segment being dropped, plus 1; 0: none */
	uint64_t removing_bytes;
};

struct ledger {
	int fd; /* -1: it cannot be written, and what is counted ends with the process */
	uint64_t sequence;
	struct ledger_state state;
};

/* A file that is missing or damaged is the same as an empty one. */
void ledger_open(struct ledger *l, int folder_fd, const char *name);
void ledger_close(struct ledger *l);
void ledger_save(struct ledger *l);

void ledger_lose(struct ledger *l, enum ledger_loss loss, uint64_t amount);
/* Hands what is untold, in amounts[LEDGER_LOSSES], to the notes of that segment. */
void ledger_give(struct ledger *l, uint32_t number, uint64_t *amounts);
/* The segment is whole, with its notes. */
void ledger_told(struct ledger *l, uint32_t number);
/* It has none, so that the next one is to tell. */
void ledger_not_told(struct ledger *l, uint32_t number);

/* Before and after a segment's file is removed that nobody got. */
void ledger_removing(struct ledger *l, uint32_t number, uint64_t bytes);
void ledger_removed(struct ledger *l, bool is_gone);

/* Sampled until then. */
void ledger_set_until(struct ledger *l, struct ledger_instant until);
/*
 * For how long nothing sampled, at that instant; 0 without a mark.  Until the system is restarted,
 * whatever its clock is set to.
 */
uint64_t ledger_gap_ns(const struct ledger *l, struct ledger_instant now);

#endif
