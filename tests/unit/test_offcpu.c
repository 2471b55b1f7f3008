/*
 * Off-CPU time: each thread's life is cut into running, blocked, woken and preempted, exactly.
 */

#include <string.h>

#include "base/compiler.h"
#include "base/vec.h"
#include "record/samples/offcpu.h"
#include "../unit.h"

#define MS UINT64_C(1000000)

struct life {
	struct offcpu_thread thread; /* first */
	uint64_t end_ns[3];	     /* of the last interval: blocked, woken, preempted */
	uint64_t blocked_ns, woken_ns, preempted_ns, blocks, estimated_ns, nodeless;
};

static struct offcpu o;
static VEC(struct offcpu_interval) intervals; /* of all threads */
static bool tells_locks;
static uint64_t asked;
static uint32_t answer; /* OFFCPU_NO_NODE: not now */
static uint64_t answer_ns;

static void take_interval(
	void *context, struct offcpu_thread *thread, const struct offcpu_interval *interval)
{
	struct life *life = (struct life *)thread;
	uint64_t off_ns = interval->blocked_ns + interval->woken_ns + interval->preempted_ns;
	unsigned int state = interval->preempted_ns ? 2 : interval->woken_ns ? 1 : 0;

	assert_null(context);
	assert_true(interval->begin_ns <= interval->end_ns);
	if (!tells_locks)
		assert_true(interval->lock == OFFCPU_NOBODY && interval->holder == OFFCPU_NOBODY);
	assert_true((interval->blocked_ns > 0) + (interval->woken_ns > 0) +
			    (interval->preempted_ns > 0) <=
		    1);
	if (off_ns > 0)
		assert_true(interval->begin_ns >= life->end_ns[state]);
	assert_true(off_ns <= interval->end_ns - interval->begin_ns);
	if (interval->blocks <= 1)
		assert_int_equal(off_ns, interval->end_ns - interval->begin_ns);
	if (off_ns > 0)
		life->end_ns[state] = interval->end_ns;
	life->blocked_ns += interval->blocked_ns;
	life->woken_ns += interval->woken_ns;
	life->preempted_ns += interval->preempted_ns;
	life->blocks += interval->woken_ns ? 0 : interval->blocks;
	life->estimated_ns += interval->estimated ? off_ns : 0;
	life->nodeless += interval->node == OFFCPU_NO_NODE;
	vec_push(&intervals, *interval);
}

static bool read_stack(void *context, struct offcpu_thread *thread)
{
	(void)context;
	asked++;
	if (answer == OFFCPU_NO_NODE)
		return false;
	if (answer)
		offcpu_outside_stack(&o, thread, answer_ns, answer);
	return true;
}

static int setup(void **state)
{
	const struct offcpu_hooks hooks = {.interval = take_interval, .read_stack = read_stack};

	(void)state;
	offcpu_init(&o, &hooks, false);
	intervals.count = 0;
	asked = answer_ns = 0;
	tells_locks = false;
	answer = 0;
	return 0;
}

static void expect(size_t i, uint64_t begin_ns, uint64_t end_ns, uint32_t node, bool estimated)
{
	const struct offcpu_interval *interval = &intervals.data[i];

	assert_true(i < intervals.count);
	assert_int_equal(interval->begin_ns, begin_ns);
	assert_int_equal(interval->end_ns, end_ns);
	assert_int_equal(interval->node, node);
	assert_int_equal(interval->estimated, estimated);
}

TEST(test_one_block)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 10 * MS, OFFCPU_PREEMPTED);
	offcpu_in(&o, t, 12 * MS);
	offcpu_sample(&o, t, 13 * MS, 5);
	offcpu_stack(&o, t, 14 * MS, 6);
	offcpu_out(&o, t, 14 * MS, false);
	offcpu_in(&o, t, 34 * MS);
	offcpu_end(&o, t, 35 * MS);
	assert_int_equal(intervals.count, 2);
	expect(0, 14 * MS, 34 * MS, 6, false);
	/* No stack was known yet: it was given the first. */
	expect(1, 10 * MS, 12 * MS, 5, true);
	assert_int_equal(a.preempted_ns, 2 * MS);
	assert_int_equal(a.blocked_ns, 20 * MS);
	assert_int_equal(o.counts.running_ns, 3 * MS);
	assert_int_equal(o.counts.missing + o.counts.misplaced, 0);
}

