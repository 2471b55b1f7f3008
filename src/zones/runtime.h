#ifndef SONDE_ZONES_RUNTIME_H
#define SONDE_ZONES_RUNTIME_H

/*
 * What the files of the runtime share.  The runtime is linked into other people's programs: libc
 * and pthreads only, no allocation and no lock where zones are entered and left, and whatever fails
 * leaves zones unmeasured, counted and balanced, never the program broken.
 *
 * Two rules keep it right:
 *
 * - Whoever changes what belongs to a thread holds it (zones_hold): zones that a signal handler
 *   enters meanwhile are skipped and counted.  So nothing here is ever entered twice by one thread,
 *   and the lock is never waited for by who has it.
 * - What readers see is written with Prof_PUT_, single words, by one writer at a time; what is made
 *   of several is published by a count or between two odd and even generations.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef Prof_ENABLED
#define Prof_ENABLED
#endif
#include <prof.h>

#include "formats/sonde/layout/zonewire.h"

/* What the program alone knows of a slot. */
struct zones_slot {
	uint32_t index;
	uint32_t state; /* of shared; in a forked child as it was */
	struct zonewire_slot *shared;
	Prof_Zone_Stack *root; /* NULL: never used yet */
	/* The nodes by parent and zone: numbers, 0 is empty; NULL: look through the lists. */
	uint32_t *children;
	uint32_t children_mask, children_count;
	/* How often each zone is on the path to path_at, which is where a node was made last. */
	uint32_t *path_count;
	Prof_Zone_Stack *path_at;
	struct Prof_Ring_ *ring; /* of events; NULL: none yet */
	Prof_Thread_ *thread;	 /* that is at it and can be told of things; else NULL */
	bool is_late;		 /* its thread's end was reported before it took the slot */
	uint64_t given_ticks;	 /* when its last thread gave it back */
	/* Where its stack of zones stands while it is not the current one of its thread. */
	Prof_Zone_Stack *top;
	/* How the stack stood at the last Prof_update; see drift.c. */
	Prof_Zone_Stack *update_top;
	uint32_t update_growth, update_repeats;
	uint32_t update_skipped, skipped_base, skipped_repeats;
};

/* The memory's tables, where they are mapped. */
struct zones_memory {
	uint8_t *base; /* NULL: there is none (yet) */
	size_t bytes;
	struct zonewire_header *header;
	struct zonewire_slot *slots;
	struct zonewire_zone *zones;
	struct zonewire_note *notes;
	char *strings;
	Prof_Zone_Stack *nodes;
};

struct zones_runtime {
	pthread_mutex_t lock;	   /* of all that follows, and of the tables' growth */
	Prof_Thread_ *lock_holder; /* NULL: nobody */
	struct zones_memory memory;
	struct zones_slot *slot; /* [slots.capacity] */
	Prof_Zone *object;	 /* [zones.capacity]: the program's view of each zone */
	uint32_t *zone_hash;	 /* ids by what zones are; 0 is empty */
	uint32_t zone_hash_mask;
	uint64_t rings_used; /* bytes from the memory's end */
	/* All slots are taken: until that tick, or until one is given back, none is looked for. */
	uint64_t no_slot_before;
	bool events_on;
	bool has_failed;		  /* no memory was to be had */
	bool must_switch;		  /* zones_switch_all was called where it could not */
	uint64_t lost[ZONEWIRE_TROUBLES]; /* trouble before there was memory */
};
extern struct zones_runtime zones_rt;

/* What is so for all threads: zones are switched off; the clock is not the processor's. */
extern uint32_t zones_slow;
enum { ZONES_OFF = 1, ZONES_CLOCK_CALL = 2 };

/* The node of threads that have none: nothing is ever entered or left there. */
extern Prof_Zone_Stack zones_nowhere;

/* ---- switch.c: zones off and on ---- */

/* Tells all threads whether zones are off; now, or when this thread is no longer held. */
void zones_switch_all(void);
/* Tells one; locked. */
void zones_switch(Prof_Thread_ *thread);
/* Takes Prof_WAS_OFF_ from the held thread, after whether entries are skipped is in Prof_SKIPS_. */
void zones_is_on(Prof_Thread_ *thread);

/* ---- a thread's mode ---- */

/*
 * Its bytes, lowest first.  The thread alone writes the first three, the last one anybody who has
 * the lock.
 */
enum zones_mode { ZONES_HELD, ZONES_SKIPS, ZONES_KIND, ZONES_ASKED };
#define ZONES_IN(which, bits) ((uint8_t)((bits) >> 8 * (which)))
static inline uint8_t *zones_mode(Prof_Thread_ *thread, enum zones_mode which)
{
	return (uint8_t *)&thread->mode + which;
}
static inline bool zones_is_held(const Prof_Thread_ *thread)
{
	return (Prof_GET_(thread->mode) & Prof_HELD_) != 0;
}

