/*
 * mlockall: a program that locks all its mappings would also lock, and so allocate, the library's
 * 64 GB of holes.  So before the call, all slots except those of its own threads are unmapped;
 * threads created afterwards are not sampled.
 */
#include "preload/preload.h"

#include <dlfcn.h>
#include <sys/mman.h>

#include "preload/raw.h"

#ifndef MCL_ONFAULT
#define MCL_ONFAULT 4
#endif

/* A bit for each slot owned by a thread of this process. */
static _Atomic uint64_t own[PRELOAD_SLOTS / 64];

void preload_lock_note(uint32_t slot, bool is_own)
{
	uint64_t bit = UINT64_C(1) << (slot % 64);

	if (is_own)
		atomic_fetch_or(&own[slot / 64], bit);
	else
		atomic_fetch_and(&own[slot / 64], ~bit);
}

static bool is_own(uint32_t slot)
{
	return atomic_load(&own[slot / 64]) >> (slot % 64) & 1;
}

static void unmap_slots(uint32_t begin, uint32_t end)
{
	uint8_t *data = (uint8_t *)preload_process.header + PRELOAD_DATA_OFF;

	if (begin < end)
		raw2(SYS_munmap, data + begin * PRELOAD_DATA_BYTES,
			(end - begin) * PRELOAD_DATA_BYTES);
}

static void unmap_others(void)
{
	uint32_t count = preload_process.slot_count, begin = 0;

	preload_process.slot_count = 0;
	if (preload_process.in_pieces)
		return;
	for (uint32_t slot = 0; slot < count; slot++) {
		if (!is_own(slot))
			continue;
		unmap_slots(begin, slot);
		begin = slot + 1;
	}
	unmap_slots(begin, count);
}

preload_exported int mlockall(int flags)
{
	static _Atomic(int (*)(int)) real;
	int (*lock)(int) = real;

	if (!lock)
		real = lock = (int (*)(int))dlsym(RTLD_NEXT, "mlockall");
	if (preload_process.on && (flags & MCL_CURRENT) && !(flags & MCL_ONFAULT))
		unmap_others();
	return lock(flags);
}
