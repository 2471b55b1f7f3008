/*
 * The preload engine's memory, written by the library's end and read by the recorder's, also where
 * somebody has written over it; and what samples weigh.
 */
#include "record/engines/preload/preload_memory.h"

#include <stdlib.h>
#include <string.h>

#include "preload/preload.h"
#include "preload/raw.h"
#include "record/engines/preload/preload_thread.h"
#include "unwind/go_layout.h"
#include "unwind/print.h"
#include "../unit.h"

struct fixture {
	struct preload_memory memory;
	struct preload_lane lane;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_null(preload_memory_init(&f->memory, 1000));
	assert_true(preload_lane_take(&f->lane, (uint8_t *)f->memory.header, PRELOAD_SLOTS, 7));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	preload_memory_deinit(&f->memory);
	free(f);
	return 0;
}

/* Writes a record whose bytes behind the head are all `fill`. */
static bool put(struct fixture *f, uint64_t time_ns, size_t body, int fill)
{
	size_t size = sizeof(struct preload_record) + body, room;
	uint8_t *out = preload_lane_begin(&f->lane, size, size, &room);
	struct preload_record head = {PRELOAD_SAMPLE, (uint32_t)size, time_ns, 0};

	if (!out)
		return false;
	assert_int_equal(room, size);
	memcpy(out, &head, sizeof(head));
	memset(out + sizeof(head), fill, body);
	preload_lane_end(&f->lane, size);
	return true;
}

static void check(struct fixture *f, uint32_t i, uint64_t time_ns, size_t body, int fill)
{
	struct preload_record head;
	const uint8_t *bytes;

	assert_true(preload_memory_peek(&f->memory, 0, i, &head));
	assert_int_equal(head.time_ns, time_ns);
	assert_int_equal(head.size, sizeof(head) + body);
	bytes = preload_memory_copy(&f->memory, 0, i);
	assert_non_null(bytes);
	for (size_t n = 0; n < body; n++)
		assert_int_equal(bytes[sizeof(head) + n], fill);
}

static void test_records_come_out_as_they_went_in(void **state)
{
	struct fixture *f = *state;

	for (uint64_t round = 0; round < 300; round++) {
		uint32_t count = 1 + (uint32_t)(round % 5);

		for (uint32_t i = 0; i < count; i++)
			assert_true(put(f, round * 8 + i, (round * 977 + i * 31) % 70000, (int)i));
		assert_int_equal(preload_memory_fresh(&f->memory, 0), 1);
		assert_int_equal(preload_memory_waiting(&f->memory, 0), count);
		for (uint32_t i = 0; i < count; i++)
			check(f, i, round * 8 + i, (round * 977 + i * 31) % 70000, (int)i);
		preload_memory_release(&f->memory, 0, count);
	}
}

/* The writer runs ahead and wraps round the end of the data, and what waits stays as it is. */
static void test_what_waits_is_never_overwritten(void **state)
{
	struct fixture *f = *state;
	uint64_t written = 0, read = 0;
	size_t body = 1000003;

	for (int round = 0; round < 100; round++) {
		while (put(f, written, body, (int)(written % 200)))
			written++;
		assert_true(written - read >= 7);
		check(f, 0, read, body, (int)(read % 200));
		check(f, (uint32_t)(written - read - 1), written - 1, body,
			(int)((written - 1) % 200));
		preload_memory_release(&f->memory, 0, 1 + (uint32_t)(round % 3));
		read += 1 + (uint64_t)(round % 3);
	}
}

static void test_no_more_records_than_there_are_places(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < PRELOAD_RECORDS; i++)
		assert_true(put(f, 1, 0, 0));
	assert_false(put(f, 1, 0, 0));
	preload_lane_lose(&f->lane);
	preload_memory_count_lost(&f->memory, 0);
	preload_memory_count_lost(&f->memory, 0);
	assert_int_equal(f->memory.lost_total, 1);
}

static void test_places_outside_of_the_data_are_no_records(void **state)
{
	static const struct preload_place bad[] = {
		{0, 0},
		{0, sizeof(struct preload_record) - 1},
		{PRELOAD_DATA_BYTES - 8, 64},
		{UINT32_MAX, 64},
		{64, UINT32_MAX},
		{UINT32_MAX, UINT32_MAX},
	};
	struct fixture *f = *state;
	struct preload_record head;

	put(f, 1, 100, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memcpy(f->memory.data + PRELOAD_PLACES_OFF, &bad[i], sizeof(bad[i]));
		assert_false(preload_memory_peek(&f->memory, 0, 0, &head));
		assert_null(preload_memory_copy(&f->memory, 0, 0));
	}
}

