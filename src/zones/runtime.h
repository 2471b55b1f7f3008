#ifndef SONDE_ZONES_RUNTIME_H
#define SONDE_ZONES_RUNTIME_H

/*
 * Declarations shared by the files of the runtime.  The runtime is linked into users' programs.  So
 * it uses only libc and pthreads, and entering and leaving zones neither allocates nor locks.  If
 * something fails, zones are counted but not measured and stay balanced; the program is never
 * affected.
 *
 * Two rules keep it correct:
 *
 * - Code that changes a thread's data holds the thread (zones_hold): zones that a signal handler
 *   enters meanwhile are skipped and counted.  So a thread never enters this code twice, and never
 *   waits for a lock that it holds.
 * - Shared data is written with Prof_PUT_, in single words, by one writer at a time.  Data of
 *   several words is published by a count, or between an odd and an even generation.
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

/* The program's private data of a slot. */
struct zones_slot {
	uint32_t index;
	uint32_t state; /* copy of shared->state; in a forked child, that at the fork */
	struct zonewire_slot *shared;
	Prof_Zone_Stack *root; /* NULL: never used yet */
	/*
	 * Hash table of node numbers by parent and zone, 0: empty; NULL: search the lists instead.
	 */
	uint32_t *children;
	uint32_t children_mask, children_count;
	/* How often each zone is on the path to path_at, the node created last. */
	uint32_t *path_count;
	Prof_Zone_Stack *path_at;
	struct Prof_Ring_ *ring; /* of events; NULL: none yet */
	Prof_Thread_ *thread;	 /* the thread at this slot that can be notified; else NULL */
	bool is_late;		 /* its thread's end was reported before it took the slot */
	uint64_t given_ticks;	 /* when its last thread gave it back */
	/* The top of its zone stack while it is not current in its thread. */
	Prof_Zone_Stack *top;
	/* The top of the stack at the last Prof_update; see drift.c. */
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
	pthread_mutex_t lock;	   /* protects all that follows, and the growth of the tables */
	Prof_Thread_ *lock_holder; /* NULL: none */
	struct zones_memory memory;
	struct zones_slot *slot; /* [slots.capacity] */
	Prof_Zone *object;	 /* [zones.capacity]: the program's view of each zone */
	uint32_t *zone_hash;	 /* zone ids by name, file and line; 0: empty */
	uint32_t zone_hash_mask;
	uint64_t rings_used; /* in bytes, from the memory's end */
	/* If all slots are taken: do not search before this tick, or until one is returned. */
	uint64_t no_slot_before;
	bool events_on;
	bool has_failed;		  /* no memory was available */
	bool must_switch;		  /* zones_switch_all was called where it could not */
	uint64_t lost[ZONEWIRE_TROUBLES]; /* trouble before there was memory */
};
extern struct zones_runtime zones_rt;

/* State of all threads: zones are disabled; the clock is not the processor's. */
extern uint32_t zones_slow;
enum { ZONES_OFF = 1, ZONES_CLOCK_CALL = 2 };

/* The node of threads without one: nothing is ever entered or left there. */
extern Prof_Zone_Stack zones_nowhere;

/* ---- switch.c: zones off and on ---- */

/* Notifies all threads whether zones are disabled, now or when this thread is no longer held. */
void zones_switch_all(void);
/* Notifies one thread; locked. */
void zones_switch(Prof_Thread_ *thread);
/* Clears Prof_WAS_OFF_ in the held thread, after Prof_SKIPS_ shows whether entries are skipped. */
void zones_is_on(Prof_Thread_ *thread);

/* ---- a thread's mode ---- */

/*
 * Its bytes, lowest first.  Only the thread writes the first three; any thread that holds the lock
 * writes the last one.
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

/* From now on, the memory belongs to this process. */
void zones_home_start(void);
/* In a child that no handler announced: measures nothing from now on, and counts it. */
void zones_home_lost(Prof_Thread_ *thread);
/* Call it before using anything in the memory. */
static inline void zones_look_home(Prof_Thread_ *thread)
{
	if (!Prof_GET_(Prof_home_[0]))
		zones_home_lost(thread);
}

/* ---- holding the calling thread ---- */

/*
 * Holds the thread.  False: it is already held, so this is a signal handler. *skipped is the number
 * of skipped entries, to pass to zones_release.
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
/* Counts one more skipped entry, of a thread that need not be held. */
static inline void zones_skip(Prof_Thread_ *thread)
{
	Prof_PUT_(thread->skipped, Prof_GET_(thread->skipped) + 1);
	Prof_FENCE_();
	Prof_PUT_(*zones_mode(thread, ZONES_SKIPS), 1);
}

/*
 * Whether this is a signal handler that interrupted an entry or an end: the top is closed while
 * these change it.
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
 * A thread's current slot, and its own slot, which differ while a fiber is current; NULL: none yet.
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

/* The header, or NULL while there is no memory; for callers that have not used a slot yet. */
struct zonewire_header *zones_header(void);
/* Creates the memory, if there is none; locked.  False: no memory available. */
bool zones_memory_make(void);
/* Private memory, zeroed; NULL: none available. */
void *zones_private(size_t bytes);
void zones_private_free(void *memory, size_t bytes);

/* ---- layout.c ---- */

