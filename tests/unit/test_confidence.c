/*
 * Margins against chance itself: of many recordings of a program whose shares are known, so many
 * intervals hold the truth.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../random_profile.h"
#include "../unit.h"
#include "model/builder.h"
#include "view/margins.h"
#include "view/views.h"

enum { MAIN, ONE, TWO, FUNCTIONS };

/* What a program does at a moment: ONE, TWO, or MAIN itself. */
typedef uint32_t does_at(struct random *r, uint32_t moment, uint32_t *state);

/* The view of functions with their margins. */
struct shown {
	struct profile *profile;
	struct arena *arena;
	const struct report *report;
};

/* Functions that main calls, sampled so often. */
static struct profile *recorded(struct random *r, uint32_t samples, does_at *does)
{
	static const struct str names[] = {STR("main"), STR("one"), STR("two")};
	struct builder *b = builder_create();
	struct profile *profile;
	uint32_t state = 0;
	stack_id stacks[FUNCTIONS], root = {0};

	builder_metric(b, STR("cpu-time"), STR("ns"));
	thread_id thread = builder_thread(b, 1, builder_process(b, 1, 0, STR("p")), 0, STR("t"));
	for (size_t i = 0; i < FUNCTIONS; i++) {
		function_id function = builder_function(b, builder_string(b, names[i]),
			(object_id){NO_ID}, builder_string(b, STR("")), 0);
		frame_id frame =
			builder_frame(b, function, builder_string(b, STR("")), 0, false, 0);

		stacks[i] = builder_stack(b, i == MAIN ? root : stacks[MAIN], frame);
	}
	for (uint32_t i = 0; i < samples; i++) {
		const int64_t weight = 1000000;

		builder_sample(
			b, stacks[does(r, i, &state)], thread, i * (uint64_t)1000000, &weight);
	}
	assert_null(builder_finish(b, &profile));
	return profile;
}

static struct shown shown_of(struct profile *profile)
{
	struct shown s = {.profile = profile, .arena = arena_create()};
	const struct report_query query = {.view = &view_functions, .confidence = true};
	const struct selection *selection = selection_all(profile, s.arena);

	s.report =
		report_create(selection, report_tree(selection, &query, s.arena), &query, s.arena);
	return s;
}

static void shown_free(struct shown *s)
{
	arena_destroy(s->arena);
	profile_destroy(s->profile);
}

/* The row of a function; the test fails if there is none. */
static size_t row_of(const struct shown *s, struct str name)
{
	for (size_t i = 0; i < s->report->row_count; i++)
		if (str_equal(view_functions.entity(s->report, i)->name, name))
			return i;
	fail();
	return 0;
}

/* A figure as part of the total. */
static double part(const struct shown *s, size_t row, enum column_id id)
{
	struct cell cell = columns[id].get(s->report, row);

	assert_false(cell.is_null);
	return (double)cell.weight / (double)cell.base;
}

/* In how many of 400 recordings of a thousand samples the interval of one holds the truth. */
static int held(does_at *does, double truth, double *width)
{
	struct random r = random_from(12);
	int count = 0;

	*width = 0;
	for (int round = 0; round < 400; round++) {
		struct shown s = shown_of(recorded(&r, 1000, does));
		size_t row = row_of(&s, STR("one"));
		double margin = part(&s, row, COLUMN_EXCLUSIVE_MARGIN);

		assert_null(margins_few_note(s.report->margins));
		assert_true(margin == part(&s, row, COLUMN_INCLUSIVE_MARGIN));
		count += fabs(part(&s, row, COLUMN_EXCLUSIVE) - truth) <= margin;
		*width += margin / 400;
		shown_free(&s);
	}
	return count;
}

static uint32_t does_by_itself(struct random *r, uint32_t moment, uint32_t *state)
{
	(void)moment;
	(void)state;
	return random_below(r, 10) < 3 ? ONE : TWO;
}