/* A thread that was there before the recording: its first record tells what it did. */
TEST(test_existed)
{
	struct life slept = {0}, ran = {0}, never = {0}, busy = {0};

	offcpu_begin(&o, &slept.thread, 0, OFFCPU_EXISTED);
	offcpu_begin(&o, &ran.thread, 0, OFFCPU_EXISTED);
	offcpu_begin(&o, &never.thread, 0, OFFCPU_EXISTED);
	offcpu_begin(&o, &busy.thread, 0, OFFCPU_EXISTED);
	offcpu_in(&o, &slept.thread, 5 * MS);
	offcpu_out(&o, &ran.thread, 5 * MS, true);
	offcpu_sample(&o, &busy.thread, 6 * MS, 3);
	offcpu_end(&o, &slept.thread, 9 * MS);
	offcpu_end(&o, &ran.thread, 9 * MS);
	offcpu_end(&o, &never.thread, 9 * MS);
	offcpu_end(&o, &busy.thread, 9 * MS);
	assert_int_equal(slept.blocked_ns, 5 * MS);
	assert_int_equal(ran.preempted_ns, 4 * MS);
	assert_int_equal(never.blocked_ns, 9 * MS);
	assert_int_equal(busy.blocked_ns + busy.preempted_ns, 0);
	assert_int_equal(o.counts.running_ns, (4 + 5 + 0 + 9) * MS);
	assert_int_equal(o.counts.missing, 0);
}

/* Short blocks with one stack become one, of each kind; their sums are kept. */
TEST(test_short_blocks)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;
	uint64_t now = 0;

	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	for (int i = 0; i < 1000; i++) {
		offcpu_out(&o, t, now + 100, i % 4 == 0);
		offcpu_in(&o, t, now + 300);
		now += 1000;
		if (i == 1)
			offcpu_sample(&o, t, now, 9);
	}
	assert_true(intervals.count == 0);
	offcpu_end(&o, t, now);
	assert_int_equal(intervals.count, 2);
	expect(0, 1100, now - 700, 9, true);
	expect(1, 100, now - 3700, 9, true);
	assert_int_equal(a.preempted_ns, 250 * 200);
	assert_int_equal(a.blocked_ns, 750 * 200);
	assert_int_equal(a.blocks, 1000);
	assert_int_equal(o.counts.estimated, 1000);
	assert_int_equal(o.counts.estimated_ns, 1000 * 200);
}

TEST(test_nearest_stack)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	offcpu_stack(&o, t, 10 * MS, 1);
	offcpu_out(&o, t, 10 * MS, false);
	offcpu_in(&o, t, 20 * MS);
	offcpu_sample(&o, t, 21 * MS, 2);
	/* A block before is near. */
	offcpu_out(&o, t, 22 * MS, false);
	offcpu_in(&o, t, 24 * MS);
	/* It is not any more. */
	offcpu_out(&o, t, 40 * MS, false);
	offcpu_in(&o, t, 42 * MS);
	offcpu_end(&o, t, 43 * MS);
	assert_int_equal(intervals.count, 3);
	expect(0, 10 * MS, 20 * MS, 1, false);
	expect(1, 22 * MS, 24 * MS, 1, true);
	expect(2, 40 * MS, 42 * MS, 2, true);
}

