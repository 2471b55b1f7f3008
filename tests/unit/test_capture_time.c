/*
 * The notes about a recording's time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "formats/sonde/layout/capture.h"
#include "formats/sonde/layout/capture_stray.h"
#include "model/profile.h"
#include "formats/sonde/capture_time.h"
#include "../unit.h"

#define SECOND	 UINT64_C(1000000000)
#define INTERVAL UINT64_C(1000000)

static uint64_t *counters;	  /* [CAPTURE_COUNTER_COUNT] */
static struct capture_time whole; /* nothing is missing of it */
static struct profile *profile;

static int begin(void **state)
{
	(void)state;
	counters = xcalloc(CAPTURE_COUNTER_COUNT, sizeof(*counters));
	whole = (struct capture_time){.counters = counters,
		.cpu_ns = SECOND,
		.interval_ns = INTERVAL,
		.sampled_ns = SECOND,
		.off_cpu_ns = 10 * SECOND};
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_destroy(profile);
	profile = NULL;
	free(counters);
	return 0;
}

static void make_notes(const struct capture_time *time)
{
	struct builder *b = builder_create();

	builder_metric(b, STR("cpu-time"), STR("ns"));
	capture_time_note(time, b);
	assert_null(builder_finish(b, &profile));
}

static void expect(enum note_kind kind, uint64_t count, const char *text)
{
	struct str is;

	assert_int_equal(profile->note_count, 1);
	assert_int_equal(profile->notes[0].kind, kind);
	assert_int_equal(profile->notes[0].count, count);
	is = profile_string(profile, profile->notes[0].text);
	assert_int_equal(is.size, strlen(text));
	assert_memory_equal(is.data, text, is.size);
}

TEST(nothing_is_said_of_what_is_whole)
{
	/* So little is missing of most. */
	whole.sampled_ns = SECOND * 985 / 1000;
	counters[CAPTURE_UNSAMPLED_KERNEL_NS] = SECOND / 200;
	counters[CAPTURE_UNREACHED_NS] = SECOND / 200;
	counters[CAPTURE_ESTIMATED_BLOCKS] = 5;
	counters[CAPTURE_ESTIMATED_NS] = SECOND / 20;
	whole.cut_ns = SECOND / 20;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 0);
}

TEST(what_is_not_known_is_not_missing)
{
	whole = (struct capture_time){
		.counters = counters, .cpu_ns = UINT64_MAX, .interval_ns = UINT64_MAX};
	counters[CAPTURE_UNREACHED_NS] = SECOND;
	counters[CAPTURE_UNSAMPLED_KERNEL_NS] = SECOND;
	counters[CAPTURE_LOST_RING] = 5;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 0);
}

/* A program so short that its start is all. */
TEST(of_little_time_nothing_is_said)
{
	whole.cpu_ns = whole.sampled_ns = SECOND / 1000;
	counters[CAPTURE_UNREACHED_NS] = SECOND / 2000;
	counters[CAPTURE_UNSAMPLED_KERNEL_NS] = SECOND / 2000;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 0);
}

TEST(kernel_time)
{
	counters[CAPTURE_UNSAMPLED_KERNEL_NS] = SECOND / 4;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"20 % of the CPU time, 0.250 s, is not here: it went by in kernel code, which "
		"could not be sampled");
}

TEST(unreached_time_is_not_missing_too)
{
	whole.sampled_ns = SECOND / 2;
	counters[CAPTURE_UNREACHED_NS] = SECOND / 2;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"50 % of the CPU time, 0.500 s, is not here: it went by where the preloaded "
		"library was not: it is not known where");
}

TEST(causes_that_were_seen_are_told)
{
	whole.sampled_ns = SECOND / 2;
	counters[CAPTURE_UNREACHED_NS] = SECOND / 2;
	counters[CAPTURE_STRAY_NS + CAPTURE_STRAY_STATIC] = SECOND / 5;
	counters[CAPTURE_STRAY_NS + CAPTURE_STRAY_CLONE] = SECOND / 10;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"50 % of the CPU time, 0.500 s, is not here: it went by where the preloaded "
		"library was not: 0.200 s in statically linked programs, 0.100 s in threads not "
		"made by pthread_create, 0.200 s it is not known where");
}

