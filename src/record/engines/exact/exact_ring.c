/*
 * The protocol is that of the kernel's Documentation/bpf/ringbuf.rst.  Each record has a header of
 * two words.  The first has its size and two flags: the record is still being written, or was
 * discarded.  The size is valid as soon as the producer's position includes the record, so a record
 * that is still being written can be skipped.
 */
#include "record/engines/exact/exact_ring.h"

#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "record/engines/exact/exact_layout.h"

_Static_assert((int)STACK_REST_WHOLE == EXACT_END_STACK, "one numbering");
_Static_assert((int)STACK_REST_MARKED == EXACT_END_MARK, "one numbering");
_Static_assert((int)STACK_REST_LIMITED == EXACT_END_LIMIT, "one numbering");

/* If more than this part of the ring is waiting, records are moved out. */
#define KEEP_PART 4
/* A rest up to this size is copied when it is read, to free the ring. */
#define COPIED_BYTES ((uint64_t)64 << 10)

/* Records are ordered by time, except for the time that a CPU may take to write one. */
#define LATER_NS UINT64_C(100000000)

static uint32_t header_word(const struct exact_ring *r, uint64_t position)
{
	const uint8_t *header = r->data + (position & (r->size_bytes - 1));

	return __atomic_load_n((const uint32_t *)(const void *)header, __ATOMIC_ACQUIRE);
}

/*
 * A record's bytes after its header, joined if they wrap; at most one record in a ring does.  A
 * header never wraps.
 */
static const uint8_t *record_bytes(struct exact_ring *r, const struct exact_record *record)
{
	uint64_t at = (record->position + BPF_RINGBUF_HDR_SZ) & (r->size_bytes - 1);
	uint64_t size = record->size - BPF_RINGBUF_HDR_SZ, first = r->size_bytes - at;

	if (size <= first)
		return r->data + at;
	if (!r->joined || r->joined_position != record->position) {
		free(r->joined);
		r->joined = xalloc(size);
		r->joined_position = record->position;
		memcpy(r->joined, r->data + at, first);
		memcpy(r->joined + first, r->data, size - first);
	}
	return r->joined;
}

void exact_ring_init(struct exact_ring *r, uint64_t *consumer, const uint64_t *producer,
	const void *data, uint64_t size_bytes)
{
	*r = (struct exact_ring){.consumer = consumer,
		.producer = producer,
		.data = data,
		.size_bytes = size_bytes,
		.seen = *consumer};
	pthread_mutex_init(&r->lock, NULL);
}

void exact_ring_deinit(struct exact_ring *r)
{
	for (size_t i = r->first; i < r->records.count; i++)
		free(r->records.data[i].kept);
	if (r->data)
		pthread_mutex_destroy(&r->lock);
	vec_deinit(&r->records);
	free(r->joined);
	r->joined = NULL;
}

/* Adds new records to the list. */
static void look(struct exact_ring *r)
{
	uint64_t head = __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);

	while (r->seen < head) {
		uint32_t word = header_word(r, r->seen);
		uint32_t size = word & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		size = (size + BPF_RINGBUF_HDR_SZ + 7) & ~7u;
		vec_push(&r->records, (struct exact_record){.position = r->seen, .size = size});
		r->seen += size;
	}
}

