/*
 * Arcs in the model: calls, and what they cost, as they are built, added up and compared.
 */

#include "model/builder.h"
#include "model/merge.h"
#include "../unit.h"

static function_id function(struct builder *b, const char *name)
{
	return builder_function(
		b, builder_string(b, str_from(name)), (object_id){NO_ID}, (string_id){0}, 0);
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;

	assert_null(builder_finish(b, &p));
	return p;
}

static struct profile *merge2(const struct profile *a, const struct profile *b)
{
	struct profile *p = NULL;

	assert_null(profile_merge((const struct profile *const[]){a, b}, 2, &p));
	return p;
}

static struct profile *difference(const struct profile *a, const struct profile *b)
{
	struct profile *p = NULL;

	assert_null(profile_difference(a, b, &p));
	return p;
}

static bool has_note(const struct profile *p, const char *text)
{
	for (size_t i = 0; i < p->note_count; i++)
		if (str_equal(profile_string(p, p->notes[i].text), str_from(text)))
			return true;
	return false;
}

static struct profile *stack_profile(void)
{
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	builder_header(b)->source = builder_string(b, STR("stacks"));
	builder_weight(b, (stack_id){0}, &(int64_t){1}, 1);
	return finish(b);
}

TEST(calls_of_a_pair_add_up)
{
	struct builder *b = builder_create();
	struct profile *p;
	function_id f, g, nobody = {NO_ID};

	(void)builder_metric(b, STR("samples"), STR("count"));
	f = function(b, "f");
	g = function(b, "g");
	builder_arc(b, f, g, 3);
	builder_arc(b, g, f, 0);
	builder_arc(b, f, g, 4);
	builder_arc(b, nobody, f, 1);
	builder_header(b)->has_stacks = false;
	assert_null(builder_finish(b, &p));
	assert_int_equal(p->arc_count, 3);
	assert_int_equal(p->arcs[0].caller.i, f.i);
	assert_int_equal(p->arcs[0].callee.i, g.i);
	assert_int_equal(p->arcs[0].calls, 7);
	assert_int_equal(p->arcs[1].calls, 0);
	assert_int_equal(p->arcs[2].caller.i, NO_ID);
	assert_false(p->has_stacks);
	struct error *err = profile_needs_stacks(p, "--view tree");
	assert_non_null(strstr(err->message, "--view tree needs call stacks"));
	error_destroy(err);
	profile_destroy(p);
}

TEST(too_many_calls_are_an_error)
{
	struct builder *b = builder_create();
	struct profile *p = NULL;
	function_id f;

	(void)builder_metric(b, STR("samples"), STR("count"));
	f = function(b, "f");
	builder_arc(b, f, f, INT64_MAX);
	builder_arc(b, (function_id){NO_ID}, f, UINT64_MAX);
	struct error *err = builder_finish(b, &p);
	assert_non_null(err);
	assert_non_null(strstr(err->message, "the number of calls exceeds 64 bits"));
	error_destroy(err);
}

/* main called f so many times, and spent 5 itself; cost: what the calls took, 0: not measured. */
static struct profile *called_profile(uint64_t calls, int64_t cost)
{
	struct builder *b = builder_create();
	metric_id metric = builder_metric(b, STR("cpu-time"), STR("ns"));
	function_id caller = function(b, "main"), callee = function(b, "f");
	frame_id frame = builder_frame(b, caller, (string_id){0}, 0, false, 0);

	assert_int_equal(metric.i, 0);
	builder_header(b)->source = builder_string(b, STR("called"));
	builder_header(b)->has_stacks = false;
	builder_weight(b, builder_stack(b, (stack_id){0}, frame), &(int64_t){5}, 1);
	if (cost)
		(void)builder_arc_cost(b, caller, callee, calls, &cost);
	else
		builder_arc(b, caller, callee, calls);
	builder_arc(b, (function_id){NO_ID}, caller, 1);
	return finish(b);
}

TEST(calls_add_up)
{
	struct profile *a = called_profile(3, 0), *b = called_profile(4, 0), *sum = merge2(b, a);
	struct profile *d = difference(a, b), *stacks = stack_profile();
	struct profile *none = NULL;
	const struct profile *const mixed[] = {a, stacks};

	assert_int_equal(sum->arc_count, 2);
	assert_int_equal(sum->arcs[0].calls, 7);
	assert_int_equal(sum->arcs[1].caller.i, NO_ID);
	assert_int_equal(sum->arcs[1].calls, 2);
	assert_false(sum->has_stacks);
	assert_int_equal(d->arc_count, 0);
	assert_null(sum->arc_cost);
	assert_true(has_note(d, "counts of calls are not compared"));
	struct error *err = profile_merge(mixed, 2, &none);

	assert_non_null(err);
	assert_string_equal(err->message,
		"stacks has call stacks and called has none: they cannot be put together");
	error_destroy(err);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(sum);
	profile_destroy(d);
	profile_destroy(stacks);
}

TEST(costs_of_calls_add_up)
{
	struct profile *a = called_profile(3, 30), *b = called_profile(4, 41);
	struct profile *without = called_profile(1, 0), *sum = merge2(a, b);
	struct profile *d = difference(a, b), *mixed = merge2(a, without);

	assert_int_equal(sum->arcs[0].calls, 7);
	assert_int_equal(sum->arc_cost[0][0], 71);
	assert_int_equal(sum->arc_cost[0][1], 0);
	assert_int_equal(d->arcs[0].calls, 0);
	assert_int_equal(d->arc_cost[0][0], 11);
	assert_int_equal(d->arc_cost[1][0], 30);
	assert_int_equal(d->arc_cost[2][0], 41);
	assert_null(mixed->arc_cost);
	assert_true(has_note(mixed, "what calls cost is not in all files, so it was left out"));
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(without);
	profile_destroy(sum);
	profile_destroy(d);
	profile_destroy(mixed);
}

TEST(too_much_cost_is_an_error)
{
	struct builder *b = builder_create();
	struct profile *p = NULL;

	(void)builder_metric(b, STR("Ir"), STR("count"));
	function_id f = function(b, "f");
	(void)builder_arc_cost(b, f, f, 1, &(int64_t){INT64_MAX});
	(void)builder_arc_cost(b, f, f, 1, &(int64_t){1});
	struct error *err = builder_finish(b, &p);
	assert_non_null(err);
	assert_string_equal(err->message, "the sum of 'Ir' along calls exceeds 64 bits");
	error_destroy(err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_a_pair_add_up),
		cmocka_unit_test(too_many_calls_are_an_error),
		cmocka_unit_test(too_much_cost_is_an_error),
		cmocka_unit_test(calls_add_up),
		cmocka_unit_test(costs_of_calls_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
