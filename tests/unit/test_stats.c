/*
 * The statistics summary: what the source says is kept, what it leaves open is worked out.
 */

#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/stats.h"
#include "model/builder.h"

static struct stats analyse(const struct profile *p)
{
	struct arena *arena = arena_create();
	struct entity_tree *tree = entity_tree_of(p, LEVEL_FUNCTION, p->default_metric, arena);
	struct stats s = stats_analyse(selection_all(p, arena), tree, arena);

	arena_destroy(arena);
	return s;
}

TEST(test_tree_figures)
{
	struct profile *p = text_profile("m r r r 4\nm r s r 2\nm s 1\nm 3\nm z 0\n");
	struct stats s = analyse(p);

	assert_int_equal(s.total, 10);
	assert_int_equal(s.recursive, 6);
	assert_int_equal(s.stack_count, 4);
	assert_int_equal(s.entity_count, 3);
	assert_int_equal(s.depth_max, 4);
	assert_true(s.depth_mean == (4 * 4 + 2 * 4 + 1 * 2 + 3 * 1) / 10.0);
	assert_int_equal(s.sampling.counted, 5);
	assert_true(s.sampling.duration_ns == UINT64_MAX);
	assert_true(s.sampling.interval_ns == UINT64_MAX);
	assert_true(s.sampling.foreign == UINT64_MAX);
	profile_destroy(p);
}

TEST(test_nothing)
{
	struct profile *p = text_profile("");
	struct stats s = analyse(p);

	assert_int_equal(s.total, 0);
	assert_int_equal(s.recursive, 0);
	assert_int_equal(s.stack_count, 0);
	assert_int_equal(s.entity_count, 0);
	assert_true(s.depth_mean == 0);
	profile_destroy(p);
}

/* Weights of opposite sign cancel in the total, which the mean is taken over. */
TEST(test_total_of_nothing)
{
	struct profile *p = text_profile("a b 2\na c -2\n");
	struct stats s = analyse(p);

	assert_int_equal(s.total, 0);
	assert_int_equal(s.stack_count, 2);
	assert_true(s.depth_mean == 0);
	profile_destroy(p);
}

/* Three samples at 5, 9 and 7 ms. */
static struct profile *timed_profile(const struct profile_stats *given)
{
	static const uint64_t times_ns[] = {5000000, 9000000, 7000000};
	struct builder *b = builder_create();
	struct profile *p = NULL;
	const int64_t one = 1;

	(void)builder_metric(b, STR("samples"), STR("count"));
	process_id process = builder_process(b, 1, 0, STR("p"));
	thread_id thread = builder_thread(b, 1, process, 0, STR("t"));
	for (size_t i = 0; i < ARRAY_SIZE(times_ns); i++)
		builder_sample(b, (stack_id){0}, thread, times_ns[i], &one);
	builder_header(b)->stats = *given;
	assert_null(builder_finish(b, &p));
	return p;
}

static const struct profile_stats all_unknown = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX,
	UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

TEST(test_completed)
{
	struct profile_stats given = all_unknown;

	given.cpu_ns = 6000;
	given.lost = 2;
	struct profile *p = timed_profile(&given);
	struct stats s = analyse(p);
	assert_int_equal(s.sampling.counted, 3);
	assert_int_equal(s.sampling.lost, 2);
	assert_int_equal(s.sampling.duration_ns, 4000000);
	assert_int_equal(s.sampling.interval_ns, 2000);
	assert_int_equal(s.stack_count, 1);
	assert_int_equal(s.depth_max, 1);
	profile_destroy(p);
}

TEST(test_source_is_believed)
{
	struct profile_stats given = all_unknown;

	given.duration_ns = 11;
	given.interval_ns = 12;
	given.cpu_ns = 13;
	struct profile *p = timed_profile(&given);
	struct stats s = analyse(p);
	assert_int_equal(s.sampling.duration_ns, 11);
	assert_int_equal(s.sampling.interval_ns, 12);
	profile_destroy(p);
}

/* Two samples on one stack, one of them without time, and one elsewhere that has nothing. */
TEST(test_metrics)
{
	static const int64_t weights[][2] = {{10, 3}, {0, 4}, {0, 0}};
	struct builder *b = builder_create();
	struct arena *arena = arena_create();
	struct profile *p;

	(void)builder_metric(b, STR("cpu-time"), STR("ns"));
	(void)builder_metric(b, STR("page-faults"), STR("count"));
	function_id function = builder_function(
		b, builder_string(b, STR("f")), (object_id){NO_ID}, (string_id){0}, 0);
	frame_id frame = builder_frame(b, function, (string_id){0}, 0, false, 0);
	stack_id stack = builder_stack(b, (stack_id){0}, frame);
	for (size_t i = 0; i < 3; i++)
		builder_sample(b, i < 2 ? stack : (stack_id){0}, (thread_id){NO_ID}, UINT64_MAX,
			weights[i]);
	assert_null(builder_finish(b, &p));
	struct stats s = stats_analyse(selection_all(p, arena),
		entity_tree_of(p, LEVEL_FUNCTION, (metric_id){0}, arena), arena);
	assert_int_equal(s.metrics[0].total, 10);
	assert_int_equal(s.metrics[0].samples, 1);
	assert_int_equal(s.metrics[1].total, 7);
	assert_int_equal(s.metrics[1].samples, 2);
	arena_destroy(arena);
	profile_destroy(p);
}