TEST(test_borrowed_stack)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	/* The clock has seen nothing yet. */
	assert_false(offcpu_borrow_stack(&o, t, 1 * MS));
	offcpu_sample(&o, t, 2 * MS, 1);
	assert_true(offcpu_borrow_stack(&o, t, 3 * MS));
	offcpu_out(&o, t, 3 * MS, true);
	offcpu_in(&o, t, 53 * MS);
	/* It has run for 8 ms since, however long it did not. */
	assert_true(offcpu_borrow_stack(&o, t, 60 * MS));
	offcpu_out(&o, t, 60 * MS, true);
	offcpu_in(&o, t, 70 * MS);
	assert_false(offcpu_borrow_stack(&o, t, 72 * MS));
	/* A stack of its own is not what the clock saw, and after a wait another one is likely. */
	offcpu_stack(&o, t, 72 * MS, 2);
	offcpu_out(&o, t, 72 * MS, true);
	offcpu_in(&o, t, 74 * MS);
	assert_false(offcpu_borrow_stack(&o, t, 75 * MS));
	offcpu_sample(&o, t, 76 * MS, 3);
	offcpu_out(&o, t, 77 * MS, false);
	offcpu_in(&o, t, 79 * MS);
	assert_false(offcpu_borrow_stack(&o, t, 80 * MS));
	offcpu_end(&o, t, 81 * MS);
	expect(0, 3 * MS, 53 * MS, 1, false);
	expect(1, 60 * MS, 70 * MS, 1, false);
	expect(2, 72 * MS, 74 * MS, 2, false);
	expect(3, 77 * MS, 79 * MS, 3, true);
}

TEST(test_stack_from_outside)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	offcpu_out(&o, t, 10 * MS, false);
	/* Nothing is known of it, so it is asked for at once. */
	offcpu_tick(&o, 10 * MS + MS / 2);
	assert_int_equal(asked, 1);
	answer = OFFCPU_NO_NODE;
	offcpu_tick(&o, 12 * MS);
	assert_int_equal(asked, 3);
	answer = 4;
	answer_ns = 13 * MS + 100;
	offcpu_tick(&o, 13 * MS);
	offcpu_tick(&o, 14 * MS);
	assert_int_equal(asked, 4);
	offcpu_in(&o, t, 20 * MS);
	/* The next one's stack may wait. */
	offcpu_out(&o, t, 21 * MS, false);
	offcpu_tick(&o, 21 * MS + 500);
	assert_int_equal(asked, 4);
	offcpu_in(&o, t, 21 * MS + 600);
	/* It had gone on before the stack was read. */
	offcpu_out(&o, t, 30 * MS, false);
	answer_ns = 33 * MS;
	offcpu_tick(&o, 32 * MS);
	offcpu_in(&o, t, 32 * MS + 500);
	offcpu_end(&o, t, 40 * MS);
	expect(0, 10 * MS, 20 * MS, 4, false);
	expect(1, 21 * MS, 21 * MS + 600, 4, true);
	expect(2, 30 * MS, 32 * MS + 500, 4, true);
	assert_null(t->link.before);
}

/* Blocks that go on and on are handed out in parts. */
TEST(test_parts)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	answer = 8;
	offcpu_begin(&o, t, 0, OFFCPU_EXISTED);
	for (uint64_t now = 0; now <= 5500 * MS; now += 20 * MS) {
		answer_ns = now;
		offcpu_tick(&o, now);
	}
	assert_int_equal(intervals.count, 5);
	assert_int_equal(asked, 1);
	offcpu_in(&o, t, 5600 * MS);
	assert_int_equal(intervals.count, 6);
	assert_int_equal(a.blocked_ns, 5600 * MS);
	assert_int_equal(a.blocks, 1);
	assert_int_equal(a.estimated_ns, 0);
	offcpu_end(&o, t, 5600 * MS);
}

