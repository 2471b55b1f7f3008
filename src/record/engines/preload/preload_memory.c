/*
 * The memory is a sparse memfd of 64 GB, sealed so that nobody can shrink it while we use it.
 * Pages are allocated at the first write, and those filled by a thread with a deep stack are
 * released when its slot is freed.
 *
 * Limits may prevent that.  A limit on file sizes that we cannot raise also applies to memfds, but
 * not to System V segments.  If there is not enough address space for all of it, only the slots are
 * mapped, and their data is read as from a file.
 */
#include "record/engines/preload/preload_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "record/processes/proc.h"

/* A freed slot keeps this much of its data's memory for the next thread. */
#define KEPT_BYTES ((uint64_t)256 << 10)

/* Failures are ours, not the command's: ERROR_SYSTEM is for its exec. */
static struct error *failure(int code, const char *what)
{
	return error_new(ERROR_UNSUPPORTED, "%s: %s", what, strerror(code));
}

/* ---- a file ---- */

/*
 * If the system runs out of pages, touching one would kill the process.  So the slots get their
 * pages now.
 */
static int file_resize(int fd)
{
	struct rlimit limit, more = {RLIM_INFINITY, RLIM_INFINITY};
	int code = 0;

	getrlimit(RLIMIT_FSIZE, &limit);
	if (setrlimit(RLIMIT_FSIZE, &more) != 0) {
		more = (struct rlimit){limit.rlim_max, limit.rlim_max};
		setrlimit(RLIMIT_FSIZE, &more);
	}
	if (ftruncate(fd, (off_t)PRELOAD_FILE_BYTES) != 0 ||
		fallocate(fd, 0, 0, (off_t)PRELOAD_DATA_OFF) != 0)
		code = errno;
	setrlimit(RLIMIT_FSIZE, &limit);
	return code;
}

static struct error *file_make(struct preload_memory *m)
{
	int code;