/* The record's piece; NULL: it is not complete yet, was discarded, or is done. */
static const struct exact_piece *piece_at(struct exact_ring *r, struct exact_record *record)
{
	if (record->is_done)
		return NULL;
	if (record->kept)
		return (const void *)record->kept;
	uint32_t word = header_word(r, record->position);

	if (word & BPF_RINGBUF_BUSY_BIT)
		return NULL;
	if ((word & BPF_RINGBUF_DISCARD_BIT) ||
		record->size < BPF_RINGBUF_HDR_SZ + sizeof(struct exact_piece)) {
		record->is_done = true;
		return NULL;
	}
	return (const void *)record_bytes(r, record);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static bool belongs(const struct exact_piece *piece, const struct exact_key *key)
{
	return piece->tid == key->tid && piece->sp == key->sp &&
	       distance(piece->time_ns, key->time_ns) <= key->slack_ns;
}

static void begin_rest(const struct exact_piece *piece, struct stack_rest *rest)
{
	rest->pieces.count = 0;
	rest->low_va = piece->low_va;
	rest->high_va = piece->high_va;
	rest->end = (enum stack_rest_end)piece->end;
	rest->is_wanted = piece->is_wanted != 0;
}

static void add_piece(
	const struct exact_record *record, const struct exact_piece *piece, struct stack_rest *rest)
{
	uint32_t room = record->size - BPF_RINGBUF_HDR_SZ - (uint32_t)sizeof(*piece);

	struct stack_piece one = {.bytes = (const uint8_t *)(piece + 1),
		.low_va = piece->va,
		.size_bytes = piece->size < room ? piece->size : room};

	if (piece->is_other)
		vec_push(&rest->others, one);
	else
		vec_push(&rest->pieces, one);
}

/*
 * The time of the sample's rest; the nearest one if times differ and there are several.
 * UINT64_MAX: there is none.
 */
static uint64_t nearest_time(struct exact_ring *r, const struct exact_key *key)
{
	uint64_t time_ns = UINT64_MAX;

	if (key->slack_ns == 0)
		return key->time_ns;
	for (size_t i = r->first; i < r->records.count; i++) {
		const struct exact_piece *piece = piece_at(r, &r->records.data[i]);

		if (piece && belongs(piece, key) &&
			distance(piece->time_ns, key->time_ns) < distance(time_ns, key->time_ns))
			time_ns = piece->time_ns;
	}
	return time_ns;
}

/* ---- out of the ring ---- */

static void keep_record(
	struct exact_ring *r, struct exact_record *record, const struct exact_piece *piece)
{
	uint64_t size = record->size - BPF_RINGBUF_HDR_SZ;
	uint64_t used = sizeof(*piece) + piece->size;

	if (used < size)
		size = used;
	record->size = (uint32_t)size + BPF_RINGBUF_HDR_SZ;
	record->kept = xalloc(size);
	memcpy(record->kept, piece, size);
	r->kept_bytes += size;
}

static void drop_kept(struct exact_ring *r, struct exact_record *record)
{
	if (!record->kept)
		return;
	r->kept_bytes -= record->size - BPF_RINGBUF_HDR_SZ;
	free(record->kept);
	record->kept = NULL;
}

/* Releases the ring up to the first record that still needs it. */
static void move_on(struct exact_ring *r)
{
	size_t i = r->gone > r->first ? r->gone : r->first;

	while (i < r->records.count &&
		(r->records.data[i].kept ||
			(r->records.data[i].is_done && !r->records.data[i].is_held)))
		i++;
	r->gone = i;
	__atomic_store_n(r->consumer, i < r->records.count ? r->records.data[i].position : r->seen,
		__ATOMIC_RELEASE);
}

void exact_ring_keep(struct exact_ring *r)
{
	pthread_mutex_lock(&r->lock);
	look(r);
	bool is_much = r->seen - *r->consumer > r->size_bytes / KEEP_PART;

	for (size_t i = r->first; is_much && i < r->records.count; i++) {
		struct exact_record *record = &r->records.data[i];
		const struct exact_piece *piece = record->kept ? NULL : piece_at(r, record);

		if (r->kept_bytes >= EXACT_KEPT_BYTES)
			break;
		if (piece)
			keep_record(r, record, piece);
	}
	if (is_much)
		move_on(r);
	pthread_mutex_unlock(&r->lock);
}

/* ---- the reader ---- */

/* Keeps the piece for the reader until the next release. */
static void hold(struct exact_ring *r, struct exact_record *record, size_t i)
{
	record->is_done = record->is_held = true;
	if (r->held_end == 0)
		r->held_begin = i;
	r->held_end = i + 1;
}

static void take_record(
	struct exact_ring *r, size_t i, const struct exact_piece *piece, struct stack_rest *rest)
{
	struct exact_record *record = &r->records.data[i];

	if (!piece->is_other && rest->pieces.count == 0)
		begin_rest(piece, rest);
	if (!record->kept && piece->high_va - piece->low_va <= COPIED_BYTES) {
		keep_record(r, record, piece);
		piece = (const void *)record->kept;
	}
	hold(r, record, i);
	add_piece(record, piece, rest);
}

static bool find(struct exact_ring *r, const struct exact_key *key, struct stack_rest *rest)
{
	rest->pieces.count = rest->others.count = 0;
	look(r);
	struct exact_key exact = {nearest_time(r, key), key->sp, key->tid, 0};

	for (size_t i = r->first; i < r->records.count; i++) {
		const struct exact_piece *piece = piece_at(r, &r->records.data[i]);

		if (piece && piece->time_ns > key->time_ns + LATER_NS)
			break;
		if (!piece || !belongs(piece, &exact))
			continue;
		bool is_last = !piece->is_other && piece->va + piece->size >= piece->high_va;

		take_record(r, i, piece, rest);
		if (is_last)
			break;
	}
	return rest->pieces.count > 0 || rest->others.count > 0;
}

bool exact_ring_find(struct exact_ring *r, const struct exact_key *key, struct stack_rest *rest)
{
	pthread_mutex_lock(&r->lock);
	bool is_found = find(r, key, rest);

	pthread_mutex_unlock(&r->lock);
	return is_found;
}

static bool is_over(struct exact_ring *r, struct exact_record *record, uint64_t before_ns)
{
	const struct exact_piece *piece = piece_at(r, record);

	if (piece && piece->time_ns < before_ns)
		record->is_done = true;
	return record->is_done;
}

static void let_go(struct exact_ring *r)
{
	for (size_t i = r->held_begin; i < r->held_end; i++) {
		struct exact_record *record = &r->records.data[i];

		if (record->is_held)
			drop_kept(r, record);
		record->is_held = false;
	}
	r->held_begin = r->held_end = 0;
}

static void release(struct exact_ring *r, uint64_t before_ns)
{
	let_go(r);
	look(r);
	while (r->first < r->records.count && is_over(r, &r->records.data[r->first], before_ns))
		drop_kept(r, &r->records.data[r->first++]);
	move_on(r);
	if (r->first == r->records.count)
		r->records.count = r->first = r->gone = 0;
}

void exact_ring_release(struct exact_ring *r, uint64_t before_ns)
{
	pthread_mutex_lock(&r->lock);
	release(r, before_ns);
	pthread_mutex_unlock(&r->lock);
}