TEST(test_missing_records)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	offcpu_sample(&o, t, 0, 2);
	offcpu_out(&o, t, 10 * MS, false);
	offcpu_out(&o, t, 30 * MS, true); /* in is missing: all of it was the block's */
	assert_int_equal(a.blocked_ns, 20 * MS);
	offcpu_sample(&o, t, 34 * MS, 2); /* again */
	assert_int_equal(a.preempted_ns, 4 * MS);
	offcpu_in(&o, t, 40 * MS); /* out is missing: all of it was running */
	assert_int_equal(o.counts.running_ns, 16 * MS);
	offcpu_stack(&o, t, 42 * MS, 3);
	offcpu_in(&o, t, 50 * MS); /* out is missing, but its stack is there */
	expect(2, 42 * MS, 50 * MS, 3, false);
	assert_int_equal(o.counts.missing, 4);
	offcpu_out(&o, t, 45 * MS, false);
	offcpu_in(&o, t, 44 * MS);
	assert_int_equal(o.counts.misplaced, 2);
	offcpu_in(&o, t, 44 * MS);
	offcpu_end(&o, t, 60 * MS);
	assert_int_equal(
		o.counts.running_ns + o.counts.blocked_ns + o.counts.preempted_ns, 60 * MS);
}

/*
 * What wakes a thread parts its wait from its delay, both at the stack of the wait; who is not
 * blocked is not woken.
 */
TEST(test_wake)
{
	struct life a = {0}, old = {0};
	struct offcpu_thread *t = &a.thread;

	offcpu_begin(&o, t, 0, OFFCPU_PREEMPTED);
	offcpu_wake(&o, t, 1 * MS, 9);
	offcpu_in(&o, t, 2 * MS);
	offcpu_wake(&o, t, 3 * MS, 9);
	offcpu_stack(&o, t, 4 * MS, 6);
	offcpu_out(&o, t, 4 * MS, false);
	offcpu_wake(&o, t, 30 * MS, 8);
	offcpu_wake(&o, t, 31 * MS, 9);
	offcpu_tick(&o, 33 * MS);
	offcpu_in(&o, t, 35 * MS);
	offcpu_out(&o, t, 36 * MS, false);
	offcpu_in(&o, t, 46 * MS);
	offcpu_end(&o, t, 50 * MS);
	assert_int_equal(intervals.count, 4);
	expect(0, 4 * MS, 30 * MS, 6, false);
	expect(1, 0, 2 * MS, 6, true);
	expect(2, 30 * MS, 35 * MS, 6, false);
	expect(3, 36 * MS, 46 * MS, 6, true);
	assert_int_equal(intervals.data[0].waker, 8);
	assert_int_equal(intervals.data[1].waker, OFFCPU_NOBODY);
	assert_int_equal(intervals.data[2].waker, 8);
	assert_int_equal(intervals.data[3].waker, OFFCPU_NOBODY);
	assert_int_equal(a.preempted_ns, 2 * MS);
	assert_int_equal(a.blocked_ns, 36 * MS);
	assert_int_equal(a.woken_ns, 5 * MS);
	assert_int_equal(o.counts.blocks, 3);
	assert_int_equal(o.counts.missing + o.counts.misplaced, 0);

	/* It slept before the recording began. */
	offcpu_begin(&o, &old.thread, 10 * MS, OFFCPU_EXISTED);
	offcpu_wake(&o, &old.thread, 15 * MS, 8);
	offcpu_in(&o, &old.thread, 16 * MS);
	offcpu_end(&o, &old.thread, 17 * MS);
	assert_int_equal(old.blocked_ns, 5 * MS);
	assert_int_equal(old.woken_ns, 1 * MS);
}

/* Short blocks are put together by their wakers, too. */
TEST(test_wakers_apart)
{
	struct life a = {0};
	uint64_t by[2] = {0};

	offcpu_begin(&o, &a.thread, 0, OFFCPU_RUNNING);
	for (uint64_t i = 0; i < 200; i++) {
		uint64_t at = i * 1000;

		offcpu_stack(&o, &a.thread, at + 100, 3);
		offcpu_out(&o, &a.thread, at + 100, false);
		offcpu_wake(&o, &a.thread, at + 100 + 10 * (1 + i / 100), (uint32_t)(i / 100));
		offcpu_in(&o, &a.thread, at + 500);
	}
	offcpu_end(&o, &a.thread, 200 * 1000);
	for (size_t i = 0; i < intervals.count; i++)
		by[intervals.data[i].waker] += intervals.data[i].blocked_ns;
	assert_int_equal(by[0], 100 * 10);
	assert_int_equal(by[1], 100 * 20);
	assert_int_equal(a.woken_ns, 200 * 400 - 100 * 30);
	assert_true(intervals.count <= 6);
}

