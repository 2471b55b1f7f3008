/*
 * The builder's interning and sums, roots, and what an input answers for.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../random_profile.h"
#include "../unit.h"
#include "base/alloc.h"
#include "model/builder.h"
#include "model/roots.h"

static struct builder *new_builder(void)
{
	struct builder *b = builder_create();

	assert_int_equal(builder_metric(b, STR("samples"), STR("count")).i, 0);
	return b;
}

static frame_id frame(struct builder *b, const char *name)
{
	function_id f = builder_function(
		b, builder_string(b, str_from(name)), (object_id){NO_ID}, (string_id){0}, 0);

	return builder_frame(b, f, (string_id){0}, 0, false, 0);
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;
	struct error *err = builder_finish(b, &p);

	if (err)
		fail_msg("%s", err->message);
	return p;
}

static void expect_finish_error(struct builder *b, const char *part)
{
	struct profile *p = NULL;
	struct error *err = builder_finish(b, &p);

	assert_non_null(err);
	assert_null(p);
	assert_int_equal(err->kind, ERROR_INPUT);
	assert_non_null(strstr(err->message, part));
	error_destroy(err);
}

TEST(same_contents_give_same_ids)
{
	struct builder *b = new_builder();
	string_id s = builder_string(b, STR("s")), t = builder_string(b, STR("t"));

	assert_int_equal(builder_string(b, STR("")).i, 0);
	assert_int_equal(builder_string(b, STR("s")).i, s.i);
	assert_true(str_equal(builder_string_bytes(b, t), STR("t")));
	assert_int_equal(builder_metric(b, STR("samples"), STR("count")).i, 0);
	assert_int_equal(builder_metric(b, STR("samples"), STR("ns")).i, 1);
	object_id o = builder_object(b, STR("/a"), STR("id"), OBJECT_USER);
	assert_int_equal(builder_object(b, STR("/a"), STR("id"), OBJECT_USER).i, o.i);
	assert_int_not_equal(builder_object(b, STR("/a"), STR("id"), OBJECT_JIT).i, o.i);
	assert_int_not_equal(builder_object(b, STR("/a"), STR(""), OBJECT_USER).i, o.i);
	function_id f = builder_function(b, s, o, t, 1);
	assert_int_equal(builder_function(b, s, o, t, 1).i, f.i);
	assert_int_not_equal(builder_function(b, s, o, t, 2).i, f.i);
	assert_int_not_equal(builder_function(b, s, (object_id){NO_ID}, t, 1).i, f.i);
	assert_int_not_equal(builder_function(b, t, o, t, 1).i, f.i);
	assert_int_not_equal(builder_function(b, s, o, s, 1).i, f.i);
	frame_id fr = builder_frame(b, f, t, 1, false, 16);
	assert_int_equal(builder_frame(b, f, t, 1, false, 16).i, fr.i);
	assert_int_not_equal(builder_frame(b, f, t, 1, true, 16).i, fr.i);
	assert_int_not_equal(builder_frame(b, f, t, 2, false, 16).i, fr.i);
	assert_int_not_equal(builder_frame(b, f, s, 1, false, 16).i, fr.i);
	assert_int_not_equal(builder_frame(b, f, t, 1, false, 17).i, fr.i);
	builder_destroy(b);
	builder_destroy(NULL);
}

TEST(stacks_are_one_tree)
{
	struct builder *b = new_builder();
	frame_id frames[40];
	stack_id under[40];
	char name[8];

	for (uint32_t i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "f%u", i);
		frames[i] = frame(b, name);
		under[i] = builder_stack(b, (stack_id){0}, frames[i]);
	}
	/* 40 × 40 pairs, twice. */
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 1600; i++)
			assert_int_equal(builder_stack(b, under[i / 40], frames[i % 40]).i, 41 + i);
	struct profile *p = finish(b);
	assert_int_equal(p->stack_count, 1 + 40 + 1600);
	assert_int_equal(p->depth_max, 2);
	assert_int_equal(profile_stack_parent(p, 41 + 85), under[2].i);
	assert_int_equal(p->stack_frame[41 + 85].i, frames[5].i);
	profile_destroy(p);
}

