/*
 * Bars of zones over time: long zones are what a plain walk of the events finds, and short ones
 * lose nothing by sharing bars, however many there are.  What samples saw is checked by hand.
 */
#include <stdlib.h>

#include "../random_profile.h"
#include "../unit.h"
#include "analysis/zone_bars.h"
#include "base/vec.h"
#include "model/builder.h"

#define THREADS 3u
#define EVENTS	400u
#define ZONES	5u

struct made {
	struct profile *profile;
	struct builder *builder;
	process_id process;
	frame_id global, zone[ZONES];
};

static frame_id zone_frame(struct builder *b, object_id object, const char *name)
{
	function_id function = builder_function(
		b, builder_string(b, str_from(name)), object, builder_string(b, STR("")), 0);

	return builder_frame(b, function, builder_string(b, STR("")), 0, false, 0);
}

static struct made begin(void)
{
	static const char *const names[ZONES] = {"a", "b", "c", "d", "e"};
	struct made m = {.builder = builder_create()};
	object_id zones = builder_object(m.builder, STR(ZONE_OBJECT), STR(""), OBJECT_ZONE);

	builder_metric(m.builder, STR("cpu-time"), STR("ns"));
	builder_metric(m.builder, STR("real-time"), STR("ns"));
	m.process = builder_process(m.builder, 1, 0, STR("p"));
	m.global = zone_frame(m.builder, zones, "_global");
	for (uint32_t i = 0; i < ZONES; i++)
		m.zone[i] = zone_frame(m.builder, zones, names[i]);
	return m;
}

/* Random walks down and up, some deeper than bars go, some events at the same time. */
static void add_events(struct made *m, struct random *r, thread_id thread)
{
	stack_id path[32] = {builder_stack(m->builder, (stack_id){0}, m->global)};
	uint32_t depth = 0;
	uint64_t time_ns = 100;

	for (uint32_t i = 0; i < EVENTS; i++) {
		time_ns += random_below(r, 3) ? random_below(r, 20) : 0;
		if (depth == 0 || (depth < 12 && random_below(r, 2))) {
			path[depth + 1] = builder_stack(
				m->builder, path[depth], m->zone[random_below(r, ZONES)]);
			depth++;
		} else {
			depth--;
		}
		builder_zone_event(m->builder, thread, time_ns, path[depth]);
	}
	builder_zone_event(m->builder, thread, time_ns + 5, path[0]);
}

static struct profile *random_zones(struct random *r)
{
	static const int64_t weight[] = {1, 1};
	struct made m = begin();
	struct profile *profile;

	for (uint32_t i = 0; i < THREADS; i++) {
		thread_id thread = builder_thread(m.builder, 1 + i, m.process, 0, STR("t"));

		add_events(&m, r, thread);
		builder_sample(m.builder, builder_stack(m.builder, (stack_id){0}, m.global), thread,
			1, weight);
	}
	assert_null(builder_finish(m.builder, &profile));
	return profile;
}

static uint32_t depth_of(const struct profile *p, uint32_t stack)
{
	uint32_t depth = 0;

	for (; stack; stack = profile_stack_parent(p, stack))
		depth++;
	return depth;
}

static bool holds(const struct profile *p, uint32_t stack, uint32_t ancestor)
{
	while (stack > ancestor)
		stack = profile_stack_parent(p, stack);
	return stack == ancestor;
}

/* What one thread's zones of one depth should be, from every event at which one is entered. */
struct expected {
	uint32_t count;
	uint64_t busy_ns;
	VEC(struct zone_bar) bars;
};

static void expect(struct expected *e, const struct profile *p, uint32_t thread, uint32_t depth)
{
	const struct zone_events *events = &p->zone_events;

	*e = (struct expected){0};
	for (size_t i = 0; i < events->count; i++) {
		uint32_t stack = events->stack[i].i, before = 0;
		size_t end = i;

		if (events->thread[i].i != thread || depth_of(p, stack) != depth + 2)
			continue;
		if (i > 0 && events->thread[i - 1].i == thread)
			before = events->stack[i - 1].i;
		if (holds(p, before, stack))
			continue;
		while (holds(p, events->stack[end].i, stack))
			end++;
		e->count++;
		e->busy_ns += events->time_ns[end] - events->time_ns[i];
		vec_push(&e->bars, (struct zone_bar){thread, depth, stack, 1, events->time_ns[i],
					   events->time_ns[end],
					   events->time_ns[end] - events->time_ns[i], true});
	}
}