/* A lock is its stack's; who holds it is known if it was read while the thread waited. */
TEST(test_lock)
{
	struct life a = {0};
	struct offcpu_thread *t = &a.thread;

	tells_locks = true;
	offcpu_begin(&o, t, 0, OFFCPU_RUNNING);
	for (uint64_t i = 0; i < 2; i++) {
		uint64_t at = i * 100 * MS;

		offcpu_stack(&o, t, at + 10 * MS, 6);
		offcpu_lock(&o, t, 3, 4, at + (i ? 31 : 29) * MS);
		offcpu_out(&o, t, at + 10 * MS, false);
		offcpu_wake(&o, t, at + 30 * MS, 8);
		offcpu_in(&o, t, at + 35 * MS);
	}
	/* Another wait soon after, without a stack of its own. */
	offcpu_out(&o, t, 138 * MS, false);
	offcpu_in(&o, t, 148 * MS);
	/* Preempted on the way to the lock. */
	offcpu_stack(&o, t, 150 * MS, 6);
	offcpu_lock(&o, t, 3, 4, 151 * MS);
	offcpu_out(&o, t, 150 * MS, true);
	offcpu_in(&o, t, 155 * MS);
	offcpu_end(&o, t, 160 * MS);
	assert_int_equal(intervals.count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(intervals.data[i].lock, i < 5 ? 3 : OFFCPU_NOBODY);
		assert_int_equal(intervals.data[i].holder, i < 2 ? 4 : OFFCPU_NOBODY);
		assert_int_equal(intervals.data[i].estimated, i == 4);
	}
}

/* ---- properties ---- */

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (random_state >> 33) % limit;
}

struct truth {
	uint64_t running_ns, blocked_ns, woken_ns, preempted_ns;
	bool off, preempted, woken, begun;
};

enum { THREADS = 5 };

/* One record of the thread, as the kernel would give it; perhaps it is lost, or out of order. */
static void step(struct life *life, struct truth *truth, uint64_t now, uint64_t span, unsigned loss)
{
	struct offcpu_thread *t = &life->thread;
	bool is_lost = random_below(100) < loss;
	uint64_t time = random_below(100) < loss / 4 ? now - random_below(now) : now;

	if (truth->off && truth->preempted)
		truth->preempted_ns += span;
	else if (truth->off)
		*(truth->woken ? &truth->woken_ns : &truth->blocked_ns) += span;
	else
		truth->running_ns += span;
	if (truth->off && !truth->preempted && !truth->woken && random_below(2)) {
		truth->woken = true;
		if (!is_lost)
			offcpu_wake(&o, t, time, 1 + (uint32_t)random_below(2));
		return;
	}
	if (!truth->off && random_below(3) == 0) {
		if (!is_lost)
			offcpu_sample(&o, t, time, 1 + (uint32_t)random_below(3));
		return;
	}
	truth->off = !truth->off;
	truth->woken = false;
	if (!truth->off) {
		if (!is_lost)
			offcpu_in(&o, t, time);
		return;
	}
	truth->preempted = random_below(2);
	if (truth->preempted && random_below(2))
		(void)offcpu_borrow_stack(&o, t, time);
	else if (random_below(2) && random_below(100) >= loss)
		offcpu_stack(&o, t, time, 4 + (uint32_t)random_below(3));
	if (!is_lost)
		offcpu_out(&o, t, time, truth->preempted);
}

static uint64_t random_span(void)
{
	static const uint64_t scales[] = {1, 1000, 100000, 3 * MS, 40 * MS, 2500 * MS};

	return random_below(scales[random_below(ARRAY_SIZE(scales))]);
}

