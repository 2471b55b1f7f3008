#ifndef SONDE_TESTS_ZONE_REGION_H
#define SONDE_TESTS_ZONE_REGION_H

/*
 * A program's memory of zones, made by hand: threads that enter and leave zones while a clock goes
 * that the test drives, without the runtime.  One tick is one nanosecond.  What may not fail
 * aborts.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "zonereport/region.h"

enum { ZONE_MAKER_SLOTS = 64, ZONE_MAKER_STRINGS = 1 << 20 };

struct zone_maker {
	struct zone_region region; /* opened */
	struct zonewire_header *header;
	uint8_t *data; /* a memory mapping … */
	size_t bytes;  /* … of that size, whatever the header says by now */
	struct zonewire_slot *slot;
	struct zonewire_zone *zone;
	struct zonewire_node *node;
	struct zonewire_note *note;
	uint32_t top[ZONE_MAKER_SLOTS]; /* node where each slot stands */
};

/*
 * Zones 0 to 3 are there, no slots.  Tables hold so many zones and nodes; ring_bytes is the size of
 * the ring of ticks.  The clock is called, at 1.
 */
void zone_maker_init(
	struct zone_maker *m, uint32_t zones, uint32_t nodes, uint32_t notes, uint64_t ring_bytes);
void zone_maker_deinit(struct zone_maker *m);

/* The clock goes on by so many ticks. */
void zone_maker_pass(struct zone_maker *m, uint64_t ticks);
/* The zone of that name and place, made if need be: its id.  file may be NULL. */
uint32_t zone_maker_zone(struct zone_maker *m, const char *name, const char *file, uint32_t line);
/* A new thread, its root entered now: its slot. */
uint32_t zone_maker_slot(struct zone_maker *m, const char *name, int32_t tid);
/* The node of a zone below that node, made if need be: its number. */
uint32_t zone_maker_node(struct zone_maker *m, uint32_t parent, uint32_t zone);

/* The slot's thread enters the zone, or leaves the last one. */
void zone_maker_enter(struct zone_maker *m, uint32_t slot, uint32_t zone);
void zone_maker_leave(struct zone_maker *m, uint32_t slot);
/* Enters, lets so many ticks pass, leaves. */
void zone_maker_spend(struct zone_maker *m, uint32_t slot, uint32_t zone, uint64_t ticks);

/* Puts the tick into the ring as a program does: bytes, delta_count of it are used as they are. */
void zone_maker_tick(
	struct zone_maker *m, const struct zonewire_tick *tick, const struct zonewire_delta *delta);
/* A row of notes for that node. */
struct zonewire_note *zone_maker_note(struct zone_maker *m, uint32_t node);
/* Writes the memory to a file, marked as saved now; false: errno. */
bool zone_maker_save(struct zone_maker *m, const char *path);

#endif