/* The bars of that thread and depth, from *at on. */
static void check_run(
	const struct zone_bars *bars, size_t *at, const struct expected *e, uint64_t least_ns)
{
	uint32_t count = 0;
	uint64_t busy_ns = 0, end_ns = 0;
	size_t known = 0;
	const struct zone_bar *first = &bars->bars[*at];

	for (; *at < bars->count && bars->bars[*at].thread == first->thread &&
		bars->bars[*at].depth == first->depth;
		(*at)++) {
		const struct zone_bar *bar = &bars->bars[*at];

		assert_true(bar->is_measured);
		assert_true(bar->start_ns >= end_ns && bar->end_ns >= bar->start_ns);
		assert_true(bar->busy_ns <= bar->end_ns - bar->start_ns);
		end_ns = bar->end_ns;
		count += bar->count;
		busy_ns += bar->busy_ns;
		if (bar->count > 1 || bar->busy_ns < least_ns)
			continue;
		while (known < e->bars.count && (e->bars.data[known].start_ns != bar->start_ns ||
							e->bars.data[known].end_ns != bar->end_ns))
			known++;
		assert_true(known < e->bars.count);
		assert_int_equal(e->bars.data[known].stack, bar->stack);
	}
	assert_int_equal(count, e->count);
	assert_int_equal(busy_ns, e->busy_ns);
}

TEST(nothing_is_lost_however_short)
{
	static const uint64_t least[] = {1, 3, 10, 40, 1000};
	struct random r = random_from(21);

	for (int round = 0; round < 20; round++) {
		struct profile *p = random_zones(&r);

		for (size_t k = 0; k < sizeof(least) / sizeof(least[0]); k++) {
			struct arena *arena = arena_create();
			const uint32_t threads[] = {2, 0};
			const struct zone_bars_wanted wanted = {
				threads, 2, 0, UINT64_MAX, least[k]};
			const struct zone_bars *bars =
				zone_bars_analyse(selection_all(p, arena), &wanted, arena);
			size_t at = 0;

			for (size_t t = 0; t < 2; t++)
				for (uint32_t depth = 0; depth < ZONE_BARS_DEPTH; depth++) {
					struct expected e;

					expect(&e, p, threads[t], depth);
					if (e.count) {
						assert_int_equal(bars->bars[at].thread, threads[t]);
						assert_int_equal(bars->bars[at].depth, depth);
						check_run(bars, &at, &e, least[k]);
					}
					vec_deinit(&e.bars);
				}
			assert_int_equal(at, bars->count);
			if (least[k] == 1000)
				assert_true(bars->count <= 2 * ZONE_BARS_DEPTH * 10);
			arena_destroy(arena);
		}
		profile_destroy(p);
	}
}

TEST(samples_show_zones_from_the_first_to_the_last)
{
	/* Time, zone and weights: two in a, a wait in a, b below a, a gap, then a again. */
	static const struct {
		uint64_t time_ns;
		uint32_t zone;
		int64_t cpu, real;
	} seen[] = {{100, 1, 10, 10}, {110, 1, 10, 10}, {110, 1, 0, 50}, {170, 2, 10, 10},
		{180, 1, 10, 10}, {500, 1, 10, 10}};
	struct made m = begin();
	struct profile *p;
	stack_id stacks[3] = {builder_stack(m.builder, (stack_id){0}, m.global)};
	thread_id thread = builder_thread(m.builder, 1, m.process, 0, STR("t"));
	const struct zone_bars *bars;
	struct arena *arena = arena_create();
	const uint32_t threads[] = {0};
	const struct zone_bars_wanted wanted = {threads, 1, 0, UINT64_MAX, 1};

	stacks[1] = builder_stack(m.builder, stacks[0], m.zone[0]);
	stacks[2] = builder_stack(m.builder, stacks[1], m.zone[1]);
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++) {
		const int64_t weight[] = {seen[i].cpu, seen[i].real};

		builder_sample(m.builder, stacks[0], thread, seen[i].time_ns, weight);
		builder_sample_zone(m.builder, stacks[seen[i].zone]);
	}
	assert_null(builder_finish(m.builder, &p));
	bars = zone_bars_analyse(selection_all(p, arena), &wanted, arena);
	assert_int_equal(bars->count, 3);
	assert_int_equal(bars->levels_max, 2);
	assert_int_equal(bars->bars[0].start_ns, 90);
	assert_int_equal(bars->bars[0].end_ns, 180);
	assert_int_equal(bars->bars[1].start_ns, 490);
	assert_int_equal(bars->bars[1].end_ns, 500);
	assert_int_equal(bars->bars[2].depth, 1);
	assert_int_equal(bars->bars[2].start_ns, 160);
	assert_int_equal(bars->bars[2].end_ns, 170);
	for (size_t i = 0; i < 3; i++)
		assert_false(bars->bars[i].is_measured);
	arena_destroy(arena);
	profile_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_lost_however_short),
		cmocka_unit_test(samples_show_zones_from_the_first_to_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