static void check_sums(
	const struct life *lives, const struct truth *truths, uint64_t lived, unsigned loss)
{
	uint64_t off_ns = 0, blocks = 0;

	for (size_t i = 0; i < THREADS; i++) {
		off_ns += lives[i].blocked_ns + lives[i].woken_ns + lives[i].preempted_ns;
		blocks += lives[i].blocks;
		assert_null(lives[i].thread.link.before);
		if (loss)
			continue;
		assert_int_equal(lives[i].blocked_ns, truths[i].blocked_ns);
		assert_int_equal(lives[i].woken_ns, truths[i].woken_ns);
		assert_int_equal(lives[i].preempted_ns, truths[i].preempted_ns);
	}
	assert_int_equal(o.counts.blocked_ns + o.counts.woken_ns + o.counts.preempted_ns, off_ns);
	assert_int_equal(o.counts.running_ns + off_ns, lived);
	assert_int_equal(o.counts.blocks, blocks);
	assert_true(o.counts.estimated <= blocks && o.counts.estimated_ns <= off_ns);
	assert_true(loss ? o.counts.missing > 0 : o.counts.missing + o.counts.misplaced == 0);
}

static void live(uint64_t seed, unsigned loss)
{
	struct life lives[THREADS] = {0};
	struct truth truths[THREADS] = {0};
	uint64_t now[THREADS], most = 0, lived = 0;

	setup(NULL);
	random_state = seed;
	answer = seed & 1 ? 7 : 0;
	for (size_t i = 0; i < THREADS; i++) {
		now[i] = 1 + random_below(1000);
		truths[i].off = truths[i].preempted = true;
		offcpu_begin(&o, &lives[i].thread, now[i], OFFCPU_PREEMPTED);
		lived -= now[i];
	}
	for (int n = 0; n < 2000; n++) {
		size_t i = random_below(THREADS);
		uint64_t span = random_span();

		if (most > now[i]) /* a tick has been since */
			span += most - now[i];
		now[i] += span;
		step(&lives[i], &truths[i], now[i], span, loss);
		if (random_below(10) == 0) {
			for (size_t k = 0; k < THREADS; k++)
				most = now[k] > most ? now[k] : most;
			answer_ns = most;
			offcpu_tick(&o, most);
		}
	}
	for (size_t i = 0; i < THREADS; i++) {
		uint64_t span = most > now[i] ? most - now[i] : 1;
		/* A last record, in order, at the end. */
		now[i] += span;
		if (truths[i].off && truths[i].preempted)
			truths[i].preempted_ns += span;
		else if (truths[i].off)
			*(truths[i].woken ? &truths[i].woken_ns : &truths[i].blocked_ns) += span;
		lived += now[i];
		offcpu_end(&o, &lives[i].thread, now[i]);
	}
	check_sums(lives, truths, lived, loss);
}

TEST(test_nothing_is_lost_or_counted_twice)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		live(seed, 0);
		live(seed, 3);
		live(seed, 40);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_one_block, setup),
		cmocka_unit_test_setup(test_existed, setup),
		cmocka_unit_test_setup(test_short_blocks, setup),
		cmocka_unit_test_setup(test_nearest_stack, setup),
		cmocka_unit_test_setup(test_borrowed_stack, setup),
		cmocka_unit_test_setup(test_stack_from_outside, setup),
		cmocka_unit_test_setup(test_parts, setup),
		cmocka_unit_test_setup(test_missing_records, setup),
		cmocka_unit_test_setup(test_wake, setup),
		cmocka_unit_test_setup(test_wakers_apart, setup),
		cmocka_unit_test_setup(test_lock, setup),
		cmocka_unit_test(test_nothing_is_lost_or_counted_twice),
	};
	int failed = cmocka_run_group_tests_name("offcpu", tests, NULL, NULL);

	vec_deinit(&intervals);
	return failed;
}
