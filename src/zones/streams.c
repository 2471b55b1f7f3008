/*
 * Streams of frames: a frame is what one thread's zones did since its last call.
 *
 * The thread walks its own tree, which no other thread changes, so figures are exact and there is
 * no waiting.  Each stream keeps the counters of its last call.  A subtree whose root is closed and
 * has unchanged counters was not entered, and is skipped.
 *
 * A slot's tree continues counting for the next thread that uses it.  So a thread's first frame
 * begins with the counters at the moment when the last thread left the slot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "zones/shown.h"

enum { NO_INDEX = -1, STREAM_GIVEN = 0 /* not a stream: the counters when the slot was left */ };

/* Saved counters of a node. */
struct count {
	uint64_t total, entries;
};

/* A slot's state in a stream. */
struct place {
	uint32_t thread_count; /* of the slot at its last frame; 0: none yet */
	bool is_after_gap;
	uint64_t last_ticks;
};

/* The changes in a slot's tree; kept between calls to reuse the memory. */
struct changes {
	struct zonewire_delta *delta;
	int32_t *above; /* [count] index of the nearest change above it */
	uint32_t count, capacity;
};

static struct {
	struct count *count[ZONEWIRE_STREAMS]; /* [nodes.capacity] each; NULL: not used yet */
	struct place *place[ZONEWIRE_STREAMS]; /* [slots.capacity] each */
	struct changes *changes;	       /* [slots.capacity] */
} streams;

static size_t count_bytes(void)
{
	return sizeof(struct count) * zones_rt.memory.header->nodes.capacity;
}

static size_t place_bytes(void)
{
	return sizeof(struct place) * zones_rt.memory.header->slots.capacity;
}

