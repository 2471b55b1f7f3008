/*
 * The exact engine's two ends: the ring of stack pieces, written here as the kernel would, and the
 * marks in a thread's last stack; and the memory that is put together of dump and pieces.
 */
#include "record/engines/exact/exact_ring.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/bpf.h>

#include "../fake_stack.h"
#include "../unit.h"
#include "base/alloc.h"
#include "record/engines/exact/exact_tuning.h"
#include "record/stacks/stack_memory.h"
#include "unwind/step.h"

/* ---- a ring ---- */

enum { RING_BYTES = 1 << 16, SP = 0x7000, TID = 7 };

struct fake_ring {
	uint64_t consumer, producer;
	_Alignas(8) uint8_t data[RING_BYTES];
	struct exact_ring ring;
	struct stack_rest rest;
};

static struct fake_ring *fake_ring_create(uint64_t from)
{
	struct fake_ring *f = xalloc(sizeof(*f));

	f->consumer = f->producer = from;
	exact_ring_init(&f->ring, &f->consumer, &f->producer, f->data, RING_BYTES);
	return f;
}

static void fake_ring_destroy(struct fake_ring *f)
{
	exact_ring_deinit(&f->ring);
	vec_deinit(&f->rest.pieces);
	vec_deinit(&f->rest.others);
	free(f);
}

static void put(struct fake_ring *f, uint64_t position, const void *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		f->data[(position + i) % RING_BYTES] = ((const uint8_t *)bytes)[i];
}

/* Appends a record of a piece whose bytes are all `fill`; returns its position. */
static uint64_t add(
	struct fake_ring *f, const struct exact_piece *piece, uint8_t fill, uint32_t flags)
{
	uint64_t position = f->producer;
	uint32_t size = (uint32_t)sizeof(*piece) + piece->size;
	uint32_t header[2] = {size | flags, 0};
	uint8_t *bytes = xalloc(piece->size);

	memset(bytes, fill, piece->size);
	put(f, position, header, sizeof(header));
	put(f, position + sizeof(header), piece, sizeof(*piece));
	put(f, position + sizeof(header) + sizeof(*piece), bytes, piece->size);
	free(bytes);
	f->producer += (sizeof(header) + size + 7) & ~7u;
	return position;
}

/* A piece of the rest [0x8000, 0x8000 + 2 * 4096) of a sample. */
static struct exact_piece piece_of(uint64_t time_ns, unsigned int index)
{
	return (struct exact_piece){.time_ns = time_ns,
		.sp = SP,
		.va = 0x8000 + index * 4096,
		.low_va = 0x8000,
		.high_va = 0x8000 + 2 * 4096,
		.tid = TID,
		.size = 4096};
}

static bool find(struct fake_ring *f, uint64_t time_ns, uint64_t slack_ns)
{
	struct exact_key key = {time_ns, SP, TID, slack_ns};

	return exact_ring_find(&f->ring, &key, &f->rest);
}

static void assert_rest(const struct fake_ring *f, uint8_t first, uint8_t second)
{
	assert_int_equal(f->rest.pieces.count, 2);
	assert_int_equal(f->rest.pieces.data[0].low_va, 0x8000);
	assert_int_equal(f->rest.pieces.data[1].low_va, 0x9000);
	for (size_t i = 0; i < 4096; i++) {
		assert_int_equal(f->rest.pieces.data[0].bytes[i], first);
		assert_int_equal(f->rest.pieces.data[1].bytes[i], second);
	}
}