static void test_a_size_that_has_changed_is_noticed(void **state)
{
	struct fixture *f = *state;
	struct preload_record head;

	put(f, 1, 100, 1);
	((struct preload_record *)(void *)(f->memory.data + PRELOAD_RECORDS_OFF))->size = 1 << 30;
	assert_false(preload_memory_peek(&f->memory, 0, 0, &head));
	assert_null(preload_memory_copy(&f->memory, 0, 0));
}

static void test_a_wild_head_is_counted_and_passed(void **state)
{
	struct fixture *f = *state;

	put(f, 1, 100, 1);
	atomic_store(&f->memory.slots[0].head, 0x80000000u);
	assert_int_equal(preload_memory_waiting(&f->memory, 0), 0);
	assert_int_equal(f->memory.broken, 1);
	assert_int_equal(preload_memory_waiting(&f->memory, 0), 0);
}

static void test_a_wild_tail_stops_the_writer_only(void **state)
{
	struct fixture *f = *state;

	put(f, 1, 100, 1);
	atomic_store(&f->memory.slots[0].tail, 0x80000000u);
	assert_false(put(f, 2, 100, 1));
}

/* What the program writes over places leads the writer nowhere else. */
static void test_a_wild_place_stops_the_writer_only(void **state)
{
	static const uint32_t wild[] = {0, PRELOAD_RECORDS_OFF - 1, PRELOAD_DATA_BYTES, UINT32_MAX};
	struct fixture *f = *state;

	put(f, 1, 100, 1);
	for (size_t i = 0; i < sizeof(wild) / sizeof(wild[0]); i++) {
		memcpy(f->memory.data + PRELOAD_PLACES_OFF, &wild[i], sizeof(wild[i]));
		assert_false(put(f, 2, 100, 1));
	}
	preload_memory_release(&f->memory, 0, 1);
	assert_true(put(f, 3, 100, 1));
}

static void test_slots_are_taken_and_freed(void **state)
{
	struct fixture *f = *state;
	struct preload_lane lane, other;
	uint8_t *base = (uint8_t *)f->memory.header;

	assert_true(preload_lane_take(&lane, base, 2, 8));
	assert_int_equal(lane.number, 1);
	assert_false(preload_lane_take(&other, base, 2, 9));
	assert_int_equal(atomic_load(&f->memory.header->refused), 1);
	assert_int_equal(preload_memory_owner(&f->memory, 0), 7);
	preload_memory_free(&f->memory, 0);
	assert_true(preload_lane_take(&other, base, 2, 9));
	assert_int_equal(other.number, 0);
	assert_int_equal(atomic_load(&f->memory.header->slots_used), 2);
}

/* ---- marks ---- */

enum { STACK_WORDS = 1024, FRAME_WORDS = 8 };

/* A thread with the fixture's slot, and its stack of frames of eight words. */
struct thread {
	struct preload_thread t;
	uint64_t stack[STACK_WORDS];
	uint64_t end_va;
};

static uint64_t *frame(struct thread *thread, size_t i)
{
	return &thread->stack[i * FRAME_WORDS];
}

static void begin_thread(struct fixture *f, struct thread *thread)
{
	*thread = (struct thread){.end_va = (uint64_t)(uintptr_t)(thread->stack + STACK_WORDS)};
	for (size_t i = 0; i < STACK_WORDS; i++)
		thread->stack[i] = i;
	assert_true(put(f, 1, 100, 0));
	preload_memory_release(&f->memory, 0, 1);
	thread->t.lane = f->lane;
}

/* Marks that begin at these frames, one frame a slot, known from the sample at that time. */
static void mark(struct fixture *f, struct thread *thread, const size_t first[], uint32_t count,
	uint64_t sample_ns)
{
	struct preload_mark marks[PRELOAD_MARKS];

	for (uint32_t m = 0; m < count; m++) {
		for (size_t i = 0; i < PRELOAD_MARK_SLOTS; i++) {
			const uint64_t *at = frame(thread, first[m] + i);

			marks[m].slot_va[i] = (uint64_t)(uintptr_t)at;
			marks[m].pc[i] = at[0];
			marks[m].print[i] = unwind_print(at + 1);
		}
		marks[m].need_va =
			(uint64_t)(uintptr_t)frame(thread, first[m] + PRELOAD_MARK_SLOTS);
	}
	preload_memory_mark(&f->memory, 0, &(struct preload_known){marks, count, sample_ns});
}

