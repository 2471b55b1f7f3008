#ifndef SONDE_ZONES_SHOWN_H
#define SONDE_ZONES_SHOWN_H

/*
 * Frames of time, and what the program itself shows of them.  Two locks, taken in this order, and
 * never while the runtime's own is held:
 *
 * - that of what is shown: the history and how it is looked at.  Whoever gathers or looks waits for
 *   it; not a signal handler that interrupts this on its own thread, which is turned away;
 * - that of the ring of ticks and the streams' names, held for as long as a record is copied: for
 *   streams of other threads, which wait for no gathering.
 */

#include "zones/runtime.h"
#include "zonereport/difference.h"
#include "zonereport/history.h"
#include "zonereport/report.h"

/* ---- update.c: the frame's stream ---- */

struct zones_shown {
	pthread_mutex_t lock;
	Prof_Thread_ *holder; /* NULL: nobody */
	bool is_stale;	      /* made by a parent before fork: to be made again */
	struct zone_region region;
	struct zone_reader *reader; /* NULL: nothing is made yet */
	struct zone_difference *difference;
	struct zone_history *history;
	double freeze_over_ms;
	struct zone_query query;
};
extern struct zones_shown zones_shown;

/* False: a handler asks while its thread is using it. */
bool zones_shown_lock(void);
void zones_shown_unlock(void);
/* Makes what is NULL, and learns what the region now tells; locked.  False: there is no memory. */
bool zones_shown_ready(void);

/* ---- tick_ring.c ---- */

/* The stream's number, a new one if need be; 0: there is no room for it, counted. */
uint32_t zones_stream(const char *name);
/*
 * Puts a tick into the ring; its number is set here.  Nothing while frozen: false.  Larger ones
 * than half the ring are cut, and counted.
 */
bool zones_tick_put(struct zonewire_tick *tick, const struct zonewire_delta *delta);
/* The newest record is the last one until is_frozen is taken back. */
void zones_ring_freeze(bool is_frozen);
void zones_ring_forked(void);

/* ---- streams.c ---- */

void zones_streams_forked(void);

#endif
