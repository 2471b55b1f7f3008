/* Memory of zones, made by hand, as a profile: every figure is worked out here. */

#include <stdio.h>
#include <string.h>

#include "../profile_checks.h"
#include "../unit.h"
#include "../zone_region.h"
#include "formats/readers.h"

static struct profile *read_memory(const struct zone_maker *m)
{
	struct reader_input input = {
		.name = "made", .data = m->data, .size = m->header->region_bytes};
	struct profile *p = NULL;

	struct error *err = profile_read_bytes(&input, NULL, &p);
	if (err)
		fail_msg("%s", err->message);
	return p;
}

static metric_id metric(const struct profile *p, const char *name)
{
	metric_id id;

	assert_true(profile_find_metric(p, str_from(name), &id));
	return id;
}

/* The stack as "root;…;leaf". */
static const char *stack_text(const struct profile *p, stack_id stack)
{
	static char text[256];
	char longer[512];

	text[0] = '\0';
	for (; stack.i; stack = profile_parent(p, stack)) {
		function_id f = p->frames[p->stack_frame[stack.i].i].function;
		snprintf(longer, sizeof(longer), "%.*s%s%s",
			STR_ARG(profile_string(p, p->functions[f.i].name)), text[0] ? ";" : "",
			text);
		snprintf(text, sizeof(text), "%.255s", longer);
	}
	return text;
}

static int64_t weight_of(const struct profile *p, const char *name, const char *stack)
{
	for (uint32_t i = 0; i < p->stack_count; i++)
		if (strcmp(stack_text(p, (stack_id){i}), stack) == 0)
			return profile_weight(p, metric(p, name).i, i);
	fail_msg("no stack %s", stack);
	return 0;
}

/* outer { 100, inner { 30 }, outer { 7, inner { 2 } } }, twice; the same of inner alone elsewhere.
 */
static void make(struct zone_maker *m)
{
	zone_maker_init(m, 16, 64, 8, 4096);
	uint32_t a = zone_maker_slot(m, "main", 11), b = zone_maker_slot(m, "other", 12);
	uint32_t outer = zone_maker_zone(m, "outer", "a.c", 1);
	uint32_t inner = zone_maker_zone(m, "inner", NULL, 0);

	for (int i = 0; i < 2; i++) {
		zone_maker_enter(m, a, outer);
		zone_maker_pass(m, 100);
		zone_maker_spend(m, a, inner, 30);
		zone_maker_enter(m, a, outer);
		zone_maker_pass(m, 7);
		zone_maker_spend(m, a, inner, 2);
		zone_maker_leave(m, a);
		zone_maker_leave(m, a);
	}
	zone_maker_spend(m, b, inner, 40);
	m->header->is_saved = 1;
}

TEST(test_figures)
{
	struct zone_maker m;

	make(&m);
	struct profile *p = read_memory(&m);
	assert_int_equal(p->default_metric.i, metric(p, ZONE_TIME).i);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;outer"), 200);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;outer;inner"), 60);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;outer;outer"), 14);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;outer;outer;inner"), 4);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;inner"), 40);
	/* Of two threads: one was in no zone for 40, the other for all before. */
	assert_int_equal(weight_of(p, ZONE_TIME, "_global"), 40 + 278);
	assert_int_equal(p->total[metric(p, ZONE_TIME).i], 2 * 318);
	assert_int_equal(weight_of(p, ZONE_ENTRIES, "_global;outer;inner"), 2);
	assert_int_equal(p->total[metric(p, "samples").i], 0);
	assert_int_equal(p->thread_count, 2);
	assert_int_equal(p->threads[1].tid, 12);
	assert_int_equal(p->stats.duration_ns, 318);
	assert_int_equal(p->note_count, 0);
	profile_destroy(p);
	zone_maker_deinit(&m);
}

static uint64_t calls(const struct profile *p, const char *caller, const char *callee)
{
	for (size_t i = 0; i < p->arc_count; i++) {
		const struct arc *arc = &p->arcs[i];
		struct str from = STR("<spontaneous>");
		if (arc->caller.i != NO_ID)
			from = profile_string(p, p->functions[arc->caller.i].name);
		if (str_equal(from, str_from(caller)) &&
			str_equal(profile_string(p, p->functions[arc->callee.i].name),
				str_from(callee)))
			return arc->calls;
	}
	return 0;
}