/* Two samples, their pieces interleaved; the one that is later in the ring is asked for first. */
TEST(test_interleaved)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece a[] = {piece_of(100, 0), piece_of(100, 1)};
	struct exact_piece b[] = {piece_of(101, 0), piece_of(101, 1)};

	add(f, &a[0], 1, 0);
	uint64_t second = add(f, &b[0], 2, 0);
	add(f, &a[1], 3, 0);
	add(f, &b[1], 4, 0);
	assert_false(find(f, 99, 0));
	assert_true(find(f, 101, 0));
	assert_rest(f, 2, 4);
	exact_ring_release(&f->ring, 0);
	assert_int_equal(f->consumer, 0);
	assert_true(find(f, 100, 0));
	assert_rest(f, 1, 3);
	assert_int_equal(f->rest.high_va, 0xa000);
	assert_true(f->consumer < second);
	exact_ring_release(&f->ring, 0);
	assert_int_equal(f->consumer, f->producer);
	assert_false(find(f, 100, 0));
	fake_ring_destroy(f);
}

TEST(test_others)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece thread = piece_of(100, 0), sp = piece_of(100, 0);

	thread.tid++;
	sp.sp += 8;
	add(f, &thread, 1, 0);
	add(f, &sp, 1, 0);
	assert_false(find(f, 100, 0));
	fake_ring_destroy(f);
}

/* Pieces of another stack come before the rest, and alone if the sample has all of its own. */
TEST(test_another_stack)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece other = piece_of(100, 5), own[] = {piece_of(100, 0), piece_of(100, 1)};

	other.is_other = 1;
	other.low_va = other.va;
	other.high_va = other.va + other.size;
	add(f, &other, 9, 0);
	assert_true(find(f, 100, 0));
	assert_int_equal(f->rest.pieces.count, 0);
	assert_int_equal(f->rest.others.count, 1);
	assert_int_equal(f->rest.others.data[0].low_va, 0x8000 + 5 * 4096);
	assert_int_equal(f->rest.others.data[0].bytes[4095], 9);
	exact_ring_release(&f->ring, 0);
	add(f, &other, 8, 0);
	add(f, &own[0], 1, 0);
	add(f, &own[1], 2, 0);
	assert_true(find(f, 100, 0));
	assert_rest(f, 1, 2);
	assert_int_equal(f->rest.low_va, 0x8000);
	assert_int_equal(f->rest.others.count, 1);
	assert_int_equal(f->rest.others.data[0].bytes[0], 8);
	fake_ring_destroy(f);
}

/* A record that is still being written hides nothing behind it, and holds the room after it. */
TEST(test_busy)
{
	struct fake_ring *f = fake_ring_create(4096);
	struct exact_piece other = piece_of(50, 0), a[] = {piece_of(100, 0), piece_of(100, 1)};
	uint32_t size = sizeof(other) + other.size;

	uint64_t busy = add(f, &other, 9, BPF_RINGBUF_BUSY_BIT);
	add(f, &a[0], 8, BPF_RINGBUF_DISCARD_BIT);
	add(f, &a[0], 1, 0);
	add(f, &a[1], 2, 0);
	assert_true(find(f, 100, 0));
	assert_rest(f, 1, 2);
	exact_ring_release(&f->ring, 1000);
	assert_int_equal(f->consumer, busy);
	put(f, busy, &size, sizeof(size));
	assert_true(find(f, 50, 0));
	assert_int_equal(f->rest.pieces.count, 1);
	assert_int_equal(f->rest.pieces.data[0].bytes[0], 9);
	exact_ring_release(&f->ring, 0);
	assert_int_equal(f->consumer, f->producer);
	fake_ring_destroy(f);
}

/* What is asked for no more is given back by its age. */
TEST(test_lost_samples)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece a = piece_of(100, 0), b = piece_of(200, 0);

	add(f, &a, 1, 0);
	uint64_t second = add(f, &b, 1, 0);
	exact_ring_release(&f->ring, 100);
	assert_int_equal(f->consumer, 0);
	exact_ring_release(&f->ring, 101);
	assert_int_equal(f->consumer, second);
	assert_true(find(f, 200, 0));
	fake_ring_destroy(f);
}

