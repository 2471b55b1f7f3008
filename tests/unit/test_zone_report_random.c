/*
 * The displays of zones on random programs, against figures worked out stack by stack, and the sums
 * that must close: parents = focus, children = hier - self, selfs = total, threads = all, spread =
 * flattened, and all of that in averages too.
 */

#include <math.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_zones.h"
#include "../unit.h"
#include "../zone_frames.h"
#include "zonereport/report.h"

enum { ZONES = 5, SLOTS = 3, FRAMES = 4 };

struct subject {
	struct random random;
	struct zone_maker m;
	struct zone_frames f;
	uint32_t zone[ZONES];
	struct slow_stacks stacks; /* of the frame that is shown */
	double frameless;	   /* outside of zones, in threads that end no frames */
};

static void step(struct subject *s)
{
	uint32_t slot = random_below(&s->random, SLOTS);
	uint32_t depth = s->m.node[s->m.top[slot]].depth;

	if (random_below(&s->random, 4) == 0)
		zone_maker_pass(&s->m, random_below(&s->random, 1000));
	if (depth > 0 && (depth == SLOW_DEPTH - 1 || random_below(&s->random, 2)))
		zone_maker_leave(&s->m, slot);
	else
		zone_maker_enter(&s->m, slot, s->zone[random_below(&s->random, ZONES)]);
}

static void subject_init(struct subject *s)
{
	s->random = random_from(property_seed);
	zone_maker_init(&s->m, 16, SLOW_NODES, 4, 1 << 12);
	zone_frames_init(&s->f, &s->m, 1 << 20);
	for (int i = 0; i < ZONES; i++) {
		char name[8];

		snprintf(name, sizeof(name), "z%d", i);
		s->zone[i] = zone_maker_zone(&s->m, name, NULL, 0);
	}
	for (int i = 0; i < SLOTS; i++)
		zone_maker_slot(&s->m, "thread", 1 + i);
	if (random_below(&s->random, 2))
		s->f.ends_frames = random_below(&s->random, SLOTS);
	for (int i = 0; i < FRAMES; i++) {
		for (uint32_t n = 10 + random_below(&s->random, 60); n > 0; n--)
			step(s);
		zone_frames_end(&s->f, &s->m);
	}
}

static void subject_deinit(struct subject *s)
{
	zone_frames_deinit(&s->f);
	zone_maker_deinit(&s->m);
}

/* The stacks of the frame so many ago, in ms; of one slot, or all. */
static void list_stacks(struct subject *s, size_t ago, uint32_t slot)
{
	struct zone_frame frame;

	s->stacks.count = 0;
	s->frameless = 0;
	check(zone_history_frame(s->f.history, ago, &frame));
	for (uint32_t i = 0; i < frame.delta_count; i++) {
		const struct zonewire_node *node = &s->m.node[frame.delta[i].node];
		struct slow_stack *stack = &s->stacks.stack[s->stacks.count];

		if (slot != ZONE_SLOT_ALL && node->slot != slot)
			continue;
		*stack = (struct slow_stack){.size = (int)node->depth + 1,
			.slot = node->slot,
			.self = (double)frame.delta[i].self_ticks / 1e6,
			.count = frame.delta[i].entries};
		for (int at = stack->size; at-- > 0; node = &s->m.node[node->parent])
			stack->zone[at].zone = node->zone;
		s->stacks.count++;
		if (slot == ZONE_SLOT_ALL && s->f.ends_frames != ZONEWIRE_SLOT_NOBODY &&
			stack->size == 1 && stack->slot != s->f.ends_frames) {
			s->frameless += stack->self;
			stack->self = 0;
		}
	}
}

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-9;
}

static void check_row(const struct zone_row *row, struct slow_figures expected)
{
	check(is_near(row->self_ms, expected.self));
	check(is_near(row->hier_ms, expected.hier));
	check(is_near(row->count, expected.count));
}