/* Of the leaf of a stack. */
static const char *function_name(const struct profile *p, size_t stack)
{
	const struct frame *f = &p->frames[p->stack_frame[stack].i];

	return profile_string(p, p->functions[f->function.i].name).data;
}

/* What has no stack is a function's, also where there is such a function already. */
TEST(no_stack_is_a_function)
{
	for (int samples = 0; samples < 2; samples++) {
		struct builder *b = new_builder();
		stack_id none = {0}, same = builder_stack(b, none, frame(b, "[no stack]"));
		const stack_id stacks[] = {none, same, builder_stack(b, none, frame(b, "f"))};

		for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
			if (samples)
				builder_sample(b, stacks[i], (thread_id){NO_ID}, UINT64_MAX,
					(int64_t[]){1 << i});
			else
				builder_weight(b, stacks[i], (int64_t[]){1 << i}, 1);
		struct profile *p = finish(b);
		assert_int_equal(profile_weight(p, 0, 0), 0);
		assert_int_equal(profile_weight(p, 0, 1), 3);
		assert_int_equal(profile_weight(p, 0, 2), 4);
		/* The metric counts samples, where they come singly. */
		assert_int_equal(profile_samples(p, 1), samples ? 3 : 2);
		assert_int_equal(p->total[0], 7);
		assert_int_equal(p->row_count, 3);
		profile_destroy(p);
	}
}

/* What WHEN patterns have left stays where it is: reports say how much it is. */
TEST(what_patterns_left_has_no_stack)
{
	struct builder *b = new_builder();

	builder_weight(b, (stack_id){0}, (int64_t[]){7}, 1);
	builder_header(b)->when = builder_string(b, STR("f\0"));
	struct profile *p = finish(b);
	assert_int_equal(profile_weight(p, 0, 0), 7);
	assert_int_equal(p->stack_count, 1);
	profile_destroy(p);
}

TEST(weights_add_up)
{
	struct builder *b = new_builder();
	stack_id main_ = builder_stack(b, (stack_id){0}, frame(b, "main"));
	stack_id leaf = builder_stack(b, main_, frame(b, "leaf"));

	builder_weight(b, leaf, (int64_t[]){5}, 1);
	builder_weight(b, leaf, (int64_t[]){-2}, 2);
	builder_weight(b, (stack_id){0}, (int64_t[]){7}, 3);
	/* One more stack, without weight, behind the last that has one. */
	(void)builder_stack(b, leaf, frame(b, "leaf"));
	struct profile *p = finish(b);
	assert_int_equal(profile_weight(p, 0, leaf.i), 3);
	assert_int_equal(profile_weight(p, 0, main_.i), 0);
	assert_int_equal(profile_weight(p, 0, 0), 0);
	assert_int_equal(profile_weight(p, 0, 3), 0);
	assert_int_equal(profile_weight(p, 0, 4), 7);
	assert_int_equal(profile_samples(p, 4), 3);
	assert_int_equal(profile_stack_parent(p, 4), 0);
	assert_string_equal(function_name(p, 4), "[no stack]");
	assert_int_equal(p->total[0], 10);
	assert_int_equal(profile_samples(p, leaf.i), 3);
	assert_int_equal(p->stats.counted, 6);
	assert_true(p->stats.lost == UINT64_MAX);
	assert_int_equal(p->samples.count, 0);
	profile_destroy(p);
}

TEST(unknown_sample_counts_stay_unknown)
{
	struct builder *b = new_builder();

	builder_weight(b, (stack_id){0}, (int64_t[]){1}, 1);
	builder_weight(b, (stack_id){0}, (int64_t[]){1}, UINT64_MAX);
	builder_weight(b, (stack_id){0}, (int64_t[]){1}, 1);
	struct profile *p = finish(b);
	assert_null(p->row_samples);
	assert_true(p->stats.counted == UINT64_MAX);
	profile_destroy(p);
}