/* ---- fork.c: whose memory it is ---- */

/* From now on it is this process's. */
void zones_home_start(void);
/* In a child that no handler announced: nothing is measured from now on, and that is counted. */
void zones_home_lost(Prof_Thread_ *thread);
/* To be called before anything is made of what the memory says. */
static inline void zones_look_home(Prof_Thread_ *thread)
{
	if (!Prof_GET_(Prof_home_[0]))
		zones_home_lost(thread);
}

/* ---- holding the calling thread ---- */

/*
 * False: it is held already, so a signal handler is running.  *skipped is how many entries are
 * skipped, and what is given back then.
 */
static inline bool zones_hold(Prof_Thread_ *thread, uint32_t *skipped)
{
	bool is_held;

	zones_look_home(thread);
	is_held = zones_is_held(thread);

	if (!is_held) {
		Prof_PUT_(*zones_mode(thread, ZONES_HELD), 1);
		Prof_FENCE_();
	}
	*skipped = Prof_GET_(thread->skipped);
	return !is_held;
}
static inline void zones_release(Prof_Thread_ *thread, uint32_t skipped)
{
	Prof_PUT_(thread->skipped, skipped);
	Prof_PUT_(*zones_mode(thread, ZONES_SKIPS), skipped != 0);
	if ((Prof_GET_(thread->mode) & (Prof_WAS_OFF_ | Prof_IS_OFF_)) == Prof_WAS_OFF_)
		zones_is_on(thread);
	Prof_FENCE_();
	Prof_PUT_(*zones_mode(thread, ZONES_HELD), 0);
	if (Prof_GET_(zones_rt.must_switch))
		zones_switch_all();
}
/* One more entry is skipped, of a thread that need not be held. */
static inline void zones_skip(Prof_Thread_ *thread)
{
	Prof_PUT_(thread->skipped, Prof_GET_(thread->skipped) + 1);
	Prof_FENCE_();
	Prof_PUT_(*zones_mode(thread, ZONES_SKIPS), 1);
}

/*
 * The thread is being called by a signal handler that has interrupted an entry, or an end: while
 * these change the top it is closed.
 */
static inline bool zones_is_amid(const Prof_Thread_ *thread)
{
	return thread->top->up && Prof_GET_(thread->top->ticks) >= 0;
}

/* Of a held thread. */
static inline void zones_lock(void)
{
	pthread_mutex_lock(&zones_rt.lock);
	Prof_PUT_(zones_rt.lock_holder, &Prof_thread_);
}
static inline void zones_unlock(void)
{
	Prof_PUT_(zones_rt.lock_holder, NULL);
	pthread_mutex_unlock(&zones_rt.lock);
}

/*
 * Of a thread, the slot that it is at and its own, which are not the same while a fiber is its
 * current one; NULL: none yet.
 */
static inline struct zones_slot *zones_slot_of(const Prof_Thread_ *thread)
{
	return thread->slot;
}
static inline struct zones_slot *zones_own_slot_of(const Prof_Thread_ *thread)
{
	return thread->own_slot;
}

/* ---- memory.c: the region ---- */

/* The header, or NULL while there is no memory; for who has not been at a slot yet. */
struct zonewire_header *zones_header(void);
/* Makes the memory, if there is none; locked.  False: there is none to be had. */
bool zones_memory_make(void);
/* Memory of the process alone, zeroed; NULL: none. */
void *zones_private(size_t bytes);
void zones_private_free(void *memory, size_t bytes);

/* ---- layout.c ---- */

/* Writes the places and sizes of all tables for a memory of that size. */
void zones_layout(struct zonewire_header *header, size_t bytes);
/* Where they are, with the memory at that address. */
void zones_layout_map(struct zones_memory *memory, void *base, size_t bytes);
size_t zones_rings_room(const struct zonewire_header *header);

/* ---- backing.c: where the memory is from ---- */

/*
 * Shared memory of that size, sealed, or a file if the environment asks for it, or else memory of
 * the process alone.  A forked child takes no file of its parent's name.  NULL: none to be had.
 */
void *zones_backing_map(size_t bytes, bool is_child);
/* Sends it to who has asked for it by the environment. */
void zones_backing_notify(void);
/* In the child of a fork: the parent's is no longer ours. */
void zones_backing_forget(void);

/* ---- environment.c ---- */
enum { ZONES_PATH_BYTES = 1024, ZONES_NOTIFY_BYTES = 96 };
struct zones_environment {
	bool is_read, events, off, path_has_pid;
	char path[ZONES_PATH_BYTES]; /* empty: none */
	char notify[ZONES_NOTIFY_BYTES];
};
extern struct zones_environment zones_env;
void zones_environment_read(void);
/* Says so, in one line on stderr: the file that was asked for cannot be had. */
void zones_environment_refused(const char *path, const char *why);

/* ---- clock.c ---- */

