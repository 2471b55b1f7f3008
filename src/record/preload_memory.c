/*
 * The memory is a memfd, sealed so that nobody can make it smaller below our feet.  It is 32 GB of
 * holes; pages come with the first write, and those that a thread with a deep stack has filled are
 * given back when its slot is freed.
 */
#include "record/preload_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"

/* Of a freed slot's data, so much keeps its memory, for the next thread. */
#define KEPT_BYTES ((off_t)256 << 10)

static struct error *map(struct preload_memory *m)
{
	if (ftruncate(m->fd, (off_t)PRELOAD_FILE_BYTES) != 0)
		return error_system(errno, "memory for the preloaded library");
	/* A page that the system can't give would end whoever touches it. */
	if (fallocate(m->fd, 0, 0, (off_t)PRELOAD_DATA_OFF) != 0)
		return error_system(errno, "memory for the preloaded library");
	if (fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return error_system(errno, "sealing memory");
	void *base = mmap(NULL, PRELOAD_FILE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);

	if (base == MAP_FAILED)
		return error_system(errno, "mapping memory for the preloaded library");
	m->header = base;
	m->slots = (struct preload_slot *)(void *)((uint8_t *)base + PRELOAD_SLOTS_OFF);
	m->data = (uint8_t *)base + PRELOAD_DATA_OFF;
	return NULL;
}

struct error *preload_memory_init(struct preload_memory *m, uint64_t interval_ns)
{
	struct error *err;

	m->fd = memfd_create("sonde-preload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0)
		return error_system(errno, "memory for the preloaded library");
	err = map(m);
	if (err) {
		close(m->fd);
		*m = (struct preload_memory){0};
		return err;
	}
	atomic_store(&m->header->interval_ns, interval_ns);
	m->header->recorder_pid = getpid();
	atomic_store(&m->header->heartbeat_ns, clock_monotonic_ns());
	m->header->magic = PRELOAD_MAGIC;
	return NULL;
}

void preload_memory_deinit(struct preload_memory *m)
{
	if (!m->header)
		return;
	munmap(m->header, PRELOAD_FILE_BYTES);
	close(m->fd);
	free(m->copy);
	*m = (struct preload_memory){0};
}

uint64_t preload_memory_fresh(struct preload_memory *m, uint32_t word)
{
	_Atomic uint64_t *fresh = &m->header->fresh[word];

	if (atomic_load_explicit(fresh, memory_order_relaxed) == 0)
		return 0;
	return atomic_exchange(fresh, 0);
}

uint32_t preload_memory_waiting(struct preload_memory *m, uint32_t slot)
{
	uint32_t head = atomic_load_explicit(&m->slots[slot].head, memory_order_acquire);
	uint32_t waiting = head - m->tail[slot];

	if (waiting <= PRELOAD_RECORDS)
		return waiting;
	/* Nobody writes more than there is room for: somebody has written over it. */
	m->broken++;
	m->tail[slot] = head;
	atomic_store_explicit(&m->slots[slot].tail, head, memory_order_release);
	return 0;
}

/* The bytes of a waiting record; NULL: there are none. */
static const uint8_t *record_bytes(
	const struct preload_memory *m, uint32_t slot, uint32_t i, size_t *size)
{
	const volatile struct preload_place *shared =
		&m->slots[slot].places[(m->tail[slot] + i) % PRELOAD_RECORDS];
	struct preload_place place = {shared->offset, shared->size};

	if (place.size < sizeof(struct preload_record) || place.size > PRELOAD_DATA_BYTES ||
		place.offset > PRELOAD_DATA_BYTES - place.size)
		return NULL;
	*size = place.size;
	return m->data + slot * PRELOAD_DATA_BYTES + place.offset;
}

bool preload_memory_peek(
	const struct preload_memory *m, uint32_t slot, uint32_t i, struct preload_record *head)
{
	size_t size;
	const uint8_t *bytes = record_bytes(m, slot, i, &size);

	if (!bytes)
		return false;
	memcpy(head, bytes, sizeof(*head));
	return head->size == size;
}

const uint8_t *preload_memory_copy(struct preload_memory *m, uint32_t slot, uint32_t i)
{
	size_t size;
	const uint8_t *bytes = record_bytes(m, slot, i, &size);

	if (!bytes)
		return NULL;
	if (size > m->copy_size) {
		free(m->copy);
		m->copy = xalloc(size);
		m->copy_size = size;
	}
	memcpy(m->copy, bytes, size);
	struct preload_record head;

	memcpy(&head, m->copy, sizeof(head));
	return head.size == size ? m->copy : NULL;
}

void preload_memory_release(struct preload_memory *m, uint32_t slot, uint32_t count)
{
	m->tail[slot] += count;
	atomic_store_explicit(&m->slots[slot].tail, m->tail[slot], memory_order_release);
}

void preload_memory_mark(
	struct preload_memory *m, uint32_t slot, const struct preload_mark *marks, uint32_t count)
{
	struct preload_marks *shared =
		(struct preload_marks *)(void *)(m->data + slot * PRELOAD_DATA_BYTES);
	uint32_t version = atomic_load(&shared->version) | 1;

	atomic_store(&shared->version, version);
	atomic_thread_fence(memory_order_release);
	shared->count = count;
	if (count > 0)
		memcpy(shared->marks, marks, count * sizeof(*marks));
	atomic_store_explicit(&shared->version, version + 1, memory_order_release);
}

void preload_memory_count_lost(struct preload_memory *m, uint32_t slot)
{
	uint32_t lost = atomic_load_explicit(&m->slots[slot].lost, memory_order_relaxed);
	uint32_t more = lost - m->lost[slot];

	/* Of a counter that somebody has written over nothing is believed. */
	if (more < UINT32_MAX / 2)
		m->lost_total += more;
	m->lost[slot] = lost;
}

uint32_t preload_memory_owner(const struct preload_memory *m, uint32_t slot)
{
	return atomic_load(&m->slots[slot].owner);
}

void preload_memory_free(struct preload_memory *m, uint32_t slot)
{
	off_t data = (off_t)(PRELOAD_DATA_OFF + slot * PRELOAD_DATA_BYTES);

	preload_memory_count_lost(m, slot);
	preload_memory_mark(m, slot, NULL, 0);
	fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, data + KEPT_BYTES,
		(off_t)PRELOAD_DATA_BYTES - KEPT_BYTES);
	atomic_store(&m->slots[slot].pid, 0);
	atomic_store(&m->slots[slot].owner, 0);
}
