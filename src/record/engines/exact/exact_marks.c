/*
 * Marks are laid from the innermost frame outwards at distances that double.  So if the next sample
 * finds the stack changed down to some frame, the next mark outside of that is no further than
 * twice as far, and what is copied is in proportion to what has changed.
 *
 * A mark spans more frames than the walker must recognise in a row, as some near its inner end may
 * have changed without the return addresses that the mark consists of.
 */
#include "record/engines/exact/exact_marks.h"

#include <string.h>

enum {
	SPAN = UNWIND_REUSE_RUN + 8, /* frames of a mark */
	STEP = SPAN / EXACT_MARK_SLOTS,
	FIRST = 8,	  /* the second mark's frame; the first is the innermost */
	PRINT_BYTES = 24, /* of a frame, from its sp on, that the walker looks at to recognise it */
};

/* So many samples without marks where they have misled us. */
#define WITHOUT_MIN 256u
#define WITHOUT_MAX (1u << 16)

void marks_trust_lose(struct marks_trust *trust)
{
	uint32_t again = 2 * trust->lately;

	trust->lately = again < WITHOUT_MIN ? WITHOUT_MIN : again;
	if (trust->lately > WITHOUT_MAX)
		trust->lately = WITHOUT_MAX;
	trust->samples_without = trust->lately;
}

bool marks_trust_ask(struct marks_trust *trust)
{
	if (trust->samples_without == 0)
		return true;
	trust->samples_without--;
	return false;
}

/* Fills in the mark whose innermost frame is the given one. False: the stack is not as deep. */
static bool fill_mark(
	const struct unwind_history *history, size_t innermost, struct exact_mark *mark)
{
	size_t count = unwind_history_count(history), slots = 0;

	if (innermost + SPAN >= count)
		return false;
	for (size_t i = 0; i < SPAN && slots < EXACT_MARK_SLOTS; i++) {
		struct unwind_kept frame = unwind_history_frame(history, innermost + i);

		if (i < slots * STEP || !frame.is_plain)
			continue;
		mark->slot_va[slots] = frame.sp - 8;
		mark->pc[slots] = frame.pc;
		mark->print[slots] = frame.print;
		slots++;
	}
	mark->need_va = unwind_history_frame(history, innermost + SPAN).sp + PRINT_BYTES;
	return slots == EXACT_MARK_SLOTS;
}

uint32_t exact_marks_choose(
	const struct unwind_history *history, struct exact_mark marks[EXACT_MARKS])
{
	size_t count = unwind_history_count(history);
	uint32_t chosen = 0;

	for (size_t i = 0; i < count && chosen < EXACT_MARKS; i = i ? 2 * i : FIRST)
		chosen += fill_mark(history, i, &marks[chosen]);
	return chosen;
}

static struct exact_thread *probe(struct exact_thread *threads, uint32_t tid, uint32_t i)
{
	return &threads[(exact_hash(tid) + i) % EXACT_THREADS];
}

static struct exact_thread *find(struct exact_thread *threads, uint32_t tid, uint32_t wanted)
{
	for (uint32_t i = 0; i < EXACT_PROBES; i++) {
		struct exact_thread *thread = probe(threads, tid, i);

		if (thread->tid == wanted)
			return thread;
	}
	return NULL;
}

struct exact_thread *exact_threads_find(struct exact_thread *threads, uint32_t tid)
{
	return find(threads, tid, tid);
}

/* Between these the program takes nothing from the entry. */
static void begin_write(struct exact_thread *thread)
{
	__atomic_store_n(&thread->version, thread->version | 1, __ATOMIC_SEQ_CST);
}

static void end_write(struct exact_thread *thread)
{
	__atomic_store_n(&thread->version, thread->version + 1, __ATOMIC_RELEASE);
}

struct exact_thread *exact_threads_add(
	struct exact_thread *threads, uint32_t tid, uint64_t limit_bytes)
{
	struct exact_thread *thread = find(threads, tid, tid);

	if (thread)
		return thread;
	thread = find(threads, tid, 0);
	if (!thread) /* which of them is of no matter, if it is not always the same */
		thread = probe(threads, tid, tid % EXACT_PROBES);
	begin_write(thread);
	thread->tid = tid;
	thread->limit_bytes = limit_bytes;
	thread->mark_count = 0;
	thread->wanted = thread->given;
	end_write(thread);
	return thread;
}

void exact_thread_mark(struct exact_thread *thread, const struct exact_mark *marks,
	uint32_t mark_count, uint64_t marks_ns)
{
	begin_write(thread);
	if (mark_count > 0)
		memcpy(thread->marks, marks, mark_count * sizeof(*marks));
	thread->mark_count = mark_count;
	thread->marks_ns = marks_ns;
	end_write(thread);
}
