/*
 * Zones in profiles: what the builder puts in order, what a profile made of others keeps.
 */

#include "../random_profile.h"
#include "../unit.h"
#include "model/merge.h"
#include "model/roots.h"

static struct builder *new_builder(void)
{
	struct builder *b = builder_create();

	(void)builder_metric(b, STR("samples"), STR("count"));
	return b;
}

static frame_id frame(struct builder *b, const char *name)
{
	string_id none = {0};
	function_id f =
		builder_function(b, builder_string(b, str_from(name)), (object_id){NO_ID}, none, 0);

	return builder_frame(b, f, none, 0, false, 0);
}

static struct profile *finish(struct builder *b)
{
	struct profile *p = NULL;
	struct error *err = builder_finish(b, &p);

	if (err)
		fail_msg("%s", err->message);
	return p;
}

TEST(zones_ticks_and_events_are_put_in_order)
{
	struct builder *b = new_builder();
	stack_id zone = builder_stack(b, (stack_id){0}, frame(b, "_global"));
	process_id process = builder_process(b, 7, 0, STR("p"));
	thread_id first = builder_thread(b, 8, process, 0, STR("t"));
	thread_id second = builder_thread(b, 9, process, 0, STR("u"));
	string_id audio = builder_string(b, STR("audio")), video = builder_string(b, STR("video"));

	for (uint64_t i = 0; i < 3; i++)
		builder_sample(b, zone, first, i, (int64_t[]){1});
	builder_sample_zone(b, zone);
	builder_sample(b, zone, first, 3, (int64_t[]){1});
	builder_tick(b, &(struct tick){process, video, 1, 30, 40, {NO_ID}});
	builder_tick(b, &(struct tick){process, audio, 1, 20, 10, second});
	builder_tick(b, &(struct tick){process, audio, 0, 10, 20, first});
	builder_zone_event(b, second, 5, zone);
	builder_zone_event(b, first, 5, zone);
	builder_zone_event(b, first, 5, (stack_id){0});
	builder_zone_event(b, first, 4, (stack_id){0});
	struct profile *p = finish(b);

	assert_int_equal(p->samples.zone[0].i, 0);
	assert_int_equal(p->samples.zone[2].i, zone.i);
	assert_int_equal(p->samples.zone[3].i, 0);
	assert_int_equal(p->tick_count, 3);
	assert_int_equal(p->ticks[0].start_ns, 10);
	assert_int_equal(p->ticks[1].end_ns, 20); /* ended before it began */
	assert_int_equal(p->ticks[2].stream.i, video.i);
	assert_int_equal(p->zone_events.count, 4);
	assert_int_equal(p->zone_events.time_ns[0], 4);
	assert_int_equal(p->zone_events.stack[1].i, zone.i);
	assert_int_equal(p->zone_events.stack[2].i, 0);
	assert_int_equal(p->zone_events.thread[3].i, second.i);
	profile_destroy(p);
}

static struct profile *zoned_profile(uint64_t seed)
{
	const struct random_shape shape = {.functions = 6,
		.stacks = 40,
		.depth_max = 5,
		.metrics = 1,
		.weight_max = 9,
		.samples = true,
		.zones = true,
		.notes = true};

	return random_profile(seed, &shape);
}

/* Frames from the root on that both stacks have, after `skip` frames of the first. */
static bool same_stack(
	const struct profile *p, stack_id a, uint32_t skip, const struct profile *q, stack_id b)
{
	const char *names[2][64];
	uint32_t depth[2] = {0};

	for (; a.i; a = profile_parent(p, a))
		names[0][depth[0]++] = profile_string(
			p, p->functions[p->frames[p->stack_frame[a.i].i].function.i].name)
					       .data;
	for (; b.i; b = profile_parent(q, b))
		names[1][depth[1]++] = profile_string(
			q, q->functions[q->frames[q->stack_frame[b.i].i].function.i].name)
					       .data;
	if (depth[0] != depth[1] + skip)
		return false;
	for (uint32_t i = 0; i < depth[1]; i++)
		if (strcmp(names[0][i], names[1][i]) != 0)
			return false;
	return true;
}

TEST(roots_have_the_same_zones)
{
	struct profile *p = zoned_profile(4), *q = NULL;

	assert_null(profile_with_roots(p, ROOTS_PROCESS, &q));
	assert_int_equal(q->tick_count, p->tick_count);
	assert_int_equal(q->zone_events.count, p->zone_events.count);
	assert_int_equal(q->samples.count, p->samples.count);
	for (size_t i = 0; i < p->samples.count; i++)
		assert_true(same_stack(q, q->samples.zone[i], 1, p, p->samples.zone[i]));
	for (size_t i = 0; i < p->zone_events.count; i++)
		assert_true(same_stack(q, q->zone_events.stack[i], 1, p, p->zone_events.stack[i]));
	profile_destroy(p);
	profile_destroy(q);
}

TEST(mergers_have_all_zones)
{
	struct profile *a = zoned_profile(5), *b = zoned_profile(6), *sum = NULL;
	const struct profile *const both[] = {a, b};
	metric_id time;

	assert_null(profile_merge(both, 2, &sum));
	assert_int_equal(sum->tick_count, a->tick_count + b->tick_count);
	assert_int_equal(sum->zone_events.count, a->zone_events.count + b->zone_events.count);
	for (size_t i = 0; i < a->samples.count; i++)
		assert_true(same_stack(sum, sum->samples.zone[i], 0, a, a->samples.zone[i]));
	assert_true(profile_find_metric(sum, STR(ZONE_TIME), &time));
	assert_int_equal(sum->total[time.i], a->total[1] + b->total[1]);
	/* Their rows are no samples. */
	assert_int_equal(sum->stats.counted, a->stats.counted + b->stats.counted);
	profile_destroy(sum);
	profile_destroy(a);
	profile_destroy(b);
}

/* Zones that only one knows of are left out, and that is said. */
TEST(zones_of_one_file_are_no_sum)
{
	const struct random_shape plain = {.functions = 3,
		.stacks = 9,
		.depth_max = 3,
		.metrics = 1,
		.weight_max = 9,
		.samples = true};
	struct profile *a = zoned_profile(7), *b = random_profile(8, &plain), *sum = NULL;
	const struct profile *const both[] = {a, b};
	bool is_said = false;

	assert_null(profile_merge(both, 2, &sum));
	assert_null(sum->samples.zone);
	assert_int_equal(sum->tick_count, a->tick_count);
	for (size_t i = 0; i < sum->note_count; i++)
		is_said |= strstr(profile_string(sum, sum->notes[i].text).data,
				   "zones of samples are not in all files") != NULL;
	assert_true(is_said);
	profile_destroy(sum);
	profile_destroy(a);
	profile_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(zones_ticks_and_events_are_put_in_order),
		cmocka_unit_test(roots_have_the_same_zones),
		cmocka_unit_test(mergers_have_all_zones),
		cmocka_unit_test(zones_of_one_file_are_no_sum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