/* A sample with its sp at that frame: the frame up to which it is copied. */
static size_t sample(struct thread *thread, size_t sp_frame, uint64_t time_ns)
{
	uint64_t sp = (uint64_t)(uintptr_t)frame(thread, sp_frame);
	uint64_t needed = preload_marks_needed(&thread->t, sp, thread->end_va);

	preload_marks_sampled(&thread->t, time_ns);
	return sp_frame + needed / sizeof(uint64_t) / FRAME_WORDS;
}

enum { ALL = STACK_WORDS / FRAME_WORDS };
static const size_t two[] = {8, 40};

static void test_what_is_unchanged_is_not_copied(void **state)
{
	struct thread thread;

	begin_thread(*state, &thread);
	assert_int_equal(sample(&thread, 4, 100), ALL);
	mark(*state, &thread, two, 2, 100);
	assert_int_equal(preload_memory_last_ns(&((struct fixture *)*state)->memory, 0), 100);
	assert_int_equal(sample(&thread, 4, 101), 24);
	frame(&thread, 10)[1]++;
	assert_int_equal(sample(&thread, 4, 102), 56);
	frame(&thread, 41)[0]++;
	assert_int_equal(sample(&thread, 4, 103), ALL);
	preload_memory_mark(&((struct fixture *)*state)->memory, 0, &(struct preload_known){0});
	assert_int_equal(sample(&thread, 4, 104), ALL);
}

/* The recorder walks what waits in order: to it, frames that come back are new. */
static void test_frames_that_come_back_are_copied(void **state)
{
	struct thread thread;

	begin_thread(*state, &thread);
	sample(&thread, 4, 100);
	mark(*state, &thread, two, 2, 100);
	assert_int_equal(sample(&thread, 4, 101), 24);
	/* Returned from, and called again. */
	assert_int_equal(sample(&thread, 20, 102), 56);
	assert_int_equal(sample(&thread, 4, 103), 56);
	/* In another function meanwhile. */
	frame(&thread, 41)[0]++;
	assert_int_equal(sample(&thread, 4, 104), ALL);
	frame(&thread, 41)[0]--;
	assert_int_equal(sample(&thread, 4, 105), ALL);
	/* Known again. */
	mark(*state, &thread, two, 2, 105);
	assert_int_equal(sample(&thread, 4, 106), 24);
	/* On another stack meanwhile. */
	preload_marks_needed(&thread.t, thread.end_va, thread.end_va);
	preload_marks_sampled(&thread.t, 107);
	assert_int_equal(sample(&thread, 4, 108), ALL);
}

static void test_marks_of_an_earlier_sample_are_not_used(void **state)
{
	struct thread thread;

	begin_thread(*state, &thread);
	sample(&thread, 4, 100);
	sample(&thread, 60, 101);
	mark(*state, &thread, two, 2, 100);
	assert_int_equal(sample(&thread, 4, 102), ALL);
	assert_int_equal(sample(&thread, 4, 103), ALL);
	mark(*state, &thread, two, 2, 103);
	assert_int_equal(sample(&thread, 4, 104), 24);
}

/* ---- weights ---- */

TEST(test_weights_add_up_to_the_time)
{
	struct preload_pool pool = {.interval_ns = 1000};
	struct preload_account account = {0};
	uint64_t sum = 0;

	for (uint64_t cpu_ns = 700; cpu_ns < 90000; cpu_ns += 700 + cpu_ns % 900)
		sum += preload_pool_sample(&pool, &account, cpu_ns);
	preload_pool_end(&pool, &account);
	assert_int_equal(sum + pool.owed_ns, pool.total_ns);
	assert_true(pool.owed_ns < 1000);
}

/*
 * Threads of 100 and of 400, each found with that probability in 1,000, at a random moment: what
 * their samples weigh divides as their times do.
 */
TEST(test_short_threads_share_fairly)
{
	struct preload_pool pool = {.interval_ns = 1000};
	uint64_t weight[2] = {0}, x = 88172645463325252u;

	for (int i = 0; i < 200000; i++) {
		struct preload_account account = {0};
		uint64_t length = i % 2 ? 400 : 100;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		if (x % 1000 < length)
			weight[i % 2] += preload_pool_sample(&pool, &account, x % 1000);
		preload_pool_use(&pool, &account, length);
		preload_pool_end(&pool, &account);
	}
	assert_true(weight[0] + weight[1] + pool.owed_ns == pool.total_ns);
	assert_true(pool.owed_ns < pool.total_ns / 100);
	assert_true(weight[1] > weight[0] * 39 / 10 && weight[1] < weight[0] * 41 / 10);
}