/* As often, but ten samples at a time. */
static uint32_t does_in_bursts(struct random *r, uint32_t moment, uint32_t *state)
{
	if (moment % 10 == 0)
		*state = does_by_itself(r, moment, state);
	return *state;
}

static uint32_t does_one_after_the_other(struct random *r, uint32_t moment, uint32_t *state)
{
	(void)r;
	(void)state;
	return moment < 300 ? ONE : TWO;
}

/* 95 % of 400 are 380, with a deviation of 4.4; a little more is no harm. */
TEST(intervals_hold_the_truth)
{
	double width;

	assert_true(held(does_by_itself, 0.3, &width) >= 371);
	/* 1.96 √(0.3 · 0.7 / 1000) = 2.8 %, and what so few stretches leave open. */
	assert_true(width > 0.028 && width < 0.034);
}

/* That a burst is one event and not ten is seen: the interval is √10 times as wide. */
TEST(bursts_are_seen)
{
	double width;

	assert_true(held(does_in_bursts, 0.3, &width) >= 366);
	assert_true(width > 0.075 && width < 0.105);
}

/* What a program does first and what it does then is no chance. */
TEST(phases_are_no_chance)
{
	double width;

	assert_int_equal(held(does_one_after_the_other, 0.3, &width), 400);
	assert_true(width < 0.035);
}

static uint32_t does_all_in_main(struct random *r, uint32_t moment, uint32_t *state)
{
	(void)r;
	(void)moment;
	(void)state;
	return MAIN;
}

/* Three in ten samples at most, of a share that no sample was in (Hanley, Lippman-Hand 1983). */
TEST(all_and_nothing_have_margins)
{
	struct random r = random_from(1);
	struct shown s = shown_of(recorded(&r, 1000, does_all_in_main));
	double margin = part(&s, 0, COLUMN_EXCLUSIVE_MARGIN);

	assert_int_equal(s.report->row_count, 1);
	assert_true(margin > 0.003 && margin < 0.005);
	assert_null(margins_alike_note(s.report->margins, s.report, s.arena));
	shown_free(&s);
	s = shown_of(recorded(&r, 10, does_all_in_main));
	assert_non_null(margins_few_note(s.report->margins));
	assert_true(part(&s, 0, COLUMN_EXCLUSIVE_MARGIN) > 0.25);
	shown_free(&s);
}

static uint32_t does_nearly_as_much(struct random *r, uint32_t moment, uint32_t *state)
{
	(void)moment;
	(void)state;
	return random_below(r, 100) < 52 ? ONE : TWO;
}

/* 52 from 48: 1.96² / 0.04² = 2,401 samples. */
TEST(what_it_takes_is_told)
{
	struct random r = random_from(3);
	struct shown few = shown_of(recorded(&r, 400, does_nearly_as_much));
	struct shown many = shown_of(recorded(&r, 40000, does_nearly_as_much));
	const char *note = margins_alike_note(few.report->margins, few.report, few.arena);
	struct cell one = columns[COLUMN_NAME].get(few.report, 0);
	double times;

	assert_non_null(note);
	assert_true(
		str_equal(one.entity->name, STR("one")) || str_equal(one.entity->name, STR("two")));
	assert_int_equal(
		sscanf(note, "%*s and %*s can't be distinguished: that takes %lf times", &times),
		1);
	assert_true(times > 1);
	assert_null(margins_alike_note(many.report->margins, many.report, many.arena));
	shown_free(&few);
	shown_free(&many);
}

TEST(without_times_nothing_is_said)
{
	struct profile *profile = random_profile(1, &random_shape_small);
	struct error *err = confidence_check(profile, (metric_id){0});

	assert_non_null(err);
	assert_int_equal(err->kind, ERROR_UNSUPPORTED);
	error_destroy(err);
	profile_destroy(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_hold_the_truth),
		cmocka_unit_test(bursts_are_seen),
		cmocka_unit_test(phases_are_no_chance),
		cmocka_unit_test(all_and_nothing_have_margins),
		cmocka_unit_test(what_it_takes_is_told),
		cmocka_unit_test(without_times_nothing_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
