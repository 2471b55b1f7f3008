/*
 * The tick ring, from which all readers take frames.  The tail moves past a record before it is
 * overwritten, and a new record is complete before the head moves over it.  So a reader that copies
 * first and checks the tail afterwards knows which records are valid.
 */
#include <string.h>

#include "zones/shown.h"

static struct {
	pthread_mutex_t lock;
	Prof_Thread_ *holder;
} ring = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* False: called by a handler whose thread is writing. */
static bool ring_lock(void)
{
	if (Prof_GET_(ring.holder) == &Prof_thread_)
		return false;
	pthread_mutex_lock(&ring.lock);
	Prof_PUT_(ring.holder, &Prof_thread_);
	return true;
}

static void ring_unlock(void)
{
	Prof_PUT_(ring.holder, NULL);
	pthread_mutex_unlock(&ring.lock);
}

void zones_ring_forked(void)
{
	/* As for the display lock, the holder may be unknown. */
	if (ring.holder != &Prof_thread_) {
		pthread_mutex_init(&ring.lock, NULL);
		ring.holder = NULL;
	}
}

/* ---- streams ---- */

static uint32_t find_stream(struct zonewire_header *header, const char *name)
{
	size_t bytes = sizeof(header->stream[0].name);
	uint32_t i;

	for (i = 1; i < header->stream_count; i++) {
		if (strncmp(header->stream[i].name, name, bytes - 1) == 0)
			return i;
	}
	if (i == ZONEWIRE_STREAMS)
		return 0;
	zones_put_text(header->stream[i].name, bytes, name);
	Prof_PUT_(header->stream[i].last_end_ticks, zones_now());
	__atomic_store_n(&header->stream_count, i + 1, __ATOMIC_RELEASE);
	return i;
}

uint32_t zones_stream(const char *name)
{
	struct zonewire_header *header = zones_header();
	uint32_t stream;

	if (!header || !ring_lock())
		return 0;
	stream = find_stream(header, name);
	ring_unlock();
	if (!stream)
		zones_trouble(ZONEWIRE_NO_STREAMS, 1);
	return stream;
}

/* ---- records ---- */

static uint8_t *ring_at(const struct zonewire_header *header, uint64_t position)
{
	return zones_rt.memory.base + header->ring_offset + position % header->ring_bytes;
}

/* bytes is a multiple of 8; readers may be reading. */
static void put_words(uint8_t *to, const void *from, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i += 8) {
		uint64_t word;

		memcpy(&word, (const uint8_t *)from + i, sizeof(word));
		__atomic_store_n((uint64_t *)(void *)(to + i), word, __ATOMIC_RELAXED);
	}
}

/* Drops old records until this many bytes after the head are free. */
static void free_bytes(struct zonewire_header *header, uint64_t bytes)
{
	uint64_t tail = header->ring_tail;

	while (header->ring_head + bytes - tail > header->ring_bytes) {
		uint32_t old;

		memcpy(&old, ring_at(header, tail), sizeof(old));
		/*
		 * A handler forked while a record was being written: the child's ring has no record
		 * there.
		 */
		tail = old ? tail + old : header->ring_head;
	}
	__atomic_store_n(&header->ring_tail, tail, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
}

/* Records do not wrap around the ring's end: fills the rest. */
static void pad(struct zonewire_header *header, uint64_t bytes)
{
	uint64_t left = header->ring_bytes - header->ring_head % header->ring_bytes;
	uint32_t words[2] = {(uint32_t)left, ZONEWIRE_TICK_PAD};

	if (bytes <= left)
		return;
	free_bytes(header, left);
	put_words(ring_at(header, header->ring_head), words, sizeof(words));
	__atomic_store_n(&header->ring_head, header->ring_head + left, __ATOMIC_RELEASE);
}

static void put_record(struct zonewire_header *header, struct zonewire_tick *tick,
	const struct zonewire_delta *delta)
{
	uint64_t head;

	tick->number = header->stream[tick->stream].ticks;
	pad(header, tick->bytes);
	free_bytes(header, tick->bytes);
	head = header->ring_head;
	put_words(ring_at(header, head), tick, sizeof(*tick));
	put_words(ring_at(header, head + sizeof(*tick)), delta, tick->bytes - sizeof(*tick));
	__atomic_store_n(&header->ring_head, head + tick->bytes, __ATOMIC_RELEASE);
	Prof_PUT_(header->stream[tick->stream].last_end_ticks, tick->end_ticks);
	Prof_PUT_(header->stream[tick->stream].ticks, tick->number + 1);
}

bool zones_tick_put(struct zonewire_tick *tick, const struct zonewire_delta *delta)
{
	struct zonewire_header *header = zones_header();
	uint64_t room;
	bool is_put;

	if (!header || !ring_lock())
		return false;
	is_put = !header->is_frozen && header->ring_bytes >= 4 * sizeof(*tick);
	room = is_put ? (header->ring_bytes / 2 - sizeof(*tick)) / sizeof(*delta) : 0;
	if (is_put && tick->delta_count > room) {
		tick->delta_count = (uint32_t)room;
		tick->flags |= ZONEWIRE_TICK_CUT;
		zones_trouble(ZONEWIRE_TICK_TOO_BIG, 1);
	}
	tick->bytes = (uint32_t)(sizeof(*tick) + tick->delta_count * sizeof(*delta));
	if (is_put)
		put_record(header, tick, delta);
	ring_unlock();
	return is_put;
}

void zones_ring_freeze(bool is_frozen)
{
	struct zonewire_header *header = zones_header();

	if (!header || !ring_lock())
		return;
	Prof_PUT_(header->frozen_by, is_frozen ? header->ring_head : 0);
	Prof_PUT_(header->is_frozen, (uint32_t)is_frozen);
	ring_unlock();
}