TEST(samples_are_summed)
{
	struct builder *b = new_builder();
	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	stack_id s = builder_stack(b, (stack_id){0}, frame(b, "main"));
	process_id process = builder_process(b, 7, 0, STR("p"));
	thread_id thread = builder_thread(b, 8, process, 0, STR("t"));

	builder_sample(b, s, thread, 10, (int64_t[]){1, 100});
	builder_sample(b, s, thread, 20, (int64_t[]){1, 200});
	builder_sample(b, (stack_id){0}, thread, 30, (int64_t[]){1, 50});
	struct profile *p = finish(b);
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(p->samples.weight[1][1], 200);
	assert_int_equal(p->samples.time_ns[2], 30);
	assert_int_equal(profile_weight(p, 1, s.i), 300);
	assert_int_equal(profile_samples(p, s.i), 2);
	assert_int_equal(p->total[1], 350);
	profile_destroy(p);
}

TEST(notes_of_one_text_are_counted_together)
{
	struct builder *b = new_builder();

	builder_note(b, NOTE_LOST, 2, "lost by %s", "x");
	builder_note(b, NOTE_LOST, 3, "lost by x");
	builder_note(b, NOTE_INFO, 1, "lost by x");
	builder_note(b, NOTE_INFO, UINT64_MAX, "lost by x");
	struct profile *p = finish(b);
	assert_int_equal(p->note_count, 2);
	assert_int_equal(p->notes[0].count, 5);
	assert_true(p->notes[1].count == UINT64_MAX);
	profile_destroy(p);
}

TEST(empty_profiles_are_fine)
{
	struct profile *p = finish(new_builder());

	assert_int_equal(p->stack_count, 1);
	assert_int_equal(p->total[0], 0);
	assert_int_equal(p->stats.counted, 0);
	metric_id metric;
	assert_true(profile_find_metric(p, STR("samples"), &metric));
	assert_false(profile_find_metric(p, STR("sample"), &metric));
	assert_int_equal(profile_module(p, (object_id){NO_ID}).size, 0);
	profile_destroy(p);
	profile_destroy(NULL);
	expect_finish_error(builder_create(), "no metric");
}

TEST(sums_beyond_63_bits_are_refused)
{
	static const int64_t most = INT64_MAX, one = 1, minus_one = -1, least = INT64_MIN,
			     minus_most = -INT64_MAX;
	const int64_t *const refused[][2] = {
		{&most, &one}, {&minus_most, &minus_one}, {&least, &one}, {&most, &most}};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		for (size_t k = 0; k < 2; k++) {
			struct builder *b = new_builder();
			stack_id s = builder_stack(b, (stack_id){0}, frame(b, "main"));
			builder_weight(b, s, refused[i][k], UINT64_MAX);
			builder_weight(b, (stack_id){0}, refused[i][1 - k], UINT64_MAX);
			expect_finish_error(b, "'samples' exceeds 64 bits");
		}
	}
	struct builder *b = new_builder();
	builder_sample(b, (stack_id){0}, (thread_id){NO_ID}, UINT64_MAX, &most);
	builder_sample(b, (stack_id){0}, (thread_id){NO_ID}, UINT64_MAX, &one);
	expect_finish_error(b, "exceeds 64 bits");
	b = new_builder();
	builder_weight(b, (stack_id){0}, &one, (uint64_t)1 << 63);
	expect_finish_error(b, "exceeds 64 bits");
	b = new_builder();
	builder_weight(b, (stack_id){0}, &most, 1);
	profile_destroy(finish(b));
}

/* No figure, a sum of some weights, is beyond 63 bits: those of each sign are not. */
TEST(weights_of_each_sign_have_63_bits)
{
	static const int64_t most = INT64_MAX, minus_most = -INT64_MAX;

	for (int samples = 0; samples < 2; samples++) {
		struct builder *b = new_builder();
		stack_id more = builder_stack(b, (stack_id){0}, frame(b, "more"));
		stack_id less = builder_stack(b, (stack_id){0}, frame(b, "less"));

		if (samples) {
			builder_sample(b, more, (thread_id){NO_ID}, UINT64_MAX, &most);
			builder_sample(b, less, (thread_id){NO_ID}, UINT64_MAX, &minus_most);
		} else {
			builder_weight(b, more, &most, UINT64_MAX);
			builder_weight(b, less, &minus_most, UINT64_MAX);
		}
		struct profile *p = finish(b);
		assert_int_equal(p->total[0], 0);
		assert_int_equal(profile_weight(p, 0, more.i), most);
		assert_int_equal(profile_weight(p, 0, less.i), minus_most);
		profile_destroy(p);
	}
}