	m->fd = memfd_create("sonde-preload", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (m->fd < 0)
		return failure(errno, "memory for the preloaded library");
	code = file_resize(m->fd);
	if (code == 0 && fcntl(m->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		code = errno;
	if (code == 0)
		return NULL;
	close(m->fd);
	m->fd = -1;
	return code == EFBIG ? NULL : failure(code, "memory for the preloaded library");
}

static struct error *file_map(struct preload_memory *m)
{
	size_t size = PRELOAD_FILE_BYTES;
	void *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);

	if (base == MAP_FAILED && errno == ENOMEM) {
		size = PRELOAD_DATA_OFF;
		base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
	}
	if (base == MAP_FAILED)
		return failure(errno, "mapping memory for the preloaded library");
	m->header = base;
	if (size == PRELOAD_FILE_BYTES)
		m->data = (uint8_t *)base + PRELOAD_DATA_OFF;
	return NULL;
}

/* ---- a segment ---- */

/*
 * Already marked for removal, it lives until the last process unmaps it; until then it can still be
 * mapped.
 */
static struct error *segment_make(struct preload_memory *m)
{
	m->shmid = shmget(IPC_PRIVATE, PRELOAD_FILE_BYTES, IPC_CREAT | SHM_NORESERVE | 0600);
	if (m->shmid < 0)
		return failure(errno,
			"shared memory for the preloaded library, used because of `ulimit -f`");
	void *base = shmat(m->shmid, NULL, 0);
	int code = errno;

	shmctl(m->shmid, IPC_RMID, NULL);
	if ((intptr_t)base == -1)
		return failure(code,
			"shared memory for the preloaded library, used because of `ulimit -f`");
	m->header = base;
	m->data = (uint8_t *)base + PRELOAD_DATA_OFF;
	return NULL;
}

/* ---- both ---- */

struct error *preload_memory_init(struct preload_memory *m, uint64_t interval_ns)
{
	struct error *err = file_make(m);

	if (!err)
		err = m->fd >= 0 ? file_map(m) : segment_make(m);
	if (err) {
		if (m->fd >= 0)
			close(m->fd);
		*m = (struct preload_memory){0};
		return err;
	}
	m->slots = (struct preload_slot *)(void *)((uint8_t *)m->header + PRELOAD_SLOTS_OFF);
	atomic_store(&m->header->interval_ns, interval_ns);
	m->header->recorder_pid = getpid();
	m->header->filters = proc_seccomp_filters(getpid(), getpid());
	atomic_store(&m->header->heartbeat_ns, clock_monotonic_ns());
	m->header->magic = PRELOAD_MAGIC;
	return NULL;
}

void preload_memory_deinit(struct preload_memory *m)
{
	if (!m->header)
		return;
	if (m->fd < 0)
		shmdt(m->header);
	else
		munmap(m->header, m->data ? PRELOAD_FILE_BYTES : PRELOAD_DATA_OFF);
	if (m->fd >= 0)
		close(m->fd);
	free(m->copy);
	*m = (struct preload_memory){0};
}

struct preload_address preload_memory_address(const struct preload_memory *m)
{
	struct preload_address address;

	if (m->fd >= 0)
		snprintf(
			address.text, sizeof(address.text), "/proc/%d/fd/%d", (int)getpid(), m->fd);
	else
		snprintf(address.text, sizeof(address.text), "%s%d", PRELOAD_SEGMENT, m->shmid);
	return address;
}

struct sought {
	const struct preload_memory *memory;
	bool found;
};

/* A segment's inode is its id. */
static void look_at_line(void *context, const struct maps_line *line)
{
	struct sought *sought = context;
	const struct preload_memory *m = sought->memory;

	if (m->fd >= 0 ? str_starts_with(line->path, STR("/memfd:sonde-preload"))
		       : (str_starts_with(line->path, STR("/SYSV")) &&
				 line->inode == (uint64_t)m->shmid))
		sought->found = true;
}

bool preload_memory_is_mapped(const struct preload_memory *m, int64_t pid)
{
	struct sought sought = {m, false};

	maps_read(pid, look_at_line, &sought);
	return sought.found;
}

/* Reads bytes of the data.  False: not all could be read. */
static bool data_read(const struct preload_memory *m, uint64_t at, void *bytes, size_t size)
{
	if (m->data)
		memcpy(bytes, m->data + at, size);
	else
		return pread(m->fd, bytes, size, (off_t)(PRELOAD_DATA_OFF + at)) == (ssize_t)size;
	return true;
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
	/* The library never writes more than fits: something has overwritten it. */
	m->broken++;
	m->tail[slot] = head;
	atomic_store_explicit(&m->slots[slot].tail, head, memory_order_release);
	return 0;
}

/* The position of a waiting record in the data.  False: invalid. */
static bool record_place(
	const struct preload_memory *m, uint32_t slot, uint32_t i, uint64_t *at, size_t *size)
{
	uint64_t of_place = slot * PRELOAD_DATA_BYTES + PRELOAD_PLACES_OFF +
			    (m->tail[slot] + i) % PRELOAD_RECORDS * sizeof(struct preload_place);
	struct preload_place place;

	if (!data_read(m, of_place, &place, sizeof(place)))
		return false;
	/* Or the compiler might read it again after the check. */
	atomic_signal_fence(memory_order_seq_cst);
	if (place.size < sizeof(struct preload_record) || place.size > PRELOAD_DATA_BYTES ||
		place.offset > PRELOAD_DATA_BYTES - place.size)
		return false;
	*size = place.size;
	*at = slot * PRELOAD_DATA_BYTES + place.offset;
	return true;
}

bool preload_memory_peek(
	const struct preload_memory *m, uint32_t slot, uint32_t i, struct preload_record *head)
{
	uint64_t at;
	size_t size;

	return record_place(m, slot, i, &at, &size) && data_read(m, at, head, sizeof(*head)) &&
	       head->size == size;
}

const uint8_t *preload_memory_copy(struct preload_memory *m, uint32_t slot, uint32_t i)
{
	struct preload_record head;
	uint64_t at;
	size_t size;

	if (!record_place(m, slot, i, &at, &size))
		return NULL;
	if (size > m->copy_size) {
		free(m->copy);
		m->copy = xalloc(size);
		m->copy_size = size;
	}
	if (!data_read(m, at, m->copy, size))
		return NULL;
	memcpy(&head, m->copy, sizeof(head));
	return head.size == size ? m->copy : NULL;
}

static bool parts_read(const uint8_t *bytes, size_t size, struct stack_rest *rest)
{
	struct preload_part part;

	rest->pieces.count = rest->others.count = 0;
	for (size_t at = 0; at < size; at += part.bytes) {
		if (size - at < sizeof(part) || rest->others.count == PRELOAD_PARTS)
			return false;
		memcpy(&part, bytes + at, sizeof(part));
		at += sizeof(part);
		if (part.bytes > size - at)
			return false;
		vec_push(&rest->others, (struct stack_piece){bytes + at, part.va, part.bytes});
	}
	return true;
}

bool preload_sample_read(const uint8_t *body, size_t size, struct perf_sample *sample,
	struct stack_rest *rest, uint64_t *took_ns)
{
	struct preload_sample head;

	if (size < sizeof(head))
		return false;
	memcpy(&head, body, sizeof(head));
	size -= sizeof(head);
	if (head.stack_bytes > size)
		return false;
	sample->cpu = head.cpu;
	sample->has_user = true;
	sample->stack = body + sizeof(head);
	sample->stack_size = head.stack_bytes;
	_Static_assert(PRELOAD_REGS == UNWIND_REG_COUNT, "the registers have DWARF's numbers");
	memcpy(sample->regs.value, head.regs, sizeof(head.regs));
	sample->regs.known = (1u << PRELOAD_REGS) - 1;
	sample->ip = sample->regs.value[UNWIND_REG_PC];
	*took_ns = head.took_ns;
	return parts_read(sample->stack + head.stack_bytes, size - head.stack_bytes, rest);
}

void preload_memory_release(struct preload_memory *m, uint32_t slot, uint32_t count)
{
	m->tail[slot] += count;
	atomic_store_explicit(&m->slots[slot].tail, m->tail[slot], memory_order_release);
}

/* During the write, the thread sees an odd version and reads nothing. */
static void mark_as_file(
	const struct preload_memory *m, uint32_t slot, const struct preload_known *known)
{
	off_t at = (off_t)(PRELOAD_DATA_OFF + slot * PRELOAD_DATA_BYTES);
	uint32_t head[2] = {0, known->count};

	if (pread(m->fd, head, sizeof(head[0]), at) != sizeof(head[0]))
		return;
	head[0] |= 1;
	if (pwrite(m->fd, head, sizeof(head), at) != sizeof(head) ||
		pwrite(m->fd, &known->sample_ns, sizeof(known->sample_ns),
			at + (off_t)offsetof(struct preload_marks, sample_ns)) < 0)
		return;
	if (known->count > 0 && pwrite(m->fd, known->marks, known->count * sizeof(*known->marks),
					at + (off_t)offsetof(struct preload_marks, marks)) < 0)
		return;
	head[0]++;
	(void)!pwrite(m->fd, head, sizeof(head[0]), at);
}

void preload_memory_mark(struct preload_memory *m, uint32_t slot, const struct preload_known *known)
{
	if (!m->data) {
		mark_as_file(m, slot, known);
		return;
	}
	struct preload_marks *shared =
		(struct preload_marks *)(void *)(m->data + slot * PRELOAD_DATA_BYTES);
	uint32_t version = atomic_load(&shared->version) | 1;

	atomic_store(&shared->version, version);
	atomic_thread_fence(memory_order_release);
	shared->count = known->count;
	shared->sample_ns = known->sample_ns;
	if (known->count > 0)
		memcpy(shared->marks, known->marks, known->count * sizeof(*known->marks));
	atomic_store_explicit(&shared->version, version + 1, memory_order_release);
}

void preload_memory_tell_go(struct preload_memory *m, uint32_t slot, uint32_t below)
{
	atomic_store_explicit(&m->slots[slot].go_below, below, memory_order_relaxed);
}

uint64_t preload_memory_last_ns(const struct preload_memory *m, uint32_t slot)
{
	uint64_t at = slot * PRELOAD_DATA_BYTES + offsetof(struct preload_marks, last_ns);
	uint64_t last_ns = 0;

	if (m->data)
		return atomic_load_explicit(
			(_Atomic uint64_t *)(void *)(m->data + at), memory_order_acquire);
	return data_read(m, at, &last_ns, sizeof(last_ns)) ? last_ns : 0;
}

void preload_memory_count_lost(struct preload_memory *m, uint32_t slot)
{
	uint32_t lost = atomic_load_explicit(&m->slots[slot].lost, memory_order_relaxed);
	uint32_t more = lost - m->lost[slot];

	/* An overwritten counter is ignored. */
	if (more < UINT32_MAX / 2)
		m->lost_total += more;
	m->lost[slot] = lost;
}

uint32_t preload_memory_owner(const struct preload_memory *m, uint32_t slot)
{
	return atomic_load(&m->slots[slot].owner);
}

static void give_back(const struct preload_memory *m, uint32_t slot)
{
	uint64_t at = slot * PRELOAD_DATA_BYTES + KEPT_BYTES;
	uint64_t size = PRELOAD_DATA_BYTES - KEPT_BYTES;

	if (m->fd < 0)
		madvise(m->data + at, size, MADV_REMOVE);
	else
		fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)(PRELOAD_DATA_OFF + at), (off_t)size);
}

void preload_memory_free(struct preload_memory *m, uint32_t slot)
{
	preload_memory_count_lost(m, slot);
	preload_memory_mark(m, slot, &(struct preload_known){0});
	preload_memory_tell_go(m, slot, 0);
	give_back(m, slot);
	atomic_store(&m->slots[slot].pid, 0);
	atomic_store(&m->slots[slot].owner, 0);
}