TEST(test_calls)
{
	struct zone_maker m;

	make(&m);
	struct profile *p = read_memory(&m);
	assert_int_equal(calls(p, "_global", "outer"), 2);
	assert_int_equal(calls(p, "outer", "outer"), 2);
	assert_int_equal(calls(p, "outer", "inner"), 4);
	assert_int_equal(calls(p, "_global", "inner"), 1);
	assert_int_equal(calls(p, "<spontaneous>", "_global"), 2);
	profile_destroy(p);
	zone_maker_deinit(&m);
}

/* A tick has some of a stack's time; more than there is is cut to what there is. */
TEST(test_ticks)
{
	struct zone_maker m;
	int64_t before = 0, within = 0;

	make(&m);
	/* Node 3: _global;outer. */
	assert_int_equal(m.node[3].depth, 1);
	const struct zonewire_delta deltas[] = {{3, 1, 150}, {4, 1, 1000000}};
	zone_maker_tick(&m,
		&(struct zonewire_tick){.bytes = sizeof(struct zonewire_tick) + sizeof(deltas),
			.number = 41,
			.start_ticks = 201,
			.end_ticks = 301,
			.delta_count = 2},
		deltas);
	struct profile *p = read_memory(&m);
	assert_int_equal(p->tick_count, 1);
	assert_int_equal(p->ticks[0].number, 41);
	assert_int_equal(p->ticks[0].start_ns, 200);
	assert_int_equal(p->ticks[0].end_ns, 300);
	for (size_t i = 0; i < p->samples.count; i++) {
		if (strcmp(stack_text(p, p->samples.stack[i]), "_global;outer") != 0)
			continue;
		int64_t weight = p->samples.weight[metric(p, ZONE_TIME).i][i];
		if (p->samples.time_ns[i] == 300)
			within += weight;
		else if (p->samples.time_ns[i] == 200)
			before += weight;
		assert_int_equal(p->samples.zone[i].i, p->samples.stack[i].i);
	}
	assert_int_equal(within, 150);
	assert_int_equal(before, 50);
	assert_int_equal(weight_of(p, ZONE_TIME, "_global;outer;inner"), 60);
	profile_destroy(p);
	zone_maker_deinit(&m);
}

TEST(test_troubles)
{
	struct zone_maker m;

	make(&m);
	m.header->is_saved = 0;
	m.header->trouble[ZONEWIRE_MISSING_END] = 3;
	m.header->trouble_open = 5;
	m.header->trouble_ended = 4;
	struct profile *p = read_memory(&m);
	assert_true(has_note(p, "zones were left without Prof_End"));
	assert_true(has_note(p, "missing or too many: outer ended where inner was open"));
	assert_true(has_note(p, "not known when the program ended"));
	profile_destroy(p);
	m.header->exit_ticks = 200;
	p = read_memory(&m);
	assert_false(has_note(p, "not known when the program ended"));
	profile_destroy(p);
	m.header->trouble_open = ZONEWIRE_ZONE_GLOBAL;
	m.header->trouble_ended = 0;
	p = read_memory(&m);
	assert_true(has_note(p, "missing or too many: where no zone was open"));
	profile_destroy(p);
	zone_maker_deinit(&m);
}

TEST(test_events)
{
	struct zone_maker m;

	make(&m);
	m.slot[0].event_count = 8;
	m.slot[0].events_offset = m.header->strings_offset + 4096;
	m.slot[0].event_head = 2;
	uint64_t *events = (uint64_t *)(void *)(m.data + m.slot[0].events_offset);
	events[0] = UINT64_C(101) << ZONEWIRE_EVENT_NODE_BITS | 3;
	events[1] = UINT64_C(131) << ZONEWIRE_EVENT_NODE_BITS | 1;
	struct profile *p = read_memory(&m);
	assert_int_equal(p->zone_events.count, 2);
	assert_int_equal(p->zone_events.time_ns[0], 100);
	assert_string_equal(stack_text(p, p->zone_events.stack[0]), "_global;outer");
	assert_int_equal(p->zone_events.time_ns[1], 130);
	assert_string_equal(stack_text(p, p->zone_events.stack[1]), "_global");
	profile_destroy(p);
	zone_maker_deinit(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_ticks),
		cmocka_unit_test(test_troubles),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