/* Writes the offsets and sizes of all tables for a memory of that size. */
void zones_layout(struct zonewire_header *header, size_t bytes);
/* Sets the tables' addresses, for memory at base. */
void zones_layout_map(struct zones_memory *memory, void *base, size_t bytes);
size_t zones_rings_room(const struct zonewire_header *header);

/* ---- backing.c: where the memory is from ---- */

/*
 * Sealed shared memory of that size, a file if the environment asks for one, or else private
 * memory.  A forked child does not use a file with its parent's name.  NULL: none available.
 */
void *zones_backing_map(size_t bytes, bool is_child);
/* Sends it to the socket that the environment names. */
void zones_backing_notify(void);
/* In a forked child: forgets the parent's memory. */
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
/* Prints one line on stderr: the requested file cannot be created. */
void zones_environment_refused(const char *path, const char *why);

/* ---- clock.c ---- */

uint64_t zones_now(void);
/* Chooses and calibrates the clock; writes its fields in the header.  Locked. */
void zones_clock_start(struct zonewire_header *header);
/* Improves the header's conversion from time to time. */
void zones_clock_refine(void);

/* ---- zone_table.c ---- */

/* The zone's id, assigned if necessary; the thread must be held.  Never 0. */
uint32_t zones_id(Prof_Zone *zone);
/* Creates the predefined zones; locked. */
void zones_table_start(void);
/* The program's view of a zone: a permanent Prof_Zone; NULL: no such zone. */
Prof_Zone *zones_object(uint32_t id);

/* ---- slots.c ---- */

/* Can be called several times; locked, or before any thread exists. */
void zones_slots_start(void);
/*
 * Frees the slots of threads that entered zones after their end was reported, and have ended now.
 */
void zones_slots_look(void);
/* Gets a slot for the calling thread; held, not locked.  False: none. */
bool zones_attach(Prof_Thread_ *thread);
/* A free slot, with a root that is opened now; locked.  NULL: none. */
struct zones_slot *zones_slot_take(enum zonewire_slot_state state, int32_t tid, const char *name);
/* Returns the slot: all its zones must be closed; locked. */
void zones_slot_give(struct zones_slot *slot);
/* Closes all open zones from node to the root, inclusive; opens them again. */
void zones_chain_close(Prof_Zone_Stack *node, uint64_t now);
void zones_chain_open(Prof_Zone_Stack *node, uint64_t now);
/* Writes text word by word, as readers may be reading it. */
void zones_put_text(char *place, size_t bytes, const char *text);
int32_t zones_tid(void);
/* Puts the thread at that slot, with the slot's ring; locked. */
void zones_slot_bind(Prof_Thread_ *thread, struct zones_slot *slot);
/* Ends notifications of the held thread; locked. */
void zones_slot_unbind(Prof_Thread_ *thread);

/* ---- nodes.c ---- */

/* Creates a root for a slot; NULL: no room. */
Prof_Zone_Stack *zones_node_root(struct zones_slot *slot);
/* The child for that zone, created if necessary; NULL: no room, counted. */
Prof_Zone_Stack *zones_node_child(struct zones_slot *slot, Prof_Zone_Stack *parent, uint32_t id);
/*
 * In a forked child: forgets the private data of another thread's tree, which that may have been
 * changing at the fork; it is created again when needed.  The memory stays mapped.
 */
void zones_nodes_forget(struct zones_slot *slot);

/* ---- enter.c ---- */

/* The child of the held thread's top; NULL: none, counted. */
Prof_Zone_Stack *zones_child(Prof_Thread_ *thread, Prof_Zone *zone);
/* Leaves zones until node is the top, all at the same tick; held; node must be on the stack. */
void zones_pop_to(Prof_Thread_ *thread, Prof_Zone_Stack *node);
bool zones_is_on_stack(const Prof_Thread_ *thread, const Prof_Zone_Stack *node);
/*
 * For a thread that a signal handler left by longjmp during an entry, and that is still held
 * because of it: repairs the unfinished entry.
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
/*
 * Counts a missing or extra end: the zone that was open, and the zone that was ended (0: unknown).
 */
void zones_trouble_end(
	enum zonewire_trouble trouble, uint64_t times, uint32_t open, uint32_t ended);

/* ---- events.c ---- */

/*
 * Gives the thread its slot's ring, created if necessary, if events are enabled; otherwise takes it
 * away; locked.
 */
void zones_ring_switch(struct zones_slot *slot, Prof_Thread_ *thread);

/* ---- drift.c ---- */

/*
 * Called by Prof_update, not held, before gathering.  If the calling thread's stack has grown by
 * the same zones at each of many calls, their ends are missing: names and leaves them.
 */
void zones_drift_check(void);

/* ---- fibers.c ---- */

/* Stops the thread's current stack, and keeps it until it continues; locked. */
void zones_fiber_stop(Prof_Thread_ *thread, uint32_t skipped, uint64_t now);

/* ---- fork.c ---- */

/* Can be called several times; locked, or before any thread exists. */
void zones_fork_start(void);
/* Resets the report in the child after fork, before it has its own memory; locked. */
void zones_update_forked(void);

/* ---- streams.c ---- */

/* Called when all zones of the slot are closed and its thread leaves it; locked. */
void zones_streams_slot_given(const struct zones_slot *slot);

#endif
