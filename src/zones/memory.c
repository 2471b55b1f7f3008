/*
 * The first thread that enters a zone creates the zones memory, under the lock.  Until then, a
 * program with zones has only a few static words.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "zones/runtime.h"

struct zones_runtime zones_rt = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint32_t zones_slow;

/* Their zone does not exist, so no entry ever finds a child in them. */
#define NOWHERE(self)                                                                              \
	{                                                                                          \
		.zone = UINT32_MAX,                                                                \
		.child = {&self, &self, &self, &self, &self, &self, &self, &self},                 \
	}
Prof_Zone_Stack zones_nowhere = NOWHERE(zones_nowhere);
Prof_Zone_Stack Prof_dummy = NOWHERE(Prof_dummy);

__thread Prof_Thread_ Prof_thread_ __attribute__((tls_model("initial-exec"))) = {
	.top = &zones_nowhere,
	.mode = Prof_UNTOLD_,
};

struct zonewire_header *zones_header(void)
{
	return __atomic_load_n(&zones_rt.memory.header, __ATOMIC_ACQUIRE);
}

void *zones_private(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void zones_private_free(void *memory, size_t bytes)
{
	if (memory)
		munmap(memory, bytes);
}

/* The program's private data of slots and zones, in one allocation. */
static bool private_make(const struct zonewire_header *header)
{
	size_t slots = sizeof(*zones_rt.slot) * header->slots.capacity;
	size_t objects = sizeof(*zones_rt.object) * header->zones.capacity;
	size_t hash_count = 2 * (size_t)header->zones.capacity;
	uint8_t *memory = zones_private(slots + objects + sizeof(*zones_rt.zone_hash) * hash_count);

	if (!memory)
		return false;
	zones_rt.slot = (void *)memory;
	zones_rt.object = (void *)(memory + slots);
	zones_rt.zone_hash = (void *)(memory + slots + objects);
	zones_rt.zone_hash_mask = (uint32_t)hash_count - 1;
	return true;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now = {0, 0};

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void header_start(struct zonewire_header *header)
{
	header->magic = ZONEWIRE_MAGIC;
	header->version = ZONEWIRE_VERSION;
	header->header_bytes = sizeof(*header);
	header->pid = (int32_t)getpid();
	header->generation = 1;
	header->strings_used = 1; /* offset 0: unknown */
	header->stream_count = 1;
	memcpy(header->stream[0].name, "frame", sizeof("frame"));
	zones_put_text(header->program, sizeof(header->program), program_invocation_short_name);
	zones_clock_start(header);
	header->start_unix_ns = (uint64_t)clock_ns(CLOCK_REALTIME);
	header->stream[0].last_end_ticks = header->start_ticks;
	memcpy(header->trouble, zones_rt.lost, sizeof(header->trouble));
}

static void environment_apply(struct zonewire_header *header)
{
	if (zones_env.events)
		zones_rt.events_on = true;
	if (zones_env.off)
		__atomic_fetch_or(&zones_slow, ZONES_OFF, __ATOMIC_RELAXED);
	header->is_off = (Prof_GET_(zones_slow) & ZONES_OFF) != 0;
}

/* A process may be short of address space, and less memory is better than none. */
static void *map_some(size_t *bytes)
{
	void *base = NULL;

	for (*bytes = 64 << 20; !base && *bytes >= 1 << 20; *bytes /= 4)
		base = zones_backing_map(*bytes, false);
	*bytes *= 4;
	return base;
}

/*
 * Runs before main, if there is one: both calls may allocate, which entering the first zone should
 * not.
 */
__attribute__((constructor)) static void runtime_start(void)
{
	zones_slots_start();
	zones_fork_start();
}

/*
 * Runs after the handlers of exit, although destructors of other objects and other threads may
 * still enter zones.  A child that shares its parent's memory must not do this.  The program's own
 * clock may no longer be called; the header has its last value.
 */
__attribute__((destructor)) static void runtime_end(void)
{
	struct zonewire_header *header = zones_header();

	if (!header || header->pid != (int32_t)getpid())
		return;
	if (header->clock == ZONEWIRE_CLOCK_CALLED)
		Prof_PUT_(header->exit_ticks, Prof_GET_(header->now_ticks));
	else
		Prof_PUT_(header->exit_ticks, zones_now());
}

static bool memory_make(void)
{
	struct zonewire_header *header;
	size_t bytes;

	zones_environment_read();
	header = map_some(&bytes);
	if (header)
		zones_layout(header, bytes);
	if (!header || !private_make(header)) {
		Prof_PUT_(zones_rt.has_failed, true);
		return false;
	}
	header_start(header);
	environment_apply(header);
	zones_slots_start();
	zones_fork_start();
	/* First, because memory without a home is that of a forked child's parent. */
	zones_home_start();
	zones_layout_map(&zones_rt.memory, header, bytes);
	zones_table_start();
	zones_backing_notify();
	return true;
}

/*
 * Opening files is a cancellation point, and a thread must not end there while it holds the lock.
 */
bool zones_memory_make(void)
{
	int saved_errno = errno, cancel;
	bool is_made;

	if (zones_rt.memory.header)
		return true;
	if (zones_rt.has_failed)
		return false;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	is_made = memory_make();
	pthread_setcancelstate(cancel, &cancel);
	errno = saved_errno;
	return is_made;
}
