/*
 * The builder's interning and sums, and profile_check: each invariant is broken by hand once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "../random_profile.h"
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

static void same_contents_give_same_ids(void **state)
{
	struct builder *b = new_builder();
	string_id s = builder_string(b, STR("s")), t = builder_string(b, STR("t"));

	(void)state;
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

static void stacks_are_one_tree(void **state)
{
	struct builder *b = new_builder();
	frame_id frames[40];
	stack_id under[40];
	char name[8];

	(void)state;
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
	assert_int_equal(p->stacks[41 + 85].parent.i, under[2].i);
	assert_int_equal(p->stacks[41 + 85].frame.i, frames[5].i);
	profile_destroy(p);
}

static void weights_add_up(void **state)
{
	struct builder *b = new_builder();
	stack_id main_ = builder_stack(b, (stack_id){0}, frame(b, "main"));
	stack_id leaf = builder_stack(b, main_, frame(b, "leaf"));

	(void)state;
	builder_weight(b, leaf, (int64_t[]){5}, 1);
	builder_weight(b, leaf, (int64_t[]){-2}, 2);
	builder_weight(b, (stack_id){0}, (int64_t[]){7}, 3);
	/* One more stack, without weight, behind the last that has one. */
	(void)builder_stack(b, leaf, frame(b, "leaf"));
	struct profile *p = finish(b);
	assert_int_equal(p->stack_weight[0][leaf.i], 3);
	assert_int_equal(p->stack_weight[0][main_.i], 0);
	assert_int_equal(p->stack_weight[0][0], 7);
	assert_int_equal(p->stack_weight[0][3], 0);
	assert_int_equal(p->total[0], 10);
	assert_int_equal(p->stack_samples[leaf.i], 3);
	assert_int_equal(p->stats.counted, 6);
	assert_true(p->stats.lost == UINT64_MAX);
	assert_int_equal(p->samples.count, 0);
	profile_destroy(p);
}

static void unknown_sample_counts_stay_unknown(void **state)
{
	struct builder *b = new_builder();

	(void)state;
	builder_weight(b, (stack_id){0}, (int64_t[]){1}, 1);
	builder_weight(b, (stack_id){0}, (int64_t[]){1}, UINT64_MAX);
	builder_weight(b, (stack_id){0}, (int64_t[]){1}, 1);
	struct profile *p = finish(b);
	assert_null(p->stack_samples);
	assert_true(p->stats.counted == UINT64_MAX);
	profile_destroy(p);
}

static void samples_are_summed(void **state)
{
	struct builder *b = new_builder();
	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	stack_id s = builder_stack(b, (stack_id){0}, frame(b, "main"));
	process_id process = builder_process(b, 7, 0, STR("p"));
	thread_id thread = builder_thread(b, 8, process, 0, STR("t"));

	(void)state;
	builder_sample(b, s, thread, 10, (int64_t[]){1, 100});
	builder_sample(b, s, thread, 20, (int64_t[]){1, 200});
	builder_sample(b, (stack_id){0}, thread, 30, (int64_t[]){1, 50});
	struct profile *p = finish(b);
	assert_int_equal(p->samples.count, 3);
	assert_int_equal(p->samples.weight[1][1], 200);
	assert_int_equal(p->samples.time_ns[2], 30);
	assert_int_equal(p->stack_weight[1][s.i], 300);
	assert_int_equal(p->stack_samples[s.i], 2);
	assert_int_equal(p->total[1], 350);
	profile_destroy(p);
}

