#ifndef SONDE_ZONES_SHOWN_H
#define SONDE_ZONES_SHOWN_H

/*
 * Frames, and what the program itself shows of them.  Two locks, taken in this order, and never
 * while holding the runtime's own:
 *
 * - the lock of the history and the display settings.  Gathering and displays wait for it, except a
 *   signal handler that interrupts its own thread here, which is refused;
 * - the lock of the tick ring and the streams' names, held while a record is copied, so that
 *   streams of other threads do not wait for gathering.
 */

#include "zones/runtime.h"
#include "zonereport/difference.h"
#include "zonereport/history.h"
#include "zonereport/report.h"

/* ---- update.c: the frame's stream ---- */

struct zones_shown {
	pthread_mutex_t lock;
	Prof_Thread_ *holder; /* NULL: none */
	bool is_stale;	      /* created by the parent before fork, so it must be created again */
	struct zone_region region;
	struct zone_reader *reader; /* NULL: nothing exists yet */
	struct zone_difference *difference;
	struct zone_history *history;
	double freeze_over_ms;
	struct zone_query query;
};
extern struct zones_shown zones_shown;

/* False: called by a handler whose thread holds the lock. */
bool zones_shown_lock(void);
void zones_shown_unlock(void);
/*
 * Creates what is NULL, and reads new zones and nodes from the region; locked.  False: no memory.
 */
bool zones_shown_ready(void);

/* ---- tick_ring.c ---- */

/* The stream's number, assigned if necessary; 0: no room, counted. */
uint32_t zones_stream(const char *name);
/*
 * Puts a tick into the ring and sets its number.  Does nothing while frozen: false.  Ticks larger
 * than half the ring are truncated, and counted.
 */
bool zones_tick_put(struct zonewire_tick *tick, const struct zonewire_delta *delta);
/* With is_frozen, the newest record stays the last one until the next call with false. */
void zones_ring_freeze(bool is_frozen);
void zones_ring_forked(void);

/* ---- streams.c ---- */

void zones_streams_forked(void);

#endif
