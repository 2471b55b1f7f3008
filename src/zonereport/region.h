#ifndef SONDE_ZONEREPORT_REGION_H
#define SONDE_ZONEREPORT_REGION_H

/*
 * The one reader of the memory of zones (formats/sonde/layout/zonewire.h): of the program's own, of
 * another program's that goes on writing, and of saved memory.  It believes nothing: every number
 * is checked against the tables, and what is wrong is left out and counted.  Nothing is written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sonde/layout/zonewire.h"

struct zone_region {
	const uint8_t *data; /* size bytes that stay mapped, however they change */
	size_t size;
	struct zonewire_header header; /* as it was when it was opened: places and sizes */
	/*
	 * Not 0: no time passes after this tick.  For whoever knows that the program has ended or
	 * stands still: else its open zones go on for ever.
	 */
	uint64_t ended_ticks;
};

/*
 * Checks the memory's header.  NULL if it is good; else why not, in a few words ("is no memory of
 * zones", …), a string that is always there.
 */
const char *zone_region_open(struct zone_region *region, const void *data, size_t size);

/* The clock's tick now, at most ended_ticks: of saved memory, that of saving. */
uint64_t zone_region_now(const struct zone_region *region);
/*
 * Whether that is just the last moment which the memory proves, of a program that has not told
 * when it ended: zones that are open took at least as long as they seem to.
 */
bool zone_region_end_is_proven(const struct zone_region *region);
/* Of what nothing writes to any more: whether the program, or who saved it, told when that was. */
bool zone_region_tells_end(const struct zone_region *region);
/* Nanoseconds since the region's start, negative before it. */
int64_t zone_region_ns(const struct zone_region *region, uint64_t ticks);
/* Nanoseconds that so many ticks are. */
uint64_t zone_region_duration_ns(const struct zone_region *region, uint64_t ticks);

/* Rows that are there now, and copies of them; out of range: an all-zero row, false. */
uint32_t zone_region_zone_count(const struct zone_region *region);
/* Those of them that are the program's, not the runtime's own. */
uint32_t zone_region_program_zones(const struct zone_region *region);
bool zone_region_zone(const struct zone_region *region, uint32_t id, struct zonewire_zone *zone);
uint32_t zone_region_slot_count(const struct zone_region *region);
bool zone_region_slot(const struct zone_region *region, uint32_t index, struct zonewire_slot *slot);
bool zone_region_note(const struct zone_region *region, uint32_t row, struct zonewire_note *note);
/*
 * The NUL-terminated string at that offset of the strings, "" if there is none; *size without NUL.
 * It is copied to `copy` (cut to copy_bytes - 1): the memory may change under a hostile program.
 */
const char *zone_region_string(
	const struct zone_region *region, uint32_t offset, char *copy, size_t copy_bytes);
/* A word of the header that changes: header fields that are counters or states. */
uint64_t zone_region_trouble(const struct zone_region *region, enum zonewire_trouble trouble);
struct zonewire_header zone_region_header(const struct zone_region *region);

/* ---- counters ---- */

/* A node's counters at one moment. */
struct zone_counts {
	uint64_t
		self_ticks; /* in the node and not below it, open times included; never goes back */
	uint64_t entries;
};

/* What does not change of a node, once it is there; index = number; node 0 is none. */
struct zone_place {
	uint32_t zone;
	uint32_t parent; /* < own number; of a root its own */
	uint32_t slot;
	uint32_t depth;
};

/*
 * The nodes of all slots at one moment, as well as that can be had while they change: each counter
 * is whole; of a thread that runs meanwhile some may be newer than others, by no more than reading
 * took, and never so that a self time is negative or goes back from one reading to the next: what
 * is too much now is taken off later.  Of threads that stand still, sums of self times are those of
 * the roots, to the tick.
 */
struct zone_reading {
	uint64_t now;	     /* tick of the clock it was read at */
	uint32_t node_count; /* numbers below this; those of zone 0 are none (yet) */
	uint32_t broken;     /* rows so far that are not what a node must be; of zone 0 here */
	const struct zone_place *place;	  /* [node_count] */
	const struct zone_counts *counts; /* [node_count] */
	const uint8_t *is_open;		  /* [node_count] */
	/*
	 * Among these, in no order, are all nodes whose counts are not those of the reader's last
	 * reading, which had the serial number before this one's; the first is 1.
	 */
	uint64_t serial;
	const uint32_t *changed; /* [changed_count] */
	uint32_t changed_count;
};

/* Keeps what it needs from one reading to the next. */
struct zone_reader;
/* NULL: no memory. */
struct zone_reader *zone_reader_create(void);
void zone_reader_destroy(struct zone_reader *reader);
/* A new reading, the reader's and good until the next; always of the same region.  False: no
 * memory. */
bool zone_reader_read(
	struct zone_reader *reader, const struct zone_region *region, struct zone_reading *reading);

/* ---- the ring of ticks ---- */

struct zone_tick {
	struct zonewire_tick head;
	const struct zonewire_delta *delta; /* [head.delta_count], each of a node < node_count */
};
/*
 * The first record at or after *position (start with 0), copied into the reader; *position then is
 * that of the next.  False: there is none yet.  *lost: bytes of records from *position on that
 * were overwritten before they could be read; of the first call those before the reader came are
 * among them.  Good until the next call.
 */
bool zone_reader_next_tick(struct zone_reader *reader, const struct zone_region *region,
	uint64_t *position, struct zone_tick *tick, uint64_t *lost);

/* ---- the event rings ---- */

struct zone_event {
	uint64_t ticks;
	uint32_t node;
};
/*
 * Events of the slot from number *position on, oldest first, into events[capacity]; how many, and
 * *position is that of the next.  *lost: how many were overwritten before they could be read.
 * about: about the present, as from zone_region_now; events that came minutes later are fine,
 * too.
 */
size_t zone_region_events(const struct zone_region *region, uint32_t slot, uint64_t *position,
	uint64_t about, struct zone_event *events, size_t capacity, uint64_t *lost);

#endif