TEST(test_time_before_a_late_first_sample_is_its_own)
{
	struct preload_pool pool = {.interval_ns = 1000};
	struct preload_account account = {0};

	assert_int_equal(preload_pool_sample(&pool, &account, 50000), 50000);
	/* CPU time that goes back is not believed. */
	assert_int_equal(preload_pool_sample(&pool, &account, 20000), 0);
	assert_int_equal(preload_pool_sample(&pool, &account, 51000), 1000);
}

/* ---- samples ---- */

static void add_bytes(uint8_t *body, size_t *size, const void *bytes, size_t count)
{
	memcpy(body + *size, bytes, count);
	*size += count;
}

TEST(test_parts_of_a_sample)
{
	static const uint8_t stack[] = "a stack", other[] = "another stack";
	struct preload_sample head = {.took_ns = 5, .cpu = 3, .stack_bytes = sizeof(stack)};
	struct preload_part parts[] = {{0x1000, sizeof(other)}, {0x2000, 0}};
	struct stack_rest rest = {0};
	struct perf_sample sample = {0};
	uint64_t took_ns;
	uint8_t body[512];
	size_t size = 0;

	head.regs[UNWIND_REG_PC] = 0x1234;
	add_bytes(body, &size, &head, sizeof(head));
	add_bytes(body, &size, stack, sizeof(stack));
	size_t of_stack = size;
	add_bytes(body, &size, &parts[0], sizeof(parts[0]));
	add_bytes(body, &size, other, sizeof(other));
	size_t of_part = size;
	add_bytes(body, &size, &parts[1], sizeof(parts[1]));
	assert_true(preload_sample_read(body, size, &sample, &rest, &took_ns));
	assert_int_equal(took_ns, 5);
	assert_int_equal(sample.cpu, 3);
	assert_int_equal(sample.ip, 0x1234);
	assert_int_equal(sample.stack_size, sizeof(stack));
	assert_memory_equal(sample.stack, stack, sizeof(stack));
	assert_int_equal(rest.others.count, 2);
	assert_int_equal(rest.others.data[0].low_va, 0x1000);
	assert_int_equal(rest.others.data[0].size_bytes, sizeof(other));
	assert_memory_equal(rest.others.data[0].bytes, other, sizeof(other));
	/* Cut anywhere else than between parts, it is invalid. */
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(preload_sample_read(body, cut, &sample, &rest, &took_ns),
			cut == of_stack || cut == of_part);
	/* So many parts take long to search. */
	for (size_t i = 2; i <= PRELOAD_PARTS; i++) {
		assert_true(preload_sample_read(body, size, &sample, &rest, &took_ns));
		add_bytes(body, &size, &parts[1], sizeof(parts[1]));
	}
	assert_false(preload_sample_read(body, size, &sample, &rest, &took_ns));
	parts[0].bytes = UINT64_MAX;
	memcpy(body + of_stack, &parts[0], sizeof(parts[0]));
	assert_false(preload_sample_read(body, size, &sample, &rest, &took_ns));
	vec_deinit(&rest.others);
}

/* ---- the stack that Go left ---- */

static struct {
	struct go_g g, g0;
	uint64_t m[GO_M_BYTES / 8];
	uint64_t goroutine[2048], own[2048];
	uint32_t below; /* as the recorder tells it */
} go;

static uint64_t va_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* The parts with this thread's g being there. */
static size_t parts_with(
	uint64_t g_va, const uint64_t *sp, uint64_t bp, struct preload_part parts[PRELOAD_PARTS])
{
	struct preload_slot slot = {.go_below = go.below};
	const struct preload_thread t = {.lane.slot = &slot,
		.stack_low_va = va_of(go.own),
		.stack_high_va = va_of(go.own + 2048)};
	char *place = raw_thread_pointer() - GO_G_BELOW;
	uint64_t before;

	memcpy(&before, place, sizeof(before));
	memcpy(place, &g_va, sizeof(g_va));
	size_t count = preload_other_stack(&t, va_of(sp), bp, parts);

	memcpy(place, &before, sizeof(before));
	return count;
}

static void put_go(void)
{
	memset(&go, 0, sizeof(go));
	go.g.low_va = va_of(go.goroutine);
	go.g.high_va = va_of(go.goroutine + 2048);
	go.g.sched_sp = va_of(go.goroutine + 1500);
	go.g0.sched_sp = va_of(go.own + 1000);
	go.g.m = go.g0.m = va_of(go.m);
	go.m[0] = va_of(&go.g0);
	go.m[GO_M_CURG / 8] = va_of(&go.g);
}