/* What waits is moved out of the ring, and is found all the same; also what the reader has not. */
TEST(test_kept)
{
	struct fake_ring *f = fake_ring_create(0);

	for (uint64_t time_ns = 100; time_ns < 104; time_ns++)
		for (unsigned int i = 0; i < 2; i++) {
			struct exact_piece piece = piece_of(time_ns, i);

			add(f, &piece, (uint8_t)(time_ns + i), 0);
		}
	assert_true(find(f, 101, 0));
	exact_ring_keep(&f->ring);
	assert_int_equal(f->consumer, f->producer);
	assert_true(f->ring.kept_bytes > 0);
	memset(f->data, 0, sizeof(f->data));
	assert_rest(f, 101, 102);
	assert_true(find(f, 103, 0));
	assert_rest(f, 103, 104);
	assert_true(find(f, 100, 0));
	assert_rest(f, 100, 101);
	exact_ring_release(&f->ring, 103);
	assert_int_equal(f->ring.kept_bytes, 0);
	fake_ring_destroy(f);
}

/* Little is left where it is: so it need not be copied. */
TEST(test_not_kept)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece piece = piece_of(100, 0);

	add(f, &piece, 1, 0);
	exact_ring_keep(&f->ring);
	assert_int_equal(f->consumer, 0);
	assert_int_equal(f->ring.kept_bytes, 0);
	fake_ring_destroy(f);
}

/* Records that wrap round the end, wherever that is. */
TEST(test_wraps)
{
	for (uint64_t before = 8; before <= 2 * 4096 + 256; before += 8) {
		struct fake_ring *f = fake_ring_create(8 * RING_BYTES - before);
		struct exact_piece a[] = {piece_of(100, 0), piece_of(100, 1)};

		add(f, &a[0], 1, 0);
		add(f, &a[1], 2, 0);
		assert_true(find(f, 100, 0));
		assert_rest(f, 1, 2);
		exact_ring_release(&f->ring, 0);
		assert_int_equal(f->consumer, f->producer);
		fake_ring_destroy(f);
	}
}

/* Where the times of copy and sample don't agree, the nearest is meant. */
TEST(test_slack)
{
	struct fake_ring *f = fake_ring_create(0);
	struct exact_piece a[] = {piece_of(1000, 0), piece_of(1000, 1)};
	struct exact_piece b[] = {piece_of(1100, 0), piece_of(1100, 1)};

	for (size_t i = 0; i < 2; i++)
		add(f, &a[i], 1, 0);
	for (size_t i = 0; i < 2; i++)
		add(f, &b[i], 2, 0);
	assert_false(find(f, 1040, 0));
	assert_false(find(f, 940, 50));
	assert_true(find(f, 1060, 70));
	assert_rest(f, 2, 2);
	assert_true(find(f, 1060, 70));
	assert_rest(f, 1, 1);
	assert_false(find(f, 1060, 70));
	fake_ring_destroy(f);
}

/* ---- marks ---- */

/* A history of so many frames of 16 bytes, above word_va(0). */
static struct unwind_history *history_of(struct fake_stack *s, size_t depth)
{
	struct unwind_history *history = unwind_history_create();