static struct str frame_name(const struct profile *p, stack_id stack)
{
	const struct frame *f = &p->frames[p->stack_frame[stack.i].i];

	return profile_string(p, p->functions[f->function.i].name);
}

/* One stack in two threads of one process and in another process. */
static struct profile *threaded_profile(void)
{
	struct builder *b = new_builder();
	stack_id stack = builder_stack(b, (stack_id){0}, frame(b, "main"));
	process_id one = builder_process(b, 10, 0, STR("one"));
	process_id two = builder_process(b, 20, 0, STR("two"));
	thread_id threads[] = {builder_thread(b, 10, one, 0, STR("one")),
		builder_thread(b, 11, one, 0, STR("pool")),
		builder_thread(b, 20, two, 0, STR("two"))};

	stack = builder_stack(b, stack, frame(b, "work"));
	for (int64_t i = 0; i < 6; i++)
		builder_sample(b, stack, threads[i % 3], (uint64_t)i, &(int64_t){1 + i});
	builder_note(b, NOTE_LOST, 3, "samples were lost");
	return finish(b);
}

TEST(roots_are_processes_and_threads)
{
	static const char *const threads[] = {
		"one (thread 10)", "pool (thread 11)", "two (thread 20)"};
	struct profile *p = threaded_profile(), *by_process = NULL, *by_thread = NULL;

	assert_null(profile_with_roots(p, ROOTS_PROCESS, &by_process));
	assert_null(profile_with_roots(p, ROOTS_THREAD, &by_thread));
	assert_int_equal(by_process->total[0], p->total[0]);
	assert_int_equal(by_process->samples.count, p->samples.count);
	assert_int_equal(by_process->note_count, 1);
	assert_int_equal(by_process->stack_count, 1 + 2 * 3);
	assert_int_equal(by_thread->stack_count, 1 + 2 + 3 * 3);
	for (size_t i = 0; i < p->samples.count; i++) {
		stack_id work = by_thread->samples.stack[i];
		stack_id thread = profile_parent(by_thread, profile_parent(by_thread, work));
		stack_id process = profile_parent(by_thread, thread);

		assert_string_equal(frame_name(by_thread, thread).data, threads[i % 3]);
		assert_string_equal(
			frame_name(by_thread, process).data, i % 3 == 2 ? "two (20)" : "one (10)");
		assert_int_equal(by_thread->samples.weight[0][i], p->samples.weight[0][i]);
	}
	profile_destroy(p);
	profile_destroy(by_process);
	profile_destroy(by_thread);
}

TEST(roots_take_threads)
{
	struct builder *b = new_builder();
	struct profile *p, *rooted = NULL;

	builder_weight(b, builder_stack(b, (stack_id){0}, frame(b, "main")), &(int64_t){1}, 1);
	p = finish(b);
	struct error *err = profile_with_roots(p, ROOTS_PROCESS, &rooted);

	assert_non_null(err);
	assert_null(rooted);
	error_destroy(err);
	profile_destroy(p);
}

/* As many functions as nothing but the budget refuses, each called by the empty stack. */
static void add_functions(struct builder *b, size_t count)
{
	int64_t one = 1;
	char name[32];

	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "f%zu", i);
		builder_weight(b, builder_stack(b, (stack_id){0}, frame(b, name)), &one, 1);
	}
}

static uint64_t notes_of(const struct profile *p, const char *part)
{
	uint64_t count = 0;

	for (size_t i = 0; i < p->note_count; i++)
		if (strstr(profile_string(p, p->notes[i].text).data, part))
			count += p->notes[i].count;
	return count;
}

static bool has_function(const struct profile *p, const char *name)
{
	for (size_t i = 0; i < p->function_count; i++)
		if (str_equal(profile_string(p, p->functions[i].name), str_from(name)))
			return true;
	return false;
}