/*
 * Of four samples one is in code of no known function, one has a truncated stack, and one both.
 * What the source does not know, or knows of other stacks than these, filters do not make up.
 */
static void expect_filtered(uint64_t source_says, enum filter_kind kind, const char *text,
	uint64_t counted, uint64_t foreign, uint64_t critical)
{
	static const char lines[] = "main parse 1\nmain [unknown] 1\n[truncated] parse "
				    "1\n[truncated] eval [unknown] 1\n";
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);
	struct selection *selection;
	struct filter f;

	p->stats.foreign = p->stats.critical = source_says;
	if (kind == FILTER_WHEN)
		assert_null(filter_init_when(&f, text, WHEN_OBJECTS));
	else
		assert_null(filter_init(&f, kind, text));
	assert_null(selection_create(p, &f, 1, arena, &selection));
	struct entity_spec spec = {.metrics = &p->default_metric, .metric_count = 1};
	struct stats s =
		stats_analyse(selection, entity_tree_create(selection, &spec, arena), arena);
	assert_int_equal(s.sampling.counted, counted);
	assert_int_equal(s.sampling.excluded, kind == FILTER_WHEN ? 4 - counted : 0);
	assert_true(s.sampling.foreign == (source_says == 2 ? foreign : UINT64_MAX));
	assert_true(s.sampling.critical == (source_says == 2 ? critical : UINT64_MAX));
	filter_deinit(&f);
	profile_destroy(p);
	arena_destroy(arena);
}

TEST(test_filtered)
{
	expect_filtered(2, FILTER_WHEN, "*", 4, 2, 2);
	expect_filtered(2, FILTER_WHEN, ".main->*", 2, 1, 0);
	/* Charged to another, and taken there all the same. */
	expect_filtered(2, FILTER_WHEN, ".eval:->*", 1, 1, 1);
	expect_filtered(2, FILTER_FOCUS, "parse", 2, 0, 1);
	expect_filtered(2, FILTER_IGNORE, "eval", 3, 1, 1);
	expect_filtered(2, FILTER_HIDE, "unknown|truncated", 4, 2, 2);
	expect_filtered(UINT64_MAX, FILTER_FOCUS, "parse", 2, 0, 1);
	expect_filtered(3, FILTER_FOCUS, "parse", 2, 0, 1);
}

/* Of five samples one is whole, one truncated, two guessed, and one both: that is truncated. */
TEST(test_guessed)
{
	static const char lines[] = "main parse 1\nmain [guessed] parse 1\nmain [guessed] eval 1\n"
				    "[truncated] parse 1\n[truncated] main [guessed] parse 1\n";
	struct arena *arena = arena_create();
	struct profile *p = text_profile(lines);
	struct selection *selection;
	struct filter f;

	p->stats.critical = 4;
	p->stats.guessed = 2;
	p->stats.foreign = 0;
	assert_null(filter_init(&f, FILTER_FOCUS, "parse"));
	assert_null(selection_create(p, &f, 1, arena, &selection));
	struct entity_spec spec = {.metrics = &p->default_metric, .metric_count = 1};
	struct stats s =
		stats_analyse(selection, entity_tree_create(selection, &spec, arena), arena);
	assert_int_equal(s.sampling.counted, 4);
	assert_int_equal(s.sampling.critical, 3);
	assert_int_equal(s.sampling.guessed, 1);
	assert_int_equal(s.sampling.foreign, 0);
	filter_deinit(&f);
	profile_destroy(p);
	arena_destroy(arena);
}

/* The mean is of the stacks that are shown, not of those that WHEN leaves in the total. */
TEST(test_mean_of_what_is_shown)
{
	struct arena *arena = arena_create();
	struct profile *p = text_profile("a b c d 1\na 9\n");
	struct selection *selection;
	struct filter f;

	assert_null(filter_init_when(&f, ".d", WHEN_OBJECTS));
	assert_null(selection_create(p, &f, 1, arena, &selection));
	struct entity_spec spec = {.metrics = &p->default_metric, .metric_count = 1};
	struct stats s =
		stats_analyse(selection, entity_tree_create(selection, &spec, arena), arena);
	assert_int_equal(s.total, 10);
	assert_true(s.depth_mean == 4);
	filter_deinit(&f);
	profile_destroy(p);
	arena_destroy(arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_tree_figures),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_total_of_nothing),
		cmocka_unit_test(test_completed),
		cmocka_unit_test(test_source_is_believed),
		cmocka_unit_test(test_filtered),
		cmocka_unit_test(test_guessed),
		cmocka_unit_test(test_mean_of_what_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
