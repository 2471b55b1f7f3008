/*
 * profile_check: each invariant is broken by hand once; random profiles break none.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../random_profile.h"
#include "../unit.h"
#include "base/alloc.h"
#include "model/builder.h"

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
BREAK(stack_zero_frame, frame_id, stack_frame, stack_count, 0, .i = 0)
BREAK(stack_zero_parent, uint32_t, runs.parent, runs.count, 0, = 1)
BREAK(stack_frame, frame_id, stack_frame, stack_count, 3, .i = NO_ID)
BREAK(stack_parent_self, uint32_t, runs.parent, runs.count, 1, = x->p.runs.first[1])
BREAK(stack_parent_later, uint32_t, runs.parent, runs.count, 1, = x->p.runs.first[1] + 1)
/* The stack right before is one that the run would go on from. */
BREAK(run_goes_on, uint32_t, runs.parent, runs.count, 1, = x->p.runs.first[1] - 1)
BREAK(run_begins_late, uint32_t, runs.first, runs.count + 1, 1, ++)
BREAK(run_is_empty, uint32_t, runs.first, runs.count + 1, 1, = 0)
BREAK(runs_end_late, uint32_t, runs.first, runs.count + 1, x->p.runs.count, ++)
BREAK(run_bits, uint64_t, runs.begins.bits, stack_count / 64 + 1, 0, ^= 2)
BREAK(run_ranks, uint32_t, runs.begins.before, stack_count / 64 + 1, 0, ++)
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
BREAK(row_sample_count, uint64_t, row_samples, row_count, 1, += 1)
BREAK(row_zero_samples, uint64_t, row_samples, row_count, 0, += 1)
BREAK(weighted_bits, uint64_t, weighted.bits, stack_count / 64 + 1, 0, ^= 2)
BREAK(weighted_ranks, uint32_t, weighted.before, stack_count / 64 + 1, 0, ++)

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
static const int64_t **copy_row_weights(struct broken *x, int64_t **first)
{
	const int64_t **columns = copy(x, x->p.row_weight, x->p.metric_count, sizeof(*columns));

	*first = copy(x, columns[0], x->p.row_count, sizeof(**first));
	columns[0] = *first;
	x->p.row_weight = columns;
	return columns;
}

static void weights_none(struct broken *x)
{
	x->p.row_weight = NULL;
}
static void rows_none(struct broken *x)
{
	x->p.weighted.bits = NULL;
}

static void row_of_none(struct broken *x)
{
	x->p.row_count++;
}
static void row_zero_weight(struct broken *x)
{
	int64_t *first;

	(void)copy_row_weights(x, &first);
	first[0] = 1;
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
	x->p.row_samples = NULL;
}
static void counted_wrong(struct broken *x)
{
	x->p.stats.counted++;
}

/* The last run begins with the frame with which the run before it goes on from the same parent. */
static void stack_twice(struct broken *x)
{
	const struct tree_runs *r = &x->p.runs;
	frame_id *frames = COPY(x, stack_frame, stack_count);
	uint32_t last = (uint32_t)r->count - 1;

	frames[r->first[last]] = frames[r->parent[last] + 1];
	x->p.stack_frame = frames;
}

static void weight_column_missing(struct broken *x)
{
	int64_t *first;

	copy_row_weights(x, &first)[1] = NULL;
}

/* The total stays, but the weight moves to another stack than the samples'. */
static void weight_on_another_stack(struct broken *x)
{
	int64_t *first;

	(void)copy_row_weights(x, &first);
	first[1] += 1;
	first[2] -= 1;
}

static void weight_overflow(struct broken *x)
{
	int64_t *first;

	(void)copy_row_weights(x, &first);
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
	uint64_t *counts = COPY(x, row_samples, row_count);
	size_t i = 1;

	while (counts[i] == 0)
		i++;
	counts[i]--;
	counts[i + 1]++;
	x->p.row_samples = counts;
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
	{object_kind, "object 0 has an unknown kind"},
	{function_name, "function 1 has a string"},
	{function_file, "function 1 has a string"},
	{function_object, "function 1 has an object"},
	{frame_function, "frame 2 has a function"},
	{frame_file, "frame 2 has a string"},
	{stacks_none, "stack 0"},
	{stack_zero_frame, "stack 0"},
	{stack_zero_parent, "stack 0"},
	{stack_frame, "a stack has a frame out of range"},
	{stack_parent_self, "does not come after its parent"},
	{stack_parent_later, "does not come after its parent"},
	{run_goes_on, "does not come after its parent"},
	{depth_wrong, "depth_max"},
	{run_begins_late, "its runs are not those of its stacks"},
	{run_is_empty, "its runs are not those of its stacks"},
	{runs_end_late, "its runs are not those of its stacks"},
	{run_bits, "its runs are not those of its stacks"},
	{run_ranks, "its runs are not those of its stacks"},
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
	{note_kind, "note 0 has an unknown kind"},
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
	{rows_none, "no weights"},
	{weighted_bits, "are not counted right"},
	{weighted_ranks, "are not counted right"},
	{row_of_none, "rows of weights for"},
	{row_zero_weight, "weights of metric 0 at no stack"},
	{totals_none, "no weights"},
	{weight_column_missing, "stacks without weights of metric 1"},
	{weight_overflow, "exceeds 64 bits"},
	{sample_weight_overflow, "exceeds 64 bits"},
	{total, "total of metric 1"},
	{weight_on_another_stack, "is not the sum of its samples"},
	{sample_counts_none, "no counts of them"},
	{row_sample_count, "stats.counted"},
	{row_zero_samples, "samples at no stack"},
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

TEST(check_finds_each_break)
{
	struct profile *whole = full_profile();

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

TEST(random_profiles_pass)
{
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(check_finds_each_break),
		cmocka_unit_test(random_profiles_pass),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
