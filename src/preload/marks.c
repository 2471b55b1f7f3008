/*
 * Marks: the part of a deep stack that need not be copied, because the recorder knows it from the
 * last sample.  The thread compares them with its own stack, so they are valid at the moment of the
 * sample.
 *
 * Several samples may wait before the recorder walks them, all taken with marks of an earlier one.
 * Each is walked with what is known of the one before it.  So a mark holds only if it was intact in
 * every sample since its own: a thread that returns and calls the same functions again has the
 * same frames, but the sample in between has made the recorder forget them.
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

/* How many of the marks may not be used any more. */
static uint32_t gone_of(
	const struct preload_thread *t, const struct preload_marks *marks, uint32_t version)
{
	if (version == t->marked.version)
		return t->marked.gone;
	/* Marks that came too late, after another sample, do not know which frames that had. */
	return marks->sample_ns == t->marked.last_ns ? 0 : UINT32_MAX;
}

uint64_t preload_marks_needed(struct preload_thread *t, uint64_t sp, uint64_t end_va)
{
	const struct preload_marks *marks = (const void *)t->lane.data;
	uint32_t version = atomic_load_explicit(&marks->version, memory_order_acquire);
	uint32_t count = marks->count;
	uint64_t need_va = end_va;

	if (t->lane.backed_bytes == 0 || version % 2 != 0)
		return end_va - sp;
	uint32_t gone = gone_of(t, marks, version);

	while (gone < count && gone < PRELOAD_MARKS && !is_intact(&marks->marks[gone], sp, end_va))
		gone++;
	if (gone < count && gone < PRELOAD_MARKS)
		need_va = marks->marks[gone].need_va;
	atomic_thread_fence(memory_order_acquire);
	if (atomic_load_explicit(&marks->version, memory_order_relaxed) != version)
		return end_va - sp;
	t->marked.version = version;
	t->marked.gone = gone;
	return (need_va < sp || need_va > end_va ? end_va : need_va) - sp;
}

void preload_marks_sampled(struct preload_thread *t, uint64_t time_ns)
{
	struct preload_marks *marks = (void *)t->lane.data;

	t->marked.last_ns = time_ns;
	atomic_store_explicit(&marks->last_ns, time_ns, memory_order_release);
}