	fake_stack_init(s, 2 * depth + 8);
	for (size_t i = 0; i < depth; i++) {
		s->words[2 * i] = i;
		s->words[2 * i + 1] = code_va(FN_SP16 + 1 + i % 64);
	}
	s->words[2 * depth + 1] = code_va(FN_END + 1);
	fake_stack_set(s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(s, history);
	assert_int_equal(s->stack.end, UNWIND_ROOT);
	unwind_history_keep(history, &s->stack);
	return history;
}

static void check_mark(const struct fake_stack *s, const struct exact_mark *mark)
{
	for (size_t i = 0; i < EXACT_MARK_SLOTS; i++) {
		const uint64_t *word = s->words + (mark->slot_va[i] - STACK_VA) / 8;

		assert_int_equal(mark->pc[i], word[0]);
		assert_true(i == 0 || mark->slot_va[i] > mark->slot_va[i - 1]);
	}
	/* The walker must meet a whole run within what is needed. */
	assert_true(mark->need_va >= mark->slot_va[0] + UNWIND_REUSE_RUN * 16);
}

TEST(test_marks)
{
	struct exact_mark marks[EXACT_MARKS];

	for (size_t depth = 1; depth < 100000; depth = 2 * depth + 1) {
		struct fake_stack s;
		struct unwind_history *history = history_of(&s, depth);
		uint32_t count = exact_marks_choose(history, marks);

		assert_int_equal(count > 0, unwind_history_count(history) > UNWIND_REUSE_RUN + 8);
		for (uint32_t i = 0; i < count; i++) {
			check_mark(&s, &marks[i]);
			assert_true(i == 0 || marks[i].slot_va[0] > marks[i - 1].slot_va[0]);
		}
		/* The outermost one leaves no more than half of the stack. */
		if (depth > 200)
			assert_true(marks[count - 1].slot_va[0] > word_va(depth / 2));
		unwind_history_destroy(history);
		fake_stack_deinit(&s);
	}
}

/* Marks are recognised by the same words as frames are by the walker. */
TEST(test_marks_print)
{
	struct exact_mark marks[EXACT_MARKS];
	struct fake_stack s;
	struct unwind_history *history = history_of(&s, 1000);

	assert_true(exact_marks_choose(history, marks) > 0);
	size_t word = (marks[0].slot_va[0] - STACK_VA) / 8;
	uint64_t print = marks[0].print[0];

	unwind_history_destroy(history);
	s.words[word + 1]++;
	history = unwind_history_create();
	fake_stack_set(&s, code_va(FN_SP16), word_va(0), 0);
	fake_stack_walk(&s, history);
	unwind_history_keep(history, &s.stack);
	exact_marks_choose(history, marks);
	assert_true(marks[0].print[0] != print);
	unwind_history_destroy(history);
	fake_stack_deinit(&s);
}

TEST(test_threads)
{
	struct exact_thread *threads = xalloc(EXACT_THREADS * sizeof(*threads));
	struct exact_mark mark = {.need_va = 5};

	assert_null(exact_threads_find(threads, 1));
	for (uint32_t tid = 1; tid < 20 * EXACT_THREADS; tid++) {
		struct exact_thread *thread = exact_threads_add(threads, tid, 1000);

		assert_int_equal(thread->tid, tid);
		assert_int_equal(thread->mark_count, 0);
		assert_int_equal(thread->limit_bytes, 1000);
		exact_thread_mark(thread, &mark, 1, tid);
		assert_int_equal(thread->version % 2, 0);
		assert_ptr_equal(exact_threads_find(threads, tid), thread);
		assert_ptr_equal(exact_threads_add(threads, tid, 2000), thread);
		assert_int_equal(thread->marks_ns, tid);
	}
	free(threads);
}

/* ---- memory ---- */

TEST(test_memory)
{
	static const uint64_t words[6] = {10, 11, 12, 13, 14, 15};
	const uint8_t *bytes = (const uint8_t *)words;
	struct perf_sample sample = {.tid = gettid(), .stack = bytes, .stack_size = 16};
	struct stack_rest rest = {0};
	struct stack_memory m;
	uint64_t value;

	sample.regs.value[UNWIND_REG_SP] = 0x1000;
	vec_push(&rest.pieces, (struct stack_piece){bytes + 16, 0x1010, 16});
	vec_push(&rest.pieces, (struct stack_piece){bytes + 40, 0x1028, 8});
	stack_memory_init(&m, NULL);
	stack_memory_begin(&m, NULL, &sample);
	assert_false(unwind_memory_read(&m.memory, 0x1010, &value));
	stack_memory_begin(&m, NULL, &sample);
	stack_memory_add_rest(&m, &rest);
	for (unsigned int i = 6; i-- > 0;) {
		/* The fourth word is in no piece: not copied, and not in the process either. */
		assert_int_equal(unwind_memory_read(&m.memory, 0x1000 + 8 * i, &value), i != 4);
		assert_true(i == 4 || value == words[i]);
	}
	assert_true(m.asked);
	/* Another stack, in any order. */
	stack_memory_restart(&m);
	vec_push(&rest.others, (struct stack_piece){bytes + 32, 0x9000, 8});
	vec_push(&rest.others, (struct stack_piece){bytes + 24, 0x800, 8});
	assert_true(unwind_memory_read(&m.memory, 0x9000, &value) && value == 14);
	assert_true(unwind_memory_read(&m.memory, 0x800, &value) && value == 13);
	assert_false(m.asked);
	/* A check is not worth a look at the process. */
	stack_memory_restart(&m);
	m.memory.is_check = true;
	assert_false(unwind_memory_read(&m.memory, 0x1020, &value));
	assert_false(m.asked);
	stack_memory_deinit(&m);
	vec_deinit(&rest.pieces);
	vec_deinit(&rest.others);
}

/* A thread runs shallow coroutines and now and then a deep one, all in one large mapping. */
TEST(test_a_limit_that_was_too_low_is_held)
{
	struct exact_tuning *t = xalloc(sizeof(*t));
	struct unwind_history *history = unwind_history_create();
	struct perf_sample sample = {.tid = 1};
	struct stack_rest rest = {.low_va = 0x1000, .high_va = 0x1000 + (1 << 20)};
	uint64_t sunken, raised;

	t->threads = xalloc(EXACT_THREADS * sizeof(*t->threads));
	vec_push(&rest.pieces, (struct stack_piece){NULL, 0x1000, 1 << 20});
	exact_tuning_learn(t, &sample, &rest, history, false);
	const struct exact_thread *thread = exact_threads_find(t->threads, 1);

	sunken = thread->limit_bytes;
	assert_true(sunken < 64 << 10);
	rest.high_va = 0x1000 + sunken;
	rest.end = STACK_REST_LIMITED;
	exact_tuning_learn(t, &sample, &rest, history, true);
	raised = thread->limit_bytes;
	assert_int_equal(raised, 8 * sunken);
	rest.high_va = 0x1000 + raised + (1 << 17);
	rest.end = STACK_REST_WHOLE;
	for (int i = 0; i < 1000; i++)
		exact_tuning_learn(t, &sample, &rest, history, false);
	assert_int_equal(thread->limit_bytes, raised);
	for (int i = 0; i < 1000; i++)
		exact_tuning_learn(t, &sample, &rest, history, false);
	assert_true(thread->limit_bytes < raised);
	vec_deinit(&rest.pieces);
	unwind_history_destroy(history);
	free(t->threads);
	free(t);
}

TEST(test_marks_that_mislead_are_done_without)
{
	struct marks_trust trust = {0};
	uint32_t without = 0, first;

	assert_true(marks_trust_ask(&trust));
	marks_trust_lose(&trust);
	while (!marks_trust_ask(&trust))
		without++;
	first = without;
	assert_true(first >= 200);
	marks_trust_lose(&trust);
	for (without = 0; !marks_trust_ask(&trust); without++)
		;
	assert_int_equal(without, 2 * first);
	for (int i = 0; i < 40; i++)
		marks_trust_lose(&trust);
	assert_true(trust.samples_without <= 1 << 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_limit_that_was_too_low_is_held),
		cmocka_unit_test(test_marks_that_mislead_are_done_without),
		cmocka_unit_test(test_interleaved),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_another_stack),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_lost_samples),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_not_kept),
		cmocka_unit_test(test_wraps),
		cmocka_unit_test(test_slack),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_marks_print),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests_name("exact", tests, NULL, NULL);
}