/* Allocates zeroed memory if it is NULL; the first caller wins.  False: none available. */
static bool make(void *pointer, size_t bytes)
{
	void **place = pointer, *none = NULL, *memory;

	if (__atomic_load_n(place, __ATOMIC_ACQUIRE))
		return true;
	memory = zones_private(bytes);
	if (memory && !__atomic_compare_exchange_n(
			      place, &none, memory, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		zones_private_free(memory, bytes);
	return memory != NULL;
}

static bool make_stream(uint32_t stream)
{
	return make(&streams.count[stream], count_bytes()) &&
	       make(&streams.place[stream], place_bytes()) &&
	       make(&streams.changes,
		       sizeof(*streams.changes) * zones_rt.memory.header->slots.capacity);
}

void zones_streams_forked(void)
{
	uint32_t i;

	/* Do not unmap it: a handler may have forked during a walk. */
	for (i = 0; zones_header() && i < ZONEWIRE_STREAMS; i++) {
		if (streams.count[i])
			madvise(streams.count[i], count_bytes(), MADV_DONTNEED);
		if (streams.place[i])
			madvise(streams.place[i], place_bytes(), MADV_DONTNEED);
	}
}

/* ---- the walk ---- */

struct walk {
	const struct count *from;
	struct count *to;	 /* NULL: only count the changes */
	struct changes *changes; /* NULL: only save the counters */
	uint64_t now;
	int32_t above;
};

static struct count count_of(const Prof_Zone_Stack *node, uint64_t now)
{
	int64_t ticks = Prof_GET_(node->ticks);
	struct count count = {(uint64_t)ticks, Prof_GET_(node->entries)};

	if (ticks < 0)
		count.total += now;
	return count;
}

static void note_change(
	struct walk *walk, const Prof_Zone_Stack *node, struct count now, struct count then)
{
	struct changes *changes = walk->changes;
	uint64_t entries = now.entries - then.entries;
	struct zonewire_delta *delta;

	if (!walk->to) {
		changes->count++;
		return;
	}
	/*
	 * A handler may have entered more since they were counted: those then count for the parent.
	 */
	if (!changes || changes->count == changes->capacity)
		return;
	delta = &changes->delta[changes->count];
	delta->node = node->number;
	delta->entries = entries < UINT32_MAX ? (uint32_t)entries : UINT32_MAX;
	delta->self_ticks = now.total > then.total ? now.total - then.total : 0;
	changes->above[changes->count] = walk->above;
	walk->above = (int32_t)changes->count++;
}

/* True: there may be changes below it. */
static bool visit(struct walk *walk, const Prof_Zone_Stack *node)
{
	struct count now = count_of(node, walk->now), then = walk->from[node->number];
	bool is_same = now.total == then.total && now.entries == then.entries;

	if (!is_same)
		note_change(walk, node, now, then);
	if (walk->to && (!is_same || walk->to != walk->from))
		walk->to[node->number] = now;
	return !is_same || (walk->to && walk->to != walk->from);
}

static const Prof_Zone_Stack *next_node(
	struct walk *walk, const Prof_Zone_Stack *node, bool goes_down)
{
	const Prof_Zone_Stack *nodes = zones_rt.memory.nodes;
	struct changes *changes = walk->changes;

	if (goes_down && Prof_GET_(node->first_child))
		return &nodes[node->first_child];
	for (; node; node = node->up) {
		if (walk->above >= 0 && changes->delta[walk->above].node == node->number)
			walk->above = changes->above[walk->above];
		if (!node->up)
			return NULL;
		if (node->next_sibling)
			return &nodes[node->next_sibling];
	}
	return NULL;
}

static void walk_tree(struct walk *walk, const struct zones_slot *slot)
{
	const Prof_Zone_Stack *node = slot->root;

	walk->above = NO_INDEX;
	while (node)
		node = next_node(walk, node, visit(walk, node));
}

/* ---- ticks ---- */

/*
 * Grows the array; its contents may be lost.  Not from malloc, since leak detectors would not find
 * the pointer.
 */
static bool grow_array(void *pointer, size_t old_bytes, size_t bytes)
{
	void **place = pointer, *memory = zones_private(bytes);

	if (!memory)
		return false;
	zones_private_free(*place, old_bytes);
	*place = memory;
	return true;
}

static bool grow(struct changes *changes, uint32_t count)
{
	uint32_t had = changes->capacity, wanted = had ? had : 128;

	while (wanted < count)
		wanted *= 2;
	if (wanted == had)
		return true;
	changes->capacity = 0;
	if (!grow_array(&changes->delta, had * sizeof(*changes->delta),
		    wanted * sizeof(*changes->delta)) ||
		!grow_array(&changes->above, had * sizeof(*changes->above),
			wanted * sizeof(*changes->above)))
		return false;
	changes->capacity = wanted;
	return true;
}

/*
 * Turns total times into self times: each is subtracted from its parent's, which is still a total.
 */
static void make_self(struct changes *changes)
{
	uint32_t i;

	for (i = 0; i < changes->count; i++) {
		uint64_t whole = changes->delta[i].self_ticks;
		struct zonewire_delta *above;

		if (changes->above[i] == NO_INDEX)
			continue;
		above = &changes->delta[changes->above[i]];
		above->self_ticks -= whole < above->self_ticks ? whole : above->self_ticks;
	}
}

/*
 * Collects the changes of the slot's zones since `from`, and sets `to` to now.  False: no memory.
 */
static bool take_changes(const struct zones_slot *slot, const struct count *from, struct count *to,
	struct changes *changes, uint64_t now)
{
	struct walk walk = {from, NULL, changes, now, NO_INDEX};

	changes->count = 0;
	walk_tree(&walk, slot);
	if (!grow(changes, changes->count))
		return false;
	changes->count = 0;
	walk.to = to;
	walk_tree(&walk, slot);
	make_self(changes);
	return true;
}

static void end_frame(struct zones_slot *slot, uint32_t stream)
{
	struct place *place = &streams.place[stream][slot->index];
	uint32_t owner = slot->shared->thread_count;
	bool is_first = place->thread_count != owner;
	struct changes *changes = &streams.changes[slot->index];
	struct count *last = streams.count[stream];
	struct zonewire_tick tick = {0, stream, 0, 0, 0, 0, 0, ZONEWIRE_TICK_OWN, 0};

	tick.start_ticks = is_first ? slot->shared->start_ticks : place->last_ticks;
	tick.end_ticks = zones_now();
	if (tick.end_ticks < tick.start_ticks)
		tick.end_ticks = tick.start_ticks;
	if (!take_changes(slot, is_first ? streams.count[STREAM_GIVEN] : last, last, changes,
		    tick.end_ticks))
		return;
	tick.slot = slot->index;
	tick.delta_count = changes->count;
	if (place->is_after_gap && !is_first)
		tick.flags |= ZONEWIRE_TICK_AFTER_GAP;
	place->is_after_gap = !zones_tick_put(&tick, changes->delta);
	place->last_ticks = tick.end_ticks;
	place->thread_count = owner;
}

void Prof_update_stream(const char *name)
{
	Prof_Thread_ *t = &Prof_thread_;
	uint32_t skipped, stream;
	int saved_errno = errno;

	if (!name || !*name || !zones_hold(t, &skipped))
		return;
	if (zones_slot_of(t) || zones_attach(t)) {
		stream = zones_stream(name);
		if (stream && make_stream(STREAM_GIVEN) && make_stream(stream))
			end_frame(zones_slot_of(t), stream);
	}
	zones_release(t, skipped);
	errno = saved_errno;
}

void zones_streams_slot_given(const struct zones_slot *slot)
{
	struct walk walk = {NULL, NULL, NULL, 0, NO_INDEX};

	if (!slot->root || !make_stream(STREAM_GIVEN))
		return;
	walk.from = walk.to = streams.count[STREAM_GIVEN];
	walk_tree(&walk, slot);
}