static struct slow_figures slow_row(
	const struct subject *s, const struct zone_report *report, const struct zone_row *row)
{
	struct slow_zone focus = {report->query.focus, report->query.focus_depth};
	struct slow_zone zone = {row->zone, row->depth};

	switch (row->kind) {
	case ZONE_ROW_PARENT:
		return slow_parent(&s->stacks, focus, zone);
	case ZONE_ROW_RECURSION:
		return slow_recursion(&s->stacks, focus);
	case ZONE_ROW_CHILD:
		return report->query.mode == ZONE_MODE_DESCENDANTS
			       ? slow_descendant(&s->stacks, focus, zone)
			       : slow_child(&s->stacks, focus, zone);
	case ZONE_ROW_FRAMELESS:
		return (struct slow_figures){s->frameless, s->frameless, 0};
	case ZONE_ROW_FLAT:
	case ZONE_ROW_FOCUS:
		break;
	}
	return slow_flat(&s->stacks, zone);
}

static struct slow_figures sum_of(const struct zone_report *report, enum zone_row_kind kind)
{
	struct slow_figures sum = {0};

	for (size_t i = 0; i < report->row_count; i++) {
		if (report->row[i].kind != kind)
			continue;
		sum.self += report->row[i].self_ms;
		sum.hier += report->row[i].hier_ms;
		sum.count += report->row[i].count;
	}
	return sum;
}

/* What must be so of every report, averaged or not. */
static void check_sums(const struct zone_report *report)
{
	const struct zone_row *focus = &report->row[report->focus_row];
	struct slow_figures children = sum_of(report, ZONE_ROW_CHILD);

	if (report->focus_row < 0) {
		check(is_near(sum_of(report, ZONE_ROW_FLAT).self, report->total_ms));
		return;
	}
	if (focus->zone != ZONEWIRE_ZONE_GLOBAL)
		check_row(focus, sum_of(report, ZONE_ROW_PARENT));
	if (report->query.mode == ZONE_MODE_GRAPH)
		check(is_near(children.hier, focus->hier_ms - focus->self_ms));
	else
		check(is_near(children.self, focus->hier_ms - focus->self_ms));
}

static void check_order(const struct zone_report *report)
{
	for (size_t i = 1; i < report->row_count; i++) {
		const struct zone_row *a = &report->row[i - 1], *b = &report->row[i];

		check(a->kind <= b->kind);
		if (a->kind != b->kind)
			continue;
		if (a->kind == ZONE_ROW_PARENT)
			check(a->hier_ms <= b->hier_ms);
		else if (a->kind == ZONE_ROW_CHILD)
			check(a->hier_ms >= b->hier_ms);
		else if (report->query.mode == ZONE_MODE_NAME)
			check(strcmp(a->info.name, b->info.name) <= 0);
		else
			check(zone_row_value(a, report->column[0]) >=
				zone_row_value(b, report->column[0]));
	}
}

/* A row more than there should be is wrong by its figures; one less by the sums. */
static void check_report(struct subject *s, const struct zone_query *query)
{
	struct zone_report *report = zone_report_create(s->f.history, query);

	check(report);
	for (size_t i = 0; query->average == 0 && i < report->row_count; i++)
		check_row(&report->row[i], slow_row(s, report, &report->row[i]));
	check_sums(report);
	check_order(report);
	zone_report_destroy(report);
}

static struct zone_query random_query(struct subject *s)
{
	struct zone_query query = ZONE_QUERY_INIT;

	query.mode = (enum zone_mode)random_below(&s->random, ZONE_MODES);
	query.recursion = (enum zone_recursion)random_below(&s->random, 2);
	query.focus = 1 + random_below(&s->random, 3 + ZONES);
	query.focus_depth = random_below(&s->random, 3);
	query.slot = random_below(&s->random, 2) ? ZONE_SLOT_ALL : random_below(&s->random, SLOTS);
	query.average = random_below(&s->random, 3);
	query.frame = query.average == 0 ? random_below(&s->random, FRAMES) : 0;
	return query;
}

TEST(against_slow)
{
	static struct subject s;

	for (struct property_seeds p = property_seeds(600, 150); property_next(&p);) {
		subject_init(&s);
		for (int i = 0; i < 12; i++) {
			struct zone_query query = random_query(&s);

			list_stacks(&s, query.frame, query.slot);
			if (query.recursion == ZONE_SPREAD)
				slow_spread(&s.stacks);
			check_report(&s, &query);
		}
		subject_deinit(&s);
	}
}

/* ---- sums over reports ---- */

static struct slow_figures figures_of(
	struct subject *s, struct zone_query query, uint32_t zone, double *total)
{
	struct zone_report *report = zone_report_create(s->f.history, &query);
	struct slow_figures sum = {0};