static void notes_of_one_text_are_counted_together(void **state)
{
	struct builder *b = new_builder();

	(void)state;
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

static void empty_profiles_are_fine(void **state)
{
	struct profile *p = finish(new_builder());

	(void)state;
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

static void sums_beyond_63_bits_are_refused(void **state)
{
	static const int64_t most = INT64_MAX, one = 1, minus_one = -1, least = INT64_MIN;
	const int64_t *const refused[][2] = {
		{&most, &one}, {&most, &minus_one}, {&least, &one}, {&most, &most}};

	(void)state;
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

/* Ways to break a profile; p is writable here, and has everything. */
struct broken {
	struct profile p;
	void *copies[32];
	size_t copy_count;
};

/* A private copy of a table, with room for one row more. */
static void *copy(struct broken *x, const void *rows, size_t count, size_t size)
{
	char *c = xcalloc(count + 1, size);

	memcpy(c, rows, count * size);
	x->copies[x->copy_count++] = c;
	return c;
}

#define COPY(x, table, count) copy((x), (x)->p.table, (x)->p.count, sizeof(*(x)->p.table))

/* A literal for a table's row: writes it into a copy of the table. */
#define BREAK(function, type, table, count, row, change)                                           \
	static void function(struct broken *x)                                                     \
	{                                                                                          \
		type *rows = COPY(x, table, count);                                                \
		rows[row] change;                                                                  \
		x->p.table = rows;                                                                 \
	}

BREAK(string_zero, struct str, strings, string_count, 0, = STR("x"))
BREAK(string_without_nul, struct str, strings, string_count, 1, .size--)
BREAK(object_path, struct object, objects, object_count, 0, .path.i = 9999)
BREAK(object_build_id, struct object, objects, object_count, 0, .build_id.i = 9999)
BREAK(object_kind, struct object, objects, object_count, 0, .kind = OBJECT_KIND_COUNT)
BREAK(function_name, struct function, functions, function_count, 1, .name.i = 9999)
BREAK(function_file, struct function, functions, function_count, 1, .file.i = 9999)
BREAK(function_object, struct function, functions, function_count, 1, .object.i = 9999)
BREAK(frame_function, struct frame, frames, frame_count, 2, .function.i = 9999)
BREAK(frame_file, struct frame, frames, frame_count, 2, .file.i = 9999)
BREAK(stack_zero_frame, struct stack, stacks, stack_count, 0, .frame.i = 0)
BREAK(stack_zero_parent, struct stack, stacks, stack_count, 0, .parent.i = 1)
BREAK(stack_frame, struct stack, stacks, stack_count, 3, .frame.i = NO_ID)
BREAK(stack_parent_self, struct stack, stacks, stack_count, 3, .parent.i = 3)
BREAK(stack_parent_later, struct stack, stacks, stack_count, 3, .parent.i = 4)
BREAK(metric_name, struct metric, metrics, metric_count, 1, .name.i = 9999)
BREAK(metric_unit, struct metric, metrics, metric_count, 1, .unit.i = 9999)
BREAK(process_name, struct process, processes, process_count, 0, .name.i = 9999)
BREAK(thread_name, struct thread, threads, thread_count, 0, .name.i = 9999)
BREAK(thread_process, struct thread, threads, thread_count, 0, .process.i = 9999)
BREAK(note_text, struct note, notes, note_count, 0, .text.i = 9999)
BREAK(note_kind, struct note, notes, note_count, 0, .kind = NOTE_KIND_COUNT)
BREAK(sample_stack, stack_id, samples.stack, samples.count, 0, .i = 9999)
BREAK(sample_thread, thread_id, samples.thread, samples.count, 0, .i = 9999)
BREAK(label_key, struct label, labels, label_count, 0, .key.i = 9999)
BREAK(label_set_rest, struct label_set, label_sets, label_set_count, 1, .rest.i = 1)
BREAK(label_set_label, struct label_set, label_sets, label_set_count, 1, .label.i = 9999)
BREAK(label_set_none, struct label_set, label_sets, label_set_count, 0, .label.i = 0)
BREAK(sample_labels, label_set_id, samples.labels, samples.count, 0, .i = 9999)
BREAK(sample_zone, stack_id, samples.zone, samples.count, 0, .i = 9999)
BREAK(tick_process, struct tick, ticks, tick_count, 1, .process.i = 9999)
BREAK(tick_stream, struct tick, ticks, tick_count, 1, .stream.i = 9999)
BREAK(tick_end, struct tick, ticks, tick_count, 1, .end_ns = 0)
BREAK(tick_order, struct tick, ticks, tick_count, 0, .start_ns = rows[0].end_ns = INT64_MAX)
BREAK(event_thread, thread_id, zone_events.thread, zone_events.count, 0, .i = 9999)
BREAK(event_stack, stack_id, zone_events.stack, zone_events.count, 0, .i = 9999)
BREAK(event_order, uint64_t, zone_events.time_ns, zone_events.count, 0, = UINT64_MAX)
BREAK(sample_without_weight, int64_t *, samples.weight, metric_count, 1, = NULL)
BREAK(total, int64_t, total, metric_count, 1, += 1)
BREAK(arc_caller, struct arc, arcs, arc_count, 0, .caller.i = 9999)
BREAK(arc_callee, struct arc, arcs, arc_count, 0, .callee.i = NO_ID)
BREAK(arc_twice, struct arc, arcs, arc_count, 1, = rows[0])
BREAK(arc_calls, struct arc, arcs, arc_count, 1, .calls = INT64_MAX)
BREAK(stack_sample_count, uint64_t, stack_samples, stack_count, 1, += 1)

static void deep_without_stacks(struct broken *x)
{
	x->p.has_stacks = false;
}
static void strings_none(struct broken *x)
{
	x->p.string_count = 0;
}
static void header_source(struct broken *x)
{
	x->p.source.i = 9999;
}
static void header_format(struct broken *x)
{
	x->p.format.i = 9999;
}
static void header_command(struct broken *x)
{
	x->p.command.i = 9999;
}
static void header_host(struct broken *x)
{
	x->p.host.i = 9999;
}
static void stacks_none(struct broken *x)
{
	x->p.stack_count = 0;
}
static void depth_wrong(struct broken *x)
{
	x->p.depth_max++;
}
static void metrics_none(struct broken *x)
{
	x->p.metric_count = 0;
}
static void default_metric(struct broken *x)
{
	x->p.default_metric.i = (uint32_t)x->p.metric_count;
}
static void samples_without_stack(struct broken *x)
{
	x->p.samples.stack = NULL;
}
static void samples_without_weights(struct broken *x)
{
	x->p.samples.weight = NULL;
}
static void weights_none(struct broken *x)
{
	x->p.stack_weight = NULL;
}
static void totals_none(struct broken *x)
{
	x->p.total = NULL;
}
static void events_without_times(struct broken *x)
{
	x->p.zone_events.time_ns = NULL;
}
static void sample_counts_none(struct broken *x)
{
	x->p.stack_samples = NULL;
}
static void counted_wrong(struct broken *x)
{
	x->p.stats.counted++;
}

/* Two stacks of one parent with one frame: the last becomes a twin of the one before it. */
static void stack_twice(struct broken *x)
{
	struct stack *rows = COPY(x, stacks, stack_count);

	rows[x->p.stack_count - 1] = rows[x->p.stack_count - 2];
	x->p.stacks = rows;
}

static const int64_t **copy_stack_weights(struct broken *x, int64_t **first)
{
	const int64_t **columns = copy(x, x->p.stack_weight, x->p.metric_count, sizeof(*columns));

	*first = copy(x, columns[0], x->p.stack_count, sizeof(**first));
	columns[0] = *first;
	x->p.stack_weight = columns;
	return columns;
}

static void weight_column_missing(struct broken *x)
{
	int64_t *first;

	copy_stack_weights(x, &first)[1] = NULL;
}

/* The total stays, but the weight moves to another stack than the samples'. */
static void weight_on_another_stack(struct broken *x)
{
	int64_t *first;

	(void)copy_stack_weights(x, &first);
	first[1] += 1;
	first[2] -= 1;
}

static void weight_overflow(struct broken *x)
{
	int64_t *first;

	(void)copy_stack_weights(x, &first);
	first[1] = INT64_MAX;
	first[2] = INT64_MAX;
}

static void sample_weight_overflow(struct broken *x)
{
	int64_t **columns = copy(x, x->p.samples.weight, x->p.metric_count, sizeof(*columns));

	columns[0] = copy(x, columns[0], x->p.samples.count, sizeof(**columns));
	columns[0][0] = INT64_MIN;
	x->p.samples.weight = columns;
}

static int64_t **copy_arc_costs(struct broken *x)
{
	int64_t **columns = copy(x, x->p.arc_cost, x->p.metric_count, sizeof(*columns));

	columns[1] = copy(x, columns[1], x->p.arc_count, sizeof(**columns));
	x->p.arc_cost = (const int64_t *const *)columns;
	return columns;
}

static void arc_cost_missing(struct broken *x)
{
	copy_arc_costs(x)[1] = NULL;
}

static void arc_cost_overflow(struct broken *x)
{
	copy_arc_costs(x)[1][0] = INT64_MIN;
}

/* As many samples in all, one counted at another stack. */
static void sample_counted_elsewhere(struct broken *x)
{
	uint64_t *counts = COPY(x, stack_samples, stack_count);
	size_t i = 0;

	while (counts[i] == 0)
		i++;
	counts[i]--;
	counts[i + 1]++;
	x->p.stack_samples = counts;
}

static const struct {
	void (*change)(struct broken *x);
	const char *message; /* a part of it */
} breaks[] = {
	{strings_none, "string 0"},
	{string_zero, "string 0"},
	{string_without_nul, "string 1 does not end in NUL"},
	{header_source, "header string 0"},
	{header_format, "header string 1"},
	{header_command, "header string 2"},
	{header_host, "header string 3"},
	{object_path, "object 0 has a string"},
	{object_build_id, "object 0 has a string"},
	{object_kind, "object 0 is of no known kind"},
	{function_name, "function 1 has a string"},
	{function_file, "function 1 has a string"},
	{function_object, "function 1 has an object"},
	{frame_function, "frame 2 has a function"},
	{frame_file, "frame 2 has a string"},
	{stacks_none, "stack 0"},
	{stack_zero_frame, "stack 0"},
	{stack_zero_parent, "stack 0"},
	{stack_frame, "stack 3 has a frame"},
	{stack_parent_self, "stack 3 does not come after its parent"},
	{stack_parent_later, "stack 3 does not come after its parent"},
	{depth_wrong, "depth_max"},
	{stack_twice, "repeats a frame under its parent"},
	{deep_without_stacks, "a stack has callers"},
	{arc_caller, "arc 0 has a function"},
	{arc_callee, "arc 0 has a function"},
	{arc_twice, "arc 1 repeats a pair"},
	{arc_calls, "calls exceeds 64 bits"},
	{arc_cost_missing, "arcs without costs of metric 1"},
	{arc_cost_overflow, "the costs of arcs in metric 1 exceed 64 bits"},
	{metrics_none, "no metric"},
	{metric_name, "metric 1 has a string"},
	{metric_unit, "metric 1 has a string"},
	{default_metric, "the default metric"},
	{process_name, "process 0 has a string"},
	{thread_name, "thread 0 has a string"},
	{thread_process, "thread 0 has a process"},
	{note_text, "note 0 has a string"},
	{note_kind, "note 0 is of no known kind"},
	{samples_without_stack, "samples without stacks"},
	{samples_without_weights, "samples without stacks or weights"},
	{sample_without_weight, "samples without weights of metric 1"},
	{sample_stack, "sample 0 has a stack"},
	{sample_thread, "sample 0 has a thread"},
	{label_key, "label 0 has a string"},
	{label_set_rest, "label set 1 does not come after its rest"},
	{label_set_label, "label set 1 has a label"},
	{label_set_none, "label set 0 is not the empty set"},
	{sample_labels, "sample 0 has labels out of range"},
	{sample_zone, "sample 0 has a zone"},
	{tick_process, "tick 1 has a process"},
	{tick_stream, "tick 1 has a string"},
	{tick_end, "tick 1 ends before it starts"},
	{tick_order, "tick 1 is out of order"},
	{event_thread, "zone event 0 has a thread"},
	{event_stack, "zone event 0 has a stack"},
	{event_order, "zone event 1 is out of order"},
	{events_without_times, "zone events without"},
	{weights_none, "no weights"},
	{totals_none, "no weights"},
	{weight_column_missing, "stacks without weights of metric 1"},
	{weight_overflow, "exceeds 64 bits"},
	{sample_weight_overflow, "exceeds 64 bits"},
	{total, "total of metric 1"},
	{weight_on_another_stack, "is not the sum of its samples"},
	{sample_counts_none, "no counts of them"},
	{stack_sample_count, "stats.counted"},
	{counted_wrong, "stats.counted"},
	{sample_counted_elsewhere, "does not count its samples"},
};

static struct profile *full_profile(void)
{
	static const struct random_shape shape = {.functions = 5,
		.objects = 2,
		.stacks = 60,
		.depth_max = 6,
		.metrics = 2,
		.weight_max = 9,
		.samples = true,
		.places = true,
		.notes = true,
		.arcs = true,
		.arc_costs = true,
		.zones = true,
		.labels = true};

	return random_profile(3, &shape);
}

static void check_finds_each_break(void **state)
{
	struct profile *whole = full_profile();

	(void)state;
	assert_null(profile_check(whole));
	for (size_t i = 0; i < ARRAY_SIZE(breaks); i++) {
		struct broken x = {.p = *whole};
		breaks[i].change(&x);
		struct error *err = profile_check(&x.p);
		if (err == NULL || strstr(err->message, breaks[i].message) == NULL)
			fail_msg("break %zu: wanted '%s', got '%s'", i, breaks[i].message,
				err ? err->message : "nothing");
		assert_int_equal(err->kind, ERROR_INPUT);
		error_destroy(err);
		while (x.copy_count)
			free(x.copies[--x.copy_count]);
	}
	profile_destroy(whole);
}

static void random_profiles_pass(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		struct random r = random_from(seed);
		struct random_shape shape = random_shape_any(&r);
		struct profile *p = random_profile(seed, &shape);
		struct profile *q = random_profile_shuffled(seed, seed + 1, &shape);
		assert_null(profile_check(p));
		assert_int_equal(p->stack_count, q->stack_count);
		assert_int_equal(p->depth_max, q->depth_max);
		for (size_t m = 0; m < p->metric_count; m++)
			assert_true(p->total[m] == q->total[m]);
		profile_destroy(p);
		profile_destroy(q);
	}
}

static struct str frame_name(const struct profile *p, stack_id stack)
{
	const struct frame *f = &p->frames[p->stacks[stack.i].frame.i];

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

static void roots_are_processes_and_threads(void **state)
{
	static const char *const threads[] = {
		"one (thread 10)", "pool (thread 11)", "two (thread 20)"};
	struct profile *p = threaded_profile(), *by_process = NULL, *by_thread = NULL;

	(void)state;
	assert_null(profile_with_roots(p, ROOTS_PROCESS, &by_process));
	assert_null(profile_with_roots(p, ROOTS_THREAD, &by_thread));
	assert_int_equal(by_process->total[0], p->total[0]);
	assert_int_equal(by_process->samples.count, p->samples.count);
	assert_int_equal(by_process->note_count, 1);
	assert_int_equal(by_process->stack_count, 1 + 2 * 3);
	assert_int_equal(by_thread->stack_count, 1 + 2 + 3 * 3);
	for (size_t i = 0; i < p->samples.count; i++) {
		stack_id work = by_thread->samples.stack[i];
		stack_id thread = by_thread->stacks[by_thread->stacks[work.i].parent.i].parent;
		stack_id process = by_thread->stacks[thread.i].parent;

		assert_string_equal(frame_name(by_thread, thread).data, threads[i % 3]);
		assert_string_equal(
			frame_name(by_thread, process).data, i % 3 == 2 ? "two (20)" : "one (10)");
		assert_int_equal(by_thread->samples.weight[0][i], p->samples.weight[0][i]);
	}
	profile_destroy(p);
	profile_destroy(by_process);
	profile_destroy(by_thread);
}

static void roots_take_threads(void **state)
{
	struct builder *b = new_builder();
	struct profile *p, *rooted = NULL;

	(void)state;
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

static void an_input_answers_for_so_much(void **state)
{
	const size_t count = 400000;
	int64_t one = 1;

	(void)state;
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
	assert_string_equal(
		profile_string(p, p->functions[p->function_count - 1].name).data, "[left out]");
	assert_true(notes_of(p, "names are shown as [left out]") >= count - p->function_count);
	assert_int_equal(notes_of(p, "frames were left out"), 2);
	profile_destroy(p);
}

static void without_an_input_there_is_no_bound(void **state)
{
	(void)state;
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

static void samples_left_out_are_one(void **state)
{
	int64_t weight = 2;

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_contents_give_same_ids),
		cmocka_unit_test(stacks_are_one_tree),
		cmocka_unit_test(weights_add_up),
		cmocka_unit_test(unknown_sample_counts_stay_unknown),
		cmocka_unit_test(samples_are_summed),
		cmocka_unit_test(notes_of_one_text_are_counted_together),
		cmocka_unit_test(empty_profiles_are_fine),
		cmocka_unit_test(sums_beyond_63_bits_are_refused),
		cmocka_unit_test(check_finds_each_break),
		cmocka_unit_test(random_profiles_pass),
		cmocka_unit_test(roots_are_processes_and_threads),
		cmocka_unit_test(roots_take_threads),
		cmocka_unit_test(an_input_answers_for_so_much),
		cmocka_unit_test(without_an_input_there_is_no_bound),
		cmocka_unit_test(samples_left_out_are_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
