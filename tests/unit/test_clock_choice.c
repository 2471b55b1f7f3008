/*
 * The choice of the copy's size: the small one is tried when it would have done, left when it does
 * not, and tried less and less often where it never does.
 *
 * Which threads may be short: those that began while sampled, and have ended.
 */
#include "record/engines/perf/tuning.h"

#include <stdio.h>
#include <unistd.h>

#include "../unit.h"
#include "base/clock.h"
#include "formats/sonde/layout/capture_chunk.h"
#include "record/processes/object_table.h"
#include "record/processes/process_table.h"

/* Walks until the choice changes; how many it took, or limit. */
static uint32_t walk_until(struct clock_choice *c, bool small, uint32_t every, uint32_t limit)
{
	for (uint32_t i = 1; i <= limit; i++) {
		clock_choice_walked(c, every > 0 && i % every == 0);
		if (c->small == small)
			return i;
	}
	return limit;
}

TEST(test_shallow)
{
	struct clock_choice c;

	clock_choice_init(&c);
	assert_false(c.small);
	assert_in_range(walk_until(&c, true, 0, 10000), 500, 2000);
	assert_int_equal(walk_until(&c, false, 0, 100000), 100000);
}

TEST(test_deep)
{
	struct clock_choice c;

	clock_choice_init(&c);
	assert_int_equal(walk_until(&c, true, 10, 100000), 100000);
}

/* One in two thousand beyond the copy is no reason to leave it; they may be read in time. */
TEST(test_seldom)
{
	struct clock_choice c;

	clock_choice_init(&c);
	walk_until(&c, true, 0, 10000);
	assert_true(c.small);
	assert_int_equal(walk_until(&c, false, 2000, 100000), 100000);
}

/* A program that is shallow whenever it is looked at, and deep right after. */
TEST(test_patience)
{
	struct clock_choice c;
	uint32_t waits[4];

	clock_choice_init(&c);
	for (size_t i = 0; i < 4; i++) {
		waits[i] = walk_until(&c, true, 0, 1000000);
		assert_true(c.small);
		assert_in_range(walk_until(&c, false, 1, 1000), 1, 10);
	}
	for (size_t i = 1; i < 4; i++)
		assert_int_equal(waits[i], 4 * waits[i - 1]);
}

/* ---- short-lived threads ---- */

#define INTERVAL_NS UINT64_C(1000000)

struct lives_fixture {
	struct capture_writer *writer; /* of a file that nobody reads */
	struct object_table *objects;
	struct perf_event_set events;
	struct recording recording;
	struct perf_tally tally; /* clocks that have counted for a second, without a sample */
	struct short_lives lives;
};

static void end_thread(void *context, struct thread *thread, uint64_t time_ns)
{
	struct lives_fixture *f = context;

	(void)time_ns;
	short_lives_ended(&f->lives, thread);
}

static void begin_lives(struct lives_fixture *f)
{
	const struct process_hooks hooks = {.ended = end_thread, .context = f};

	char path[64];

	*f = (struct lives_fixture){0};
	snprintf(path, sizeof(path), "test_clock_choice.%d.prof", (int)getpid());
	assert_null(capture_writer_create(path, &f->writer));
	f->objects = object_table_create(f->writer);
	f->recording.processes = process_table_create(f->writer, f->objects, 0);
	f->tally = (struct perf_tally){.events = &f->events,
		.recording = &f->recording,
		.counts.cpu_ns = 1000 * INTERVAL_NS,
		.due_ns = UINT64_MAX};
	process_table_hook(f->recording.processes, &hooks);
}

static void end_lives(struct lives_fixture *f)
{
	process_table_destroy(f->recording.processes);
	object_table_destroy(f->objects);
	capture_writer_abandon(f->writer);
}

static void start_threads(struct lives_fixture *f, int64_t first_tid, int64_t count)
{
	for (int64_t tid = first_tid; tid < first_tid + count; tid++)
		process_table_fork(f->recording.processes, 1, 1, tid, clock_monotonic_ns());
}

static void end_threads(struct lives_fixture *f, int64_t first_tid, int64_t count)
{
	for (int64_t tid = first_tid; tid < first_tid + count; tid++)
		process_table_exit(f->recording.processes, 1, tid, clock_monotonic_ns());
}

static uint64_t due(struct lives_fixture *f)
{
	return short_lives_due(&f->lives, &f->events, &f->tally, INTERVAL_NS);
}

TEST(test_threads_that_live_on_are_not_short)
{
	static struct lives_fixture f;

	begin_lives(&f);
	short_lives_begin(&f.lives, &f.tally);
	start_threads(&f, 1, 100);
	assert_int_equal(due(&f), 0);
	end_threads(&f, 2, 50);
	assert_int_equal(due(&f), 1000);
	end_lives(&f);
}

TEST(test_threads_of_before_are_not_short)
{
	static struct lives_fixture f;

	begin_lives(&f);
	start_threads(&f, 1, 100);
	short_lives_begin(&f.lives, &f.tally);
	end_threads(&f, 2, 50);
	assert_int_equal(due(&f), 0);
	end_lives(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shallow),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_patience),
		cmocka_unit_test(test_threads_that_live_on_are_not_short),
		cmocka_unit_test(test_threads_of_before_are_not_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