	check(report);
	for (size_t i = 0; i < report->row_count; i++) {
		if (report->row[i].zone != zone)
			continue;
		sum.self += report->row[i].self_ms;
		sum.count += report->row[i].count;
		/* Of spread recursion the first one holds the others. */
		if (report->row[i].depth == 0)
			sum.hier = report->row[i].hier_ms;
	}
	*total = report->total_ms + sum_of(report, ZONE_ROW_FRAMELESS).self;
	zone_report_destroy(report);
	return sum;
}

static void check_same(struct slow_figures a, struct slow_figures b)
{
	check(is_near(a.self, b.self) && is_near(a.hier, b.hier) && is_near(a.count, b.count));
}

TEST(threads_and_spread)
{
	static struct subject s;

	for (struct property_seeds p = property_seeds(300, 80); property_next(&p);) {
		struct zone_query query = ZONE_QUERY_INIT;
		struct slow_figures all, sum = {0};
		double total, part, parts = 0;
		uint32_t zone;

		subject_init(&s);
		zone = s.zone[random_below(&s.random, ZONES)];
		query.average = random_below(&s.random, 3);
		all = figures_of(&s, query, zone, &total);
		for (query.slot = 0; query.slot < SLOTS; query.slot++) {
			struct slow_figures one = figures_of(&s, query, zone, &part);

			sum.self += one.self;
			sum.hier += one.hier;
			sum.count += one.count;
			parts += part;
		}
		check_same(sum, all);
		check(is_near(parts, total));
		query.slot = ZONE_SLOT_ALL;
		query.recursion = ZONE_SPREAD;
		check_same(figures_of(&s, query, zone, &part), all);
		subject_deinit(&s);
	}
}

/* A thread's frame is no longer and no shorter than the frame. */
TEST(frames_are_whole)
{
	static struct subject s;

	for (struct property_seeds p = property_seeds(200, 50); property_next(&p);) {
		subject_init(&s);
		for (size_t ago = 0; ago + 1 < FRAMES; ago++) {
			struct zone_frame frame;
			double sum = 0;

			list_stacks(&s, ago, random_below(&s.random, SLOTS));
			check(zone_history_frame(s.f.history, ago, &frame));
			for (int i = 0; i < s.stacks.count; i++)
				sum += s.stacks.stack[i].self;
			check(is_near(sum, frame.ms));
		}
		subject_deinit(&s);
	}
}

/*
 * A reader that has looked before sees what one sees that never has.  But where nodes come late,
 * their time has been their parent's, which then stands still until it is caught up with.
 */
static void check_reader(
	struct zone_reader *old, const struct zone_region *region, bool nodes_come_late)
{
	struct zone_reader *fresh = zone_reader_create();
	struct zone_reading a, b;

	check(fresh && zone_reader_read(old, region, &a) && zone_reader_read(fresh, region, &b));
	check(a.node_count == b.node_count);
	for (uint32_t i = 1; i < a.node_count; i++) {
		check(a.place[i].zone == b.place[i].zone && a.is_open[i] == b.is_open[i]);
		check(nodes_come_late || a.counts[i].self_ticks == b.counts[i].self_ticks);
		check(a.counts[i].entries == b.counts[i].entries);
	}
	zone_reader_destroy(fresh);
}

TEST(readings_are_whole)
{
	static struct subject s;

	for (struct property_seeds p = property_seeds(200, 50); property_next(&p);) {
		struct zone_reader *reader = zone_reader_create();
		bool come_late = property_seed % 2;

		subject_init(&s);
		check_reader(reader, &s.m.region, come_late);
		for (int i = 0; i < 20; i++) {
			uint32_t known = s.m.header->nodes.count, hidden, zone = 0;

			for (uint32_t n = random_below(&s.random, 8); n > 0; n--)
				step(&s);
			/* The last node is not there yet: its zone is written last. */
			hidden = s.m.header->nodes.count - 1;
			if (come_late && hidden >= known) {
				zone = s.m.node[hidden].zone;
				s.m.node[hidden].zone = 0;
			}
			check_reader(reader, &s.m.region, come_late);
			if (zone) {
				s.m.node[hidden].zone = zone;
				check_reader(reader, &s.m.region, come_late);
			}
		}
		zone_reader_destroy(reader);
		subject_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_slow),
		cmocka_unit_test(threads_and_spread),
		cmocka_unit_test(frames_are_whole),
		cmocka_unit_test(readings_are_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
