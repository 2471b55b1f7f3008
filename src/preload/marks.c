/*
 * Marks: the part of a deep stack that need not be copied, because the recorder knows it from the
 * last sample.  The thread compares them with its own stack, so they are valid at the moment of the
 * sample.
 */
#include "preload/preload.h"

#include <string.h>

#include "unwind/print.h"

/* A return address and the three words above it. */
#define SLOT_BYTES 32

static bool is_intact(const struct preload_mark *mark, uint64_t sp, uint64_t end_va)
{
	for (size_t i = 0; i < PRELOAD_MARK_SLOTS; i++) {
		uint64_t va = mark->slot_va[i], words[4];

		if (va < sp || va >= end_va || end_va - va < SLOT_BYTES)
			return false;
		memcpy(words, (const void *)(uintptr_t)va, sizeof(words));
		if (words[0] != mark->pc[i] || unwind_print(words + 1) != mark->print[i])
			return false;
	}
	return true;
}

uint64_t preload_marks_needed(const struct preload_thread *t, uint64_t sp, uint64_t end_va)
{
	const struct preload_marks *marks = (const void *)t->lane.data;
	uint32_t version = atomic_load_explicit(&marks->version, memory_order_acquire);
	uint32_t count = marks->count;
	uint64_t need_va = end_va;

	if (t->lane.backed_bytes == 0 || version % 2 != 0)
		return end_va - sp;
	for (uint32_t i = 0; i < count && i < PRELOAD_MARKS; i++) {
		if (!is_intact(&marks->marks[i], sp, end_va))
			continue;
		need_va = marks->marks[i].need_va;
		break;
	}
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&marks->version, memory_order_relaxed) != version ||
		need_va < sp || need_va > end_va)
		need_va = end_va;
	return need_va - sp;
}