/*
 * Stacks that share no callers, of a hundred thousand in a file of eight megabytes, with four
 * metrics: none of it is left out, and all is at its stack.
 */
TEST(distinct_stacks_lose_nothing)
{
	enum { STACKS = 100000, DEPTH = 34, FUNCTIONS = 5000 };
	static const int64_t weight[] = {1, 2, 3, 4};
	struct builder *b = builder_create();
	struct random random = random_from(1);
	frame_id frames[FUNCTIONS], path[DEPTH];
	stack_id stacks[DEPTH];
	char name[32];

	for (size_t m = 0; m < ARRAY_SIZE(weight); m++) {
		snprintf(name, sizeof(name), "metric-%zu", m);
		(void)builder_metric(b, str_from(name), STR("count"));
	}
	builder_answer_for(b, 8 << 20);
	for (size_t i = 0; i < FUNCTIONS; i++) {
		snprintf(name, sizeof(name), "main.function_%zu", i);
		frames[i] = frame(b, name);
	}
	for (size_t i = 0; i < STACKS; i++) {
		for (size_t k = 0; k < DEPTH; k++)
			path[k] = frames[random_below(&random, FUNCTIONS)];
		assert_int_equal(
			builder_stack_path(b, (stack_id){0}, path, DEPTH, SIZE_MAX, stacks), DEPTH);
		builder_weight(b, stacks[DEPTH - 1], weight, 1);
	}
	struct profile *p = finish(b);
	assert_true(p->stack_count > (size_t)STACKS * (DEPTH - 2));
	assert_int_equal(p->row_count, STACKS + 1);
	assert_int_equal(p->note_count, 0);
	assert_int_equal(p->total[3], 4 * STACKS);
	assert_false(has_function(p, "[left out]"));
	profile_destroy(p);
}

TEST(an_input_answers_for_so_much)
{
	const size_t count = 400000;
	int64_t one = 1;

	struct builder *b = new_builder();
	builder_answer_for(b, 1000);
	add_functions(b, count);
	/* What is there is found for ever. */
	size_t before = builder_stack(b, (stack_id){0}, frame(b, "f7")).i;
	assert_int_equal(before, 8);
	/* A stack that there is no room for is the one it is called from. */
	stack_id parent = {8};
	assert_int_equal(builder_stack(b, parent, frame(b, "f9")).i, parent.i);
	builder_weight(b, builder_stack(b, parent, frame(b, "new")), &one, 1);
	struct profile *p = finish(b);
	assert_in_range(p->function_count, 50000, count / 2);
	assert_int_equal(p->total[0], count + 1);
	assert_true(has_function(p, "[left out]"));
	assert_true(notes_of(p, "names are shown as [left out]") >= count - p->function_count);
	/* Stacks leave some room to weights, so there are names that no stack has. */
	assert_true(notes_of(p, "frames were left out") >= 2);
	profile_destroy(p);
}

TEST(without_an_input_there_is_no_bound)
{
	struct builder *b = new_builder();
	add_functions(b, 400000);
	struct profile *p = finish(b);
	assert_int_equal(p->function_count, 400000);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
	b = new_builder();
	builder_answer_for(b, 200 << 20);
	add_functions(b, 400000);
	p = finish(b);
	assert_int_equal(p->function_count, 400000);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
}

TEST(samples_left_out_are_one)
{
	int64_t weight = 2;

	struct builder *b = new_builder();
	builder_answer_for(b, 0);
	stack_id stack = builder_stack(b, (stack_id){0}, frame(b, "f"));
	builder_sample(b, stack, (thread_id){NO_ID}, 5, &weight);
	builder_charge(b, UINT64_MAX);
	assert_false(builder_has_room(b, 1));
	for (uint64_t i = 0; i < 10; i++) {
		builder_sample(b, stack, (thread_id){NO_ID}, 6 + i, &weight);
		builder_sample_labels(b, (label_set_id){0});
	}
	struct profile *p = finish(b);
	assert_int_equal(p->samples.count, 2);
	assert_int_equal(p->samples.weight[0][1], 20);
	assert_int_equal(p->total[0], 22);
	assert_int_equal(notes_of(p, "samples were summed up in one"), 10);
	profile_destroy(p);
}

