#ifndef SONDE_ZONEREPORT_REGION_H
#define SONDE_ZONEREPORT_REGION_H

/*
 * The only reader of zones memory (formats/sonde/layout/zonewire.h): the program's own, another
 * program's while it is being written, and saved memory.  It trusts nothing: every number is
 * checked against the tables, and invalid data is left out and counted.  It never writes.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/sonde/layout/zonewire.h"

struct zone_region {
	const uint8_t *data; /* size bytes, which must stay mapped; their contents may change */
	size_t size;
	struct zonewire_header header; /* as it was when opened: offsets and sizes */
	/*
	 * Not 0: no time passes after this tick.  Set it if the program is known to have ended or
	 * stopped; otherwise its open zones continue to grow.
	 */
	uint64_t ended_ticks;
};

/*
 * Checks the memory's header.  NULL if it is valid; else a static string with the reason in a few
 * words.
 */
const char *zone_region_open(struct zone_region *region, const void *data, size_t size);

/* The current tick of the clock, at most ended_ticks; for saved memory, the tick of saving. */
uint64_t zone_region_now(const struct zone_region *region);
/*
 * Whether that is only the last moment that the memory proves, because the program did not record
 * its end: open zones took at least as long as they seem to.
 */
bool zone_region_end_is_proven(const struct zone_region *region);
/*
 * For memory that is no longer written: whether the program, or its saver, recorded the time of the
 * end.
 */
bool zone_region_tells_end(const struct zone_region *region);
/* Nanoseconds since the region's start, negative before it. */
int64_t zone_region_ns(const struct zone_region *region, uint64_t ticks);
/* Converts ticks to nanoseconds. */
uint64_t zone_region_duration_ns(const struct zone_region *region, uint64_t ticks);

/* The number of rows now, and copies of them; out of range: an all-zero row, false. */
uint32_t zone_region_zone_count(const struct zone_region *region);
/* Without the runtime's own zones. */
uint32_t zone_region_program_zones(const struct zone_region *region);
bool zone_region_zone(const struct zone_region *region, uint32_t id, struct zonewire_zone *zone);
uint32_t zone_region_slot_count(const struct zone_region *region);
bool zone_region_slot(const struct zone_region *region, uint32_t index, struct zonewire_slot *slot);
bool zone_region_note(const struct zone_region *region, uint32_t row, struct zonewire_note *note);
/*
 * The NUL-terminated string at an offset in the strings, "" if there is none; *size excludes the
 * NUL.  It is copied to `copy` (truncated to copy_bytes - 1), because a hostile program may change
 * the memory.
 */
const char *zone_region_string(
	const struct zone_region *region, uint32_t offset, char *copy, size_t copy_bytes);
/* Fields of the header that change: counters and states. */
uint64_t zone_region_trouble(const struct zone_region *region, enum zonewire_trouble trouble);
struct zonewire_header zone_region_header(const struct zone_region *region);

/* ---- counters ---- */

/* A node's counters at one moment. */
struct zone_counts {
	uint64_t self_ticks; /* in the node itself, including open times; never decreases */
	uint64_t entries;
};

/* The constant part of a node; index = number; node 0 does not exist. */
struct zone_place {
	uint32_t zone;
	uint32_t parent; /* less than the node's number; a root's is its own */
	uint32_t slot;
	uint32_t depth;
};

/*
 * The nodes of all slots at one moment, as far as possible while they change.  Each counter is
 * whole.  For a running thread, some may be newer than others, by no more than the duration of the
 * reading.  A self time is never negative and never decreases between readings: an excess is
 * subtracted later.  For stopped threads, sums of self times equal those of the roots, to the tick.
 */
struct zone_reading {
	uint64_t now;	     /* clock tick of the reading */
	uint32_t node_count; /* numbers are below this; nodes with zone 0 do not exist (yet) */
	uint32_t broken;     /* number of invalid nodes so far; they have zone 0 here */
	const struct zone_place *place;	  /* [node_count] */
	const struct zone_counts *counts; /* [node_count] */
	const uint8_t *is_open;		  /* [node_count] */
	/*
	 * These include, in no order, all nodes with counts that differ from the reader's previous
	 * reading, whose serial number is one less; the first is 1.
	 */
	uint64_t serial;
	const uint32_t *changed; /* [changed_count] */
	uint32_t changed_count;
};

/* The state kept from one reading to the next. */
struct zone_reader;
/* NULL: out of memory. */
struct zone_reader *zone_reader_create(void);
void zone_reader_destroy(struct zone_reader *reader);
/*
 * A new reading, owned by the reader and valid until the next; always pass the same region.  False:
 * out of memory.
 */
bool zone_reader_read(
	struct zone_reader *reader, const struct zone_region *region, struct zone_reading *reading);

/* ---- the ring of ticks ---- */

struct zone_tick {
	struct zonewire_tick head;
	const struct zonewire_delta *delta; /* [head.delta_count]; all nodes < node_count */
};
/*
 * The first record at or after *position (start with 0), copied into the reader; *position becomes
 * that of the next.  False: there is none yet.  *lost: bytes of records from *position on that were
 * overwritten before they could be read; in the first call, these include everything before the
 * reader started.  Valid until the next call.
 */
bool zone_reader_next_tick(struct zone_reader *reader, const struct zone_region *region,
	uint64_t *position, struct zone_tick *tick, uint64_t *lost);

/* ---- the event rings ---- */

struct zone_event {
	uint64_t ticks;
	uint32_t node;
};
/*
 * Events of the slot from number *position on, oldest first, into events[capacity].  Returns their
 * number; *position becomes that of the next.  *lost: how many were overwritten before they could
 * be read.  about: approximately the present, as from zone_region_now; events may be minutes later.
 */
size_t zone_region_events(const struct zone_region *region, uint32_t slot, uint64_t *position,
	uint64_t about, struct zone_event *events, size_t capacity, uint64_t *lost);

#endif
