/*
 * A longer copy costs more, and one that is too short gives a truncated stack.  So bytes copied in
 * vain lower the limit immediately, and a missed end raises it a lot.
 *
 * Marks are set from the innermost frame outwards at distances that double.  So if the stack has
 * changed up to some frame at the next sample, the next mark outside it is at most twice as far,
 * and the copy is proportional to the change.
 *
 * A mark spans more frames than the walker must recognise in a row, as some near its inner end may
 * have changed although the return addresses in the mark have not.
 */
#include "record/engines/exact/exact_tuning.h"

#include <string.h>

/* ---- marks ---- */

enum {
	SPAN = UNWIND_REUSE_RUN + 8, /* frames of a mark */
	STEP = SPAN / EXACT_MARK_SLOTS,
	FIRST = 8,	  /* the second mark's frame; the first is the innermost */
	PRINT_BYTES = 24, /* of a frame from its sp on, by which the walker recognises it */
};

/* For this many samples, a thread does without marks after they were wrong. */
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

/* Sets the mark that begins at the given frame.  False: the stack is not deep enough. */
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

/* Between these two the program does not read the entry. */
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
	if (!thread) /* any will do, if it varies */
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

/* ---- learning ---- */

/* This much copied in vain lowers the thread's limit. */
#define WASTE_BYTES ((uint64_t)64 << 10)
#define LIMIT_MIN   ((uint64_t)8 << 10)
/* A raised limit is held for this many samples, unless it exceeds HELD_MAX. */
#define HELD_MAX   ((uint64_t)256 << 10)
#define HOLD_FIRST 1024u
#define HOLD_MAX   (1u << 16)
/* After this many samples, a request for a whole stack counts as lost. */
#define WANTED_SAMPLES 256

/* The limit was too low: hold it for a while, each time twice as long. */
static void hold_limit(struct exact_request *request)
{
	request->limit_hold = request->limit_hold ? 2 * request->limit_hold : HOLD_FIRST;
	if (request->limit_hold > HOLD_MAX)
		request->limit_hold = HOLD_MAX;
	request->limit_held = request->limit_hold;
}

/*
 * The limit matters only for stacks with an unknown end: bytes copied beyond the outermost frame
 * were in vain, and bytes beyond the limit were missing.  A thread may alternate between shallow
 * and deep stacks, such as those of coroutines.
 */
static void adapt_limit(struct exact_thread *thread, struct exact_request *request,
	const struct stack_rest *rest, uint64_t root_va, bool is_short)
{
	uint64_t limit = thread->limit_bytes;

	if (is_short && rest->pieces.count > 0 && rest->end == STACK_REST_LIMITED) {
		limit = 8 * (rest->high_va - rest->low_va);
		hold_limit(request);
	} else if (is_short && rest->pieces.count == 0) {
		limit = limit < LIMIT_MIN ? LIMIT_MIN : 8 * limit;
	} else if (request->limit_held > 0 && limit <= HELD_MAX) {
		request->limit_held--;
	} else if (!is_short && rest->pieces.count > 0 && rest->end != STACK_REST_MARKED &&
		   root_va < rest->high_va && rest->high_va - root_va > WASTE_BYTES) {
		uint64_t used = root_va > rest->low_va ? root_va - rest->low_va : 0;

		limit = 2 * used > LIMIT_MIN ? 2 * used : LIMIT_MIN;
	}
	thread->limit_bytes = limit < EXACT_STACK_BYTES_MAX ? limit : EXACT_STACK_BYTES_MAX;
}

/* Requests a whole stack if a check is due. */
static void want_whole(struct exact_thread *thread, struct exact_request *request,
	const struct unwind_history *history, bool is_served)
{
	if (is_served || ++request->age >= WANTED_SAMPLES)
		request->is_open = false;
	if (request->is_open || !unwind_history_check_due(history))
		return;
	request->is_open = true;
	request->age = 0;
	__atomic_store_n(&thread->wanted, thread->given + 1, __ATOMIC_RELEASE);
}

/*
 * Sets marks in the stack of the thread's last sample.  Marks for an earlier sample would come too
 * late; then new ones are set after the last one has been walked.
 */
static void mark_anew(const struct exact_tuning *t, struct exact_thread *thread,
	const struct unwind_history *history, uint64_t sample_ns)
{
	uint64_t last_ns = __atomic_load_n(&thread->last_ns, __ATOMIC_ACQUIRE);
	struct exact_mark marks[EXACT_MARKS];
	uint64_t distance_ns = last_ns < sample_ns ? sample_ns - last_ns : last_ns - sample_ns;

	if (distance_ns <= t->slack_ns)
		exact_thread_mark(thread, marks, exact_marks_choose(history, marks), last_ns);
}

static bool is_misled(
	const struct exact_thread *thread, const struct stack_rest *rest, bool is_short)
{
	bool is_marked =
		rest->pieces.count > 0 ? rest->end == STACK_REST_MARKED : thread->mark_count > 0;

	return is_short && is_marked;
}

/* The sp of the outermost frame of the last whole stack; 0: there is none. */
static uint64_t outermost_sp(const struct unwind_history *history)
{
	size_t count = unwind_history_count(history);

	return count > 0 ? unwind_history_frame(history, count - 1).sp : 0;
}

/*
 * The thread's entry; NULL if it has none and needs none, because its whole stack is in the dump.
 */
static struct exact_thread *entry_of(struct exact_tuning *t, const struct perf_sample *sample,
	const struct unwind_history *history, bool needs_one)
{
	uint64_t dump_end_va = sample->regs.value[UNWIND_REG_SP] + sample->stack_size;
	uint32_t tid = (uint32_t)sample->tid;
	struct exact_thread *thread = exact_threads_find(t->threads, tid);

	if (thread || (!needs_one && outermost_sp(history) <= dump_end_va))
		return thread;
	thread = exact_threads_add(t->threads, tid, EXACT_STACK_BYTES_MAX);
	t->requests[thread - t->threads] = (struct exact_request){0};
	return thread;
}

void exact_tuning_learn(struct exact_tuning *t, const struct perf_sample *sample,
	const struct stack_rest *rest, const struct unwind_history *history, bool is_short)
{
	bool is_copied = rest->pieces.count > 0;
	struct exact_thread *thread = entry_of(t, sample, history, is_copied || is_short);

	if (!thread)
		return;
	struct exact_request *request = &t->requests[thread - t->threads];

	adapt_limit(thread, request, rest, outermost_sp(history), is_short);
	if (is_misled(thread, rest, is_short)) {
		marks_trust_lose(&request->trust);
		exact_thread_mark(thread, NULL, 0, 0);
	} else if (marks_trust_ask(&request->trust) && (is_copied || thread->mark_count == 0)) {
		mark_anew(t, thread, history, sample->time_ns);
	}
	want_whole(thread, request, history, rest->is_wanted);
}