enum { COLUMN = 100 };

struct sample_rows {
	stack_id stack[COLUMN], zone[COLUMN];
	thread_id thread[COLUMN];
	uint64_t time_ns[COLUMN];
	int64_t weight[COLUMN];
};

static void fill_rows(struct builder *b, struct sample_rows *r)
{
	process_id process = builder_process(b, 1, 0, STR("p"));
	thread_id thread = builder_thread(b, 1, process, 0, STR("t"));
	stack_id stack = {0};

	for (size_t i = 0; i < COLUMN; i++) {
		if (i % 10 == 0)
			stack = builder_stack(b, stack, frame(b, i % 20 ? "f" : "g"));
		r->stack[i] = r->zone[i] = stack;
		r->thread[i] = thread;
		r->time_ns[i] = i;
		r->weight[i] = (int64_t)(i % 7) - 2;
	}
	r->weight[5] = INT64_MIN / 4;
	r->weight[50] = INT64_MAX / 4;
}

/* The same samples by columns or one by one, with room for `room` bytes of them. */
static struct profile *profile_of_rows(bool by_columns, uint64_t room)
{
	struct builder *b = new_builder();
	struct sample_rows r;
	const int64_t *weight[] = {r.weight};

	builder_answer_for(b, 0);
	fill_rows(b, &r);
	for (uint64_t left = (uint64_t)1 << 40; left; left /= 2)
		if (builder_has_room(b, room + left))
			builder_charge(b, left);
	if (by_columns)
		builder_samples(b, &(struct sample_columns){.count = COLUMN,
					   .stack = r.stack,
					   .thread = r.thread,
					   .time_ns = r.time_ns,
					   .weight = weight,
					   .zone = r.zone});
	for (size_t i = 0; !by_columns && i < COLUMN; i++) {
		builder_sample(b, r.stack[i], r.thread[i], r.time_ns[i], &r.weight[i]);
		builder_sample_zone(b, r.zone[i]);
	}
	return finish(b);
}

TEST(samples_may_come_as_columns)
{
	for (uint64_t room = 100; room <= 1000000; room *= 10) {
		struct profile *a = profile_of_rows(true, room), *b = profile_of_rows(false, room);
		size_t n = b->samples.count;

		assert_int_equal(a->samples.count, n);
		assert_int_equal(n == COLUMN, room >= 10000);
		assert_memory_equal(a->samples.stack, b->samples.stack, n * sizeof(stack_id));
		assert_memory_equal(a->samples.zone, b->samples.zone, n * sizeof(stack_id));
		assert_memory_equal(a->samples.thread, b->samples.thread, n * sizeof(thread_id));
		assert_memory_equal(a->samples.time_ns, b->samples.time_ns, n * sizeof(uint64_t));
		assert_memory_equal(
			a->samples.weight[0], b->samples.weight[0], n * sizeof(int64_t));
		assert_int_equal(a->total[0], b->total[0]);
		assert_int_equal(a->row_count, b->row_count);
		profile_destroy(a);
		profile_destroy(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_contents_give_same_ids),
		cmocka_unit_test(stacks_are_one_tree),
		cmocka_unit_test(weights_add_up),
		cmocka_unit_test(no_stack_is_a_function),
		cmocka_unit_test(what_patterns_left_has_no_stack),
		cmocka_unit_test(unknown_sample_counts_stay_unknown),
		cmocka_unit_test(samples_are_summed),
		cmocka_unit_test(notes_of_one_text_are_counted_together),
		cmocka_unit_test(empty_profiles_are_fine),
		cmocka_unit_test(sums_beyond_63_bits_are_refused),
		cmocka_unit_test(weights_of_each_sign_have_63_bits),
		cmocka_unit_test(roots_are_processes_and_threads),
		cmocka_unit_test(roots_take_threads),
		cmocka_unit_test(distinct_stacks_lose_nothing),
		cmocka_unit_test(an_input_answers_for_so_much),
		cmocka_unit_test(without_an_input_there_is_no_bound),
		cmocka_unit_test(samples_left_out_are_one),
		cmocka_unit_test(samples_may_come_as_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