uint64_t zones_now(void);
/* Chooses and calibrates it; writes what the header says of it.  Locked. */
void zones_clock_start(struct zonewire_header *header);
/* Makes the header's conversion better, now and then. */
void zones_clock_refine(void);

/* ---- zone_table.c ---- */

/* The zone's id, given if need be; of a held thread.  Never 0. */
uint32_t zones_id(Prof_Zone *zone);
/* The zones that are always there; locked. */
void zones_table_start(void);
/* The program's view of a zone: a Prof_Zone that stays; NULL: no such. */
Prof_Zone *zones_object(uint32_t id);

/* ---- slots.c ---- */

/* To be called once or more; locked or before any thread. */
void zones_slots_start(void);
/* Frees the slots of threads that were in zones after their end was reported, and are gone now. */
void zones_slots_look(void);
/* A slot for the calling thread; held, not locked.  False: none. */
bool zones_attach(Prof_Thread_ *thread);
/* A free slot with a root that is open since now; locked.  NULL: none. */
struct zones_slot *zones_slot_take(enum zonewire_slot_state state, int32_t tid, const char *name);
/* Gives it back: all its zones must be closed; locked. */
void zones_slot_give(struct zones_slot *slot);
/* Closes all that is open from node to the root, root included, and opens it again. */
void zones_chain_close(Prof_Zone_Stack *node, uint64_t now);
void zones_chain_open(Prof_Zone_Stack *node, uint64_t now);
/* Words that readers may be looking at. */
void zones_put_text(char *place, size_t bytes, const char *text);
int32_t zones_tid(void);
/* The thread is at that slot from now on, and its ring is the thread's; locked. */
void zones_slot_bind(Prof_Thread_ *thread, struct zones_slot *slot);
/* From now on nobody tells the held thread anything; locked. */
void zones_slot_unbind(Prof_Thread_ *thread);

/* ---- nodes.c ---- */

/* A root for a slot; NULL: no room. */
Prof_Zone_Stack *zones_node_root(struct zones_slot *slot);
/* The child of that zone, made if need be; NULL: no room, counted. */
Prof_Zone_Stack *zones_node_child(struct zones_slot *slot, Prof_Zone_Stack *parent, uint32_t id);
/*
 * In the child of a fork: forgets what another thread had in private memory of its tree, and may
 * have been changing just then; it is made again when it is needed.  The memory stays mapped.
 */
void zones_nodes_forget(struct zones_slot *slot);

/* ---- enter.c ---- */

/* The child of the held thread's top; NULL: none, counted. */
Prof_Zone_Stack *zones_child(Prof_Thread_ *thread, Prof_Zone *zone);
/* Leaves zones until node is the top, all at the same tick; held; node is on the stack. */
void zones_pop_to(Prof_Thread_ *thread, Prof_Zone_Stack *node);
bool zones_is_on_stack(const Prof_Thread_ *thread, const Prof_Zone_Stack *node);
/*
 * Of a thread that a signal handler left by longjmp during an entry, and that is held for ever
 * since: puts right what was half done.
 */
void zones_recover(Prof_Thread_ *thread);
/* Adds to a closed or open node's ticks; never makes a closed one look open. */
void zones_close(Prof_Zone_Stack *node, uint64_t now);
/* An event, if the thread has a ring. */
static inline void zones_event(
	const Prof_Thread_ *thread, uint64_t now, const Prof_Zone_Stack *node)
{
	if (Prof_GET_(thread->mode) & Prof_EVENTS_)
		Prof_event_(now, node->number);
}

/* ---- trouble.c ---- */

void zones_trouble(enum zonewire_trouble trouble, uint64_t times);
/* A missing or extra end: which zone was open, and which was ended (0: not known). */
void zones_trouble_end(
	enum zonewire_trouble trouble, uint64_t times, uint32_t open, uint32_t ended);

/* ---- events.c ---- */

/* The slot's ring is its thread's, made if need be, or no ring, as events are on or off; locked. */
void zones_ring_switch(struct zones_slot *slot, Prof_Thread_ *thread);

/* ---- drift.c ---- */

/*
 * To be called by Prof_update, not held, before anything is gathered: the stack of the calling
 * thread that has grown by the same zones at each of many calls has missed their ends; they are
 * named and left.
 */
void zones_drift_check(void);

/* ---- fibers.c ---- */

/* The thread's present stack stops, and is kept for when it goes on; locked. */
void zones_fiber_stop(Prof_Thread_ *thread, uint32_t skipped, uint64_t now);

/* ---- fork.c ---- */

/* To be called once or more; locked or before any thread. */
void zones_fork_start(void);
/* Called in the child after fork, before it has memory of its own; locked.  The report's. */
void zones_update_forked(void);

/* ---- streams.c ---- */

/* All zones of the slot are closed, and its thread leaves it; locked. */
void zones_streams_slot_given(const struct zones_slot *slot);

#endif