TEST(test_the_other_stack)
{
	struct preload_part parts[PRELOAD_PARTS];
	uint64_t bp = va_of(go.goroutine + 1400);

	put_go();
	/* On the thread's own stack: the goroutine's, from below its place on. */
	assert_int_equal(parts_with(va_of(&go.g0), go.own + 500, bp, parts), PRELOAD_PARTS);
	assert_int_equal(parts[0].va, va_of(&go.g));
	assert_int_equal(parts[1].va, va_of(&go.g0));
	assert_int_equal(parts[2].va, va_of(go.m));
	assert_int_equal(parts[3].va, bp - GO_FRAME_BYTES);
	assert_int_equal(parts[3].va + parts[3].bytes, go.g.high_va);
	assert_int_equal(parts_with(va_of(&go.g), go.own + 500, 1, parts), PRELOAD_PARTS);
	assert_int_equal(parts[3].va, go.g.sched_sp - GO_FRAME_BYTES);
	/* On the goroutine's: the thread's own, from where it was left. */
	assert_int_equal(parts_with(va_of(&go.g), go.goroutine + 1000, 1, parts), PRELOAD_PARTS);
	assert_int_equal(parts[3].va, go.g0.sched_sp);
	assert_int_equal(parts[3].va + parts[3].bytes, va_of(go.own + 2048));
	/* In newer versions. */
	go.m[GO_M_CURG_NEW / 8] = go.m[GO_M_CURG / 8];
	go.m[GO_M_CURG / 8] = 0x123456;
	assert_int_equal(parts_with(va_of(&go.g), go.own, 1, parts), PRELOAD_PARTS);
	/* No goroutine, or another thread's. */
	go.m[GO_M_CURG_NEW / 8] = va_of(&go.g0);
	assert_int_equal(parts_with(va_of(&go.g), go.own, 1, parts), 0);
	put_go();
	go.g.m++;
	assert_int_equal(parts_with(va_of(&go.g0), go.own, 1, parts), 0);
}

/* A shared library has its g among other variables of the thread. */
TEST(test_g_elsewhere)
{
	static __thread uint64_t elsewhere[4]; /* the last one may be at the usual place */
	struct preload_part parts[PRELOAD_PARTS];

	put_go();
	elsewhere[0] = va_of(&go.g0);
	assert_int_equal(parts_with(0, go.own, 1, parts), 0);
	go.below = (uint32_t)(va_of(raw_thread_pointer()) - va_of(elsewhere));
	assert_int_equal(parts_with(0, go.own, 1, parts), PRELOAD_PARTS);
	assert_int_equal(parts[0].va, va_of(&go.g));
	/* The program may write anything there. */
	go.below = UINT32_MAX - 7;
	assert_int_equal(parts_with(0, go.own, 1, parts), 0);
}

/* Whatever a program without Go has there. */
TEST(test_no_other_stack)
{
	static const uint64_t words[] = {0, 1, 8, 0x10000, UINT64_MAX, UINT64_C(1) << 46,
		UINT64_C(0x7fffffffffc0), UINT64_C(0xffffffffff600000)};
	struct preload_part parts[PRELOAD_PARTS];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		assert_int_equal(parts_with(words[i], go.own, 1, parts), 0);
	memset(&go, 0, sizeof(go));
	assert_int_equal(parts_with(va_of(&go.g), go.own, 1, parts), 0);
}

#define WITH_MEMORY(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_MEMORY(test_records_come_out_as_they_went_in),
		WITH_MEMORY(test_what_waits_is_never_overwritten),
		WITH_MEMORY(test_no_more_records_than_there_are_places),
		WITH_MEMORY(test_places_outside_of_the_data_are_no_records),
		WITH_MEMORY(test_a_size_that_has_changed_is_noticed),
		WITH_MEMORY(test_a_wild_head_is_counted_and_passed),
		WITH_MEMORY(test_a_wild_tail_stops_the_writer_only),
		WITH_MEMORY(test_a_wild_place_stops_the_writer_only),
		WITH_MEMORY(test_slots_are_taken_and_freed),
		WITH_MEMORY(test_what_is_unchanged_is_not_copied),
		WITH_MEMORY(test_frames_that_come_back_are_copied),
		WITH_MEMORY(test_marks_of_an_earlier_sample_are_not_used),
		cmocka_unit_test(test_weights_add_up_to_the_time),
		cmocka_unit_test(test_short_threads_share_fairly),
		cmocka_unit_test(test_time_before_a_late_first_sample_is_its_own),
		cmocka_unit_test(test_parts_of_a_sample),
		cmocka_unit_test(test_the_other_stack),
		cmocka_unit_test(test_g_elsewhere),
		cmocka_unit_test(test_no_other_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