/* Looks may have counted more than the system did in the end. */
TEST(causes_are_no_more_than_the_whole)
{
	whole.sampled_ns = SECOND / 2;
	counters[CAPTURE_UNREACHED_NS] = SECOND / 2;
	counters[CAPTURE_STRAY_NS + CAPTURE_STRAY_SECCOMP] = SECOND;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"50 % of the CPU time, 0.500 s, is not here: it went by where the preloaded "
		"library was not: 0.500 s in threads under seccomp");
}

TEST(lost_samples_are_not_missing_too)
{
	whole.sampled_ns = SECOND / 2;
	counters[CAPTURE_LOST_RING] = 490;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 0);
}

TEST(missing_time)
{
	whole.sampled_ns = SECOND * 9 / 10;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"10 % of the CPU time, 0.100 s, is in no sample: it went by in threads shorter "
		"than the interval, or the clock was late");
}

TEST(missing_time_of_a_set_uid_program)
{
	whole.sampled_ns = SECOND * 9 / 10;
	counters[CAPTURE_DENIED_PROGRAMS] = 1;
	counters[CAPTURE_DENIED_ALIVE] = 1;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 1);
	expect(NOTE_LOST, 1,
		"10 % of the CPU time, 0.100 s, is in no sample: it went by in a program that is "
		"set-uid or set-gid, with file capabilities or not to be read; to see it, record "
		"the whole machine as root (-a)");
}

/* They may be programs that were killed as they began. */
TEST(missing_time_of_programs_that_are_gone)
{
	whole.sampled_ns = SECOND * 9 / 10;
	counters[CAPTURE_DENIED_PROGRAMS] = 3;
	make_notes(&whole);
	expect(NOTE_LOST, 1,
		"10 % of the CPU time, 0.100 s, is in no sample: it went by in programs that are "
		"set-uid or set-gid, with file capabilities or not to be read; to see them, record "
		"the whole machine as root (-a)");
}

TEST(set_uid_programs_of_unknown_time)
{
	counters[CAPTURE_DENIED_PROGRAMS] = 3;
	counters[CAPTURE_DENIED_ALIVE] = 2;
	make_notes(&whole);
	expect(NOTE_LOST, 3,
		"programs were not sampled, as they are set-uid or set-gid, have file capabilities "
		"or may not be read: to see them, record the whole machine as root (-a)");
}

TEST(no_time_of_programs_that_are_gone)
{
	counters[CAPTURE_DENIED_PROGRAMS] = 3;
	make_notes(&whole);
	assert_int_equal(profile->note_count, 0);
}

TEST(one_estimate)
{
	counters[CAPTURE_ESTIMATED_BLOCKS] = 1;
	counters[CAPTURE_ESTIMATED_NS] = SECOND;
	make_notes(&whole);
	expect(NOTE_GUESSED, 1,
		"time off the CPU, 10 % of all, is shown at the stack that its thread had next to "
		"it");
}

TEST(several_estimates)
{
	counters[CAPTURE_ESTIMATED_BLOCKS] = 7;
	counters[CAPTURE_ESTIMATED_NS] = 20 * SECOND; /* more than all is all */
	make_notes(&whole);
	expect(NOTE_GUESSED, 7,
		"times off the CPU, 100 % of all, are shown at the stack that their thread had "
		"next to them");
}

TEST(time_without_a_stack)
{
	whole.cut_ns = 4 * SECOND;
	make_notes(&whole);
	expect(NOTE_TRUNCATED, 1,
		"40 % of the time off the CPU, 4.000 s, is under [truncated]: its stack could not "
		"be had, or not whole");
}

#define ROW(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ROW(nothing_is_said_of_what_is_whole),
		ROW(what_is_not_known_is_not_missing),
		ROW(of_little_time_nothing_is_said),
		ROW(kernel_time),
		ROW(unreached_time_is_not_missing_too),
		ROW(causes_that_were_seen_are_told),
		ROW(causes_are_no_more_than_the_whole),
		ROW(lost_samples_are_not_missing_too),
		ROW(missing_time),
		ROW(missing_time_of_a_set_uid_program),
		ROW(missing_time_of_programs_that_are_gone),
		ROW(set_uid_programs_of_unknown_time),
		ROW(no_time_of_programs_that_are_gone),
		ROW(one_estimate),
		ROW(several_estimates),
		ROW(time_without_a_stack),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
