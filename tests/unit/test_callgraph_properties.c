/*
 * What must hold of the call graph on every profile: the figures, sums and bounds of semantics.md
 * section 3, agreement with the plain slow one, independence of the order of samples.
 *
 * Runs over many random profiles; SEED=number in the environment runs one of them.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_callgraph.h"
#include "../unit.h"
#include "analysis/callgraph.h"
#include "base/alloc.h"

#define ROUNDS		 500
#define ROUNDS_SANITIZED 100
#define METRICS_MAX	 3

/* One random profile, looked at in one way. */
struct subject {
	uint64_t seed;
	struct random random;
	struct random_shape shape;
	struct profile *profile;
	enum level level;
	bool spread;
	metric_id metrics[METRICS_MAX];
	struct arena *arena;
	const struct entity_tree *tree;
	struct entity_arc *counted;
	size_t count;
	const struct callgraph *graph;
	struct slow_callgraph *slow;
};

/* Few functions, so that there are cycles, but not always one alone. */
static struct random_shape subject_shape(struct random *r)
{
	if (random_below(r, 16) == 0)
		return random_shape_any(r);
	struct random_shape shape = random_shape_small;
	shape.functions = 1 + random_below(r, 20);
	shape.objects = random_below(r, 4);
	shape.stacks = random_below(r, 24);
	shape.depth_max = 1 + random_below(r, 12);
	shape.negative = random_below(r, 3) == 0;
	shape.weight_max = 1u << random_below(r, 8);
	shape.metrics = 1 + random_below(r, METRICS_MAX);
	return shape;
}

static const struct entity_tree *subject_tree(const struct subject *s, const struct profile *p)
{
	size_t count = s->shape.metrics;
	const struct entity_tree *tree =
		entity_tree_of_metrics(p, s->level, s->metrics, count, s->arena);

	return s->spread ? entity_tree_spread(tree, s->arena) : tree;
}

/* Some arcs with counts, a few of them 0. */
static void subject_count(struct subject *s)
{
	uint32_t entities = (uint32_t)s->tree->entity_count;

	s->count = entities == 0 || random_below(&s->random, 2) ? 0 : random_below(&s->random, 8);
	s->counted = ARENA_ARRAY(s->arena, struct entity_arc, s->count);
	for (size_t i = 0; i < s->count; i++)
		s->counted[i] = (struct entity_arc){
			.caller = random_below(&s->random, 6) ? random_below(&s->random, entities)
							      : NO_ID,
			.callee = random_below(&s->random, entities),
			.calls = random_below(&s->random, 4),
		};
}

static struct slow_callgraph *subject_slow(const struct subject *s)
{
	struct slow_stacks **stacks = ARENA_ARRAY(s->arena, struct slow_stacks *, s->shape.metrics);

	for (size_t k = 0; k < s->shape.metrics; k++) {
		stacks[k] = slow_stacks_create(s->profile, s->level, s->metrics[k]);
		if (s->spread)
			slow_stacks_spread(stacks[k]);
	}
	return slow_callgraph_create(
		stacks, s->shape.metrics, s->tree->entities, s->counted, s->count);
}

static void subject_init(struct subject *s, uint64_t seed)
{
	struct random r = random_from(seed);

	*s = (struct subject){.seed = seed, .shape = subject_shape(&r), .arena = arena_create()};
	if (s->shape.metrics > METRICS_MAX)
		s->shape.metrics = METRICS_MAX;
	s->profile = random_profile(seed, &s->shape);
	s->level = random_below(&r, 4) ? LEVEL_FUNCTION : LEVEL_MODULE;
	s->spread = random_below(&r, 8) == 0;
	for (uint32_t k = 0; k < s->shape.metrics; k++)
		s->metrics[k].i = k;
	s->random = r;
	s->tree = subject_tree(s, s->profile);
	subject_count(s);
	s->graph = callgraph_analyse(s->tree, s->counted, s->count, 0, s->arena);
	s->slow = subject_slow(s);
}

static void subject_deinit(struct subject *s)
{
	slow_callgraph_destroy(s->slow);
	arena_destroy(s->arena);
	profile_destroy(s->profile);
}

static void for_each_subject(void (*test)(struct subject *))
{
	for (struct property_seeds p = property_seeds(ROUNDS, ROUNDS_SANITIZED);
		property_next(&p);) {
		struct subject s;
		subject_init(&s, property_seed);
		test(&s);
		subject_deinit(&s);
	}
}

static const struct callgraph *graph_of(const struct subject *s, size_t k)
{
	return k ? s->graph->others[k - 1] : s->graph;
}

static uint32_t range_count(const struct callgraph_range *r)
{
	return r->end - r->first;
}

/* An entry's name; of a cycle, that of its first member. */
static uint32_t entry_name(const struct subject *s, const struct callgraph_entry *e)
{
	uint32_t entity = e->entity;

	if (entity == NO_ID)
		entity = s->graph->lines[e->parts[CALLGRAPH_MEMBERS].first].entity;
	return slow_callgraph_find(s->slow, &s->tree->entities[entity]);
}

static uint32_t line_name(const struct subject *s, const struct callgraph_line *l)
{
	return l->entity == NO_ID ? NO_ID
				  : slow_callgraph_find(s->slow, &s->tree->entities[l->entity]);
}

static bool is_cycle(const struct callgraph_entry *e)
{
	return e->entity == NO_ID;
}

static bool times_zero(struct call_times t)
{
	return t.self == 0 && t.children == 0;
}

static bool same_calls(struct callgraph_calls x, struct callgraph_calls y)
{
	return x.is_known == y.is_known && x.count == y.count && (x.is_known || x.count == 0);
}

/* ---- agreement with the slow one ---- */

/* Calls to the entry's unit, or to the function, from outside its unit or from within. */
static struct callgraph_calls expected_called(
	const struct subject *s, uint32_t name, bool cycle, bool outside)
{
	struct callgraph_calls sum = {0};

	for (size_t i = 0; i < s->slow->counted.count; i++) {
		const struct entity_arc *c = &s->slow->counted.data[i];
		bool to = cycle ? slow_same_unit(s->slow, c->callee, name) : c->callee == name;
		bool inner = c->caller != NO_ID && slow_same_unit(s->slow, c->caller, c->callee);

		if (!to)
			continue;
		sum.is_known = true;
		if (outside ? !inner : inner && (cycle || c->caller == c->callee))
			sum.count += c->calls;
	}
	return sum;
}

static void check_entry(const struct subject *s, const struct callgraph_entry *e, size_t k)
{
	uint32_t name = entry_name(s, e);
	struct call_times times = slow_entry_times(s->slow, k, name, is_cycle(e));

	check(e->self == times.self && e->children == times.children);
	check(same_calls(e->outside, expected_called(s, name, is_cycle(e), true)));
	check(same_calls(e->inside, expected_called(s, name, is_cycle(e), false)));
	check((e->cycle != 0) == slow_in_cycle(s->slow, name));
}

/* Calls along a line between units, of several arcs in a cycle's entry. */
static struct callgraph_calls expected_calls(const struct subject *s, uint32_t name, bool cycle,
	enum callgraph_part part, uint32_t other)
{
	struct callgraph_calls sum = {0};

	for (uint32_t i = 0; i < s->slow->names.count; i++) {
		if (cycle ? !slow_same_unit(s->slow, i, name) : i != name)
			continue;
		struct callgraph_calls c = part == CALLGRAPH_CALLERS
						   ? slow_calls(s->slow, other, i)
						   : slow_calls(s->slow, i, other);
		sum.is_known |= c.is_known;
		sum.count += c.count;
	}
	return sum;
}

static void check_outer_line(const struct subject *s, const struct callgraph_entry *e,
	enum callgraph_part part, const struct callgraph_line *l, size_t k)
{
	uint32_t name = entry_name(s, e), other = line_name(s, l);
	struct call_times times = slow_line_times(s->slow, k, name, is_cycle(e), part, other);
	struct callgraph_calls calls = expected_calls(s, name, is_cycle(e), part, other);
	uint32_t callee = part == CALLGRAPH_CALLERS ? name : other;

	check(l->has_times);
	check(l->self == times.self && l->children == times.children);
	check(same_calls(l->calls, calls));
	check(same_calls(l->of, calls.is_known ? expected_called(s, callee, true, true)
					       : (struct callgraph_calls){0}));
}

static void check_inner_line(const struct subject *s, const struct callgraph_entry *e,
	enum callgraph_part part, const struct callgraph_line *l)
{
	uint32_t name = entry_name(s, e), other = line_name(s, l);

	check(!l->has_times && l->self == 0 && l->children == 0);
	check(name != other && !is_cycle(e));
	check(same_calls(l->calls, part == CALLGRAPH_CALLERS ? slow_calls(s->slow, other, name)
							     : slow_calls(s->slow, name, other)));
	check(!l->of.is_known);
}

static void check_member_line(const struct subject *s, const struct callgraph_line *l, size_t k)
{
	uint32_t name = line_name(s, l);
	struct call_times times = slow_entry_times(s->slow, k, name, false);
	struct callgraph_calls sum = {0};

	for (size_t i = 0; i < s->slow->counted.count; i++) {
		const struct entity_arc *c = &s->slow->counted.data[i];

		if (c->callee != name)
			continue;
		sum.is_known = true;
		if (c->caller != NO_ID && slow_same_unit(s->slow, c->caller, name))
			sum.count += c->calls;
	}
	check(l->has_times && l->self == times.self && l->children == times.children);
	check(same_calls(l->calls, sum) && !l->of.is_known);
}

static void check_lines(const struct subject *s, const struct callgraph_entry *e,
	enum callgraph_part part, size_t k)
{
	uint32_t name = entry_name(s, e);

	for (uint32_t i = e->parts[part].first; i < e->parts[part].end; i++) {
		const struct callgraph_line *l = &graph_of(s, k)->lines[i];
		uint32_t other = line_name(s, l);

		check(l->entity == NO_ID ? l->entry == NO_ID
					 : s->graph->entries[l->entry].entity == l->entity);
		if (part == CALLGRAPH_MEMBERS)
			check_member_line(s, l, k);
		else if (other != NO_ID && slow_same_unit(s->slow, name, other))
			check_inner_line(s, e, part, l);
		else
			check_outer_line(s, e, part, l, k);
	}
}

/* How many lines the entry must have in a part. */
static uint32_t expected_lines(
	const struct subject *s, uint32_t name, bool cycle, enum callgraph_part part)
{
	const struct slow_callgraph *g = s->slow;
	uint32_t count = 0, n = (uint32_t)g->names.count;

	for (uint32_t i = 0; i <= n; i++) {
		uint32_t other = i == n ? NO_ID : i;
		bool inner = other != NO_ID && slow_same_unit(g, name, other);

		if (inner) {
			bool arc = part == CALLGRAPH_CALLERS ? g->arc[other * n + name]
							     : g->arc[name * n + other];
			count += !cycle && other != name && arc;
			continue;
		}
		if (other == NO_ID && part == CALLGRAPH_CALLEES)
			continue;
		bool zero = expected_calls(s, name, cycle, part, other).count == 0;
		for (size_t k = 0; k < g->metric_count; k++)
			zero &= times_zero(slow_line_times(g, k, name, cycle, part, other));
		count += !zero;
	}
	return count;
}

static void check_parts(const struct subject *s, const struct callgraph_entry *e)
{
	uint32_t name = entry_name(s, e), members = 0;

	for (uint32_t i = 0; i < s->slow->names.count; i++)
		members += is_cycle(e) && slow_same_unit(s->slow, i, name);
	check(range_count(&e->parts[CALLGRAPH_MEMBERS]) == members);
	check(range_count(&e->parts[CALLGRAPH_CALLERS]) ==
		expected_lines(s, name, is_cycle(e), CALLGRAPH_CALLERS));
	check(range_count(&e->parts[CALLGRAPH_CALLEES]) ==
		expected_lines(s, name, is_cycle(e), CALLGRAPH_CALLEES));
}

/* Entries there must be: all that have figures, or lines, or are in cycles, and the cycles. */
static size_t expected_entries(const struct subject *s)
{
	const struct slow_callgraph *g = s->slow;
	size_t count = 0;

	for (uint32_t i = 0; i < g->names.count; i++) {
		bool stays = slow_in_cycle(g, i) || expected_called(s, i, false, true).count ||
			     expected_called(s, i, false, false).count ||
			     expected_lines(s, i, false, CALLGRAPH_CALLERS) ||
			     expected_lines(s, i, false, CALLGRAPH_CALLEES);
		bool is_first = slow_in_cycle(g, i);

		for (size_t k = 0; k < g->metric_count; k++)
			stays |= !times_zero(slow_entry_times(g, k, i, false));
		for (uint32_t other = 0; other < i; other++)
			is_first &= !slow_same_unit(g, i, other);
		count += stays + is_first;
	}
	return count;
}

static void test_agrees_with_slow(struct subject *s)
{
	check(s->graph->other_count == s->shape.metrics - 1);
	check(s->graph->entry_count == expected_entries(s));
	for (size_t i = 0; i < s->graph->entry_count; i++) {
		check_parts(s, &s->graph->entries[i]);
		for (size_t k = 0; k < s->shape.metrics; k++) {
			const struct callgraph_entry *e = &graph_of(s, k)->entries[i];

			check_entry(s, e, k);
			for (enum callgraph_part p = 0; p < CALLGRAPH_PART_COUNT; p++)
				check_lines(s, e, p, k);
		}
	}
	for (size_t k = 0; k < s->shape.metrics; k++)
		check(graph_of(s, k)->total == slow_total(s->slow->stacks[k]));
}

/* ---- sums and bounds ---- */

static struct call_times lines_sum(const struct callgraph *g, const struct callgraph_range *r)
{
	struct call_times sum = {0};

	for (uint32_t i = r->first; i < r->end; i++) {
		sum.self += g->lines[i].self;
		sum.children += g->lines[i].children;
	}
	return sum;
}

/* A unit: a cycle, or a function that is in none. */
static bool is_unit(const struct callgraph_entry *e)
{
	return is_cycle(e) || e->cycle == 0;
}

static void check_sums(const struct callgraph *g, const struct callgraph_entry *e)
{
	struct call_times callers = lines_sum(g, &e->parts[CALLGRAPH_CALLERS]);
	struct call_times members = lines_sum(g, &e->parts[CALLGRAPH_MEMBERS]);
	struct call_times callees = lines_sum(g, &e->parts[CALLGRAPH_CALLEES]);

	if (is_unit(e))
		check(callers.self == e->self && callers.children == e->children);
	if (is_cycle(e))
		check(members.self == e->self && members.children == e->children);
	check(callees.self + callees.children == e->children);
}

static void check_calls_sum(const struct callgraph *g, const struct callgraph_entry *e)
{
	uint64_t callers = 0, members = 0;

	for (uint32_t i = e->parts[CALLGRAPH_CALLERS].first; i < e->parts[CALLGRAPH_CALLERS].end;
		i++)
		callers += g->lines[i].has_times ? g->lines[i].calls.count : 0;
	for (uint32_t i = e->parts[CALLGRAPH_MEMBERS].first; i < e->parts[CALLGRAPH_MEMBERS].end;
		i++)
		members += g->lines[i].calls.count;
	check(callers == e->outside.count);
	check(!is_cycle(e) || members == e->inside.count);
	check(e->outside.is_known == e->inside.is_known);
	check(e->outside.is_known ? g->has_calls : callers == 0);
}

static void test_sums(struct subject *s)
{
	for (size_t k = 0; k < s->shape.metrics; k++) {
		const struct callgraph *g = graph_of(s, k);
		int64_t self = 0;

		for (size_t i = 0; i < g->entry_count; i++) {
			const struct callgraph_entry *e = &g->entries[i];

			check_sums(g, e);
			check_calls_sum(g, e);
			self += is_unit(e) ? e->self : 0;
			if (!s->shape.negative)
				check(e->self >= 0 && e->children >= 0 &&
					e->self + e->children <= g->total);
		}
		const struct entity_tree *tree = k ? s->tree->others[k - 1] : s->tree;
		check(self + entity_tree_weight(tree, 0) == g->total);
	}
}

/* ---- order and numbers ---- */

static int weights_compare(const struct subject *s, uint32_t a, uint32_t b)
{
	for (size_t k = 0; k < s->shape.metrics; k++) {
		const struct callgraph_entry *x = &graph_of(s, k)->entries[a],
					     *y = &graph_of(s, k)->entries[b];
		int64_t x_sum = x->self + x->children, y_sum = y->self + y->children;

		if (x_sum != y_sum)
			return x_sum > y_sum ? -1 : 1;
	}
	return 0;
}

/* Of entries that have the same weight, no later one calls an earlier one of another unit. */
static void check_tie(const struct subject *s, uint32_t earlier, uint32_t later)
{
	const struct callgraph_entry *e = &s->graph->entries[later];
	uint32_t cycle = s->graph->entries[earlier].cycle;

	if (weights_compare(s, earlier, later) != 0 || (cycle && cycle == e->cycle))
		return;
	for (uint32_t i = e->parts[CALLGRAPH_CALLEES].first; i < e->parts[CALLGRAPH_CALLEES].end;
		i++) {
		uint32_t callee = s->graph->lines[i].entry;
		uint32_t callee_cycle = s->graph->entries[callee].cycle;

		check(callee != earlier);
		if (is_cycle(&s->graph->entries[earlier]))
			check(callee_cycle != cycle);
	}
}

static void check_place(const struct subject *s, uint32_t i, uint32_t *cycles)
{
	const struct callgraph_entry *e = &s->graph->entries[i];

	if (is_cycle(e))
		check(e->cycle == ++*cycles);
	else
		check(e->cycle <= *cycles);
	if (i > 0 && !s->shape.negative)
		check(weights_compare(s, i - 1, i) <= 0);
	if (!s->shape.negative)
		for (uint32_t before = 0; before < i; before++)
			check_tie(s, before, i);
}

static void check_line_order(const struct callgraph *g, const struct callgraph_range *r)
{
	for (uint32_t i = r->first + 1; i < r->end; i++) {
		const struct callgraph_line *x = &g->lines[i - 1], *y = &g->lines[i];

		check(x->has_times || !y->has_times);
		if (x->has_times)
			check(!y->has_times || x->self + x->children >= y->self + y->children);
		else
			check(x->calls.count >= y->calls.count);
	}
}

static void test_order(struct subject *s)
{
	uint32_t cycles = 0, line = 0;

	for (uint32_t i = 0; i < s->graph->entry_count; i++) {
		check_place(s, i, &cycles);
		for (enum callgraph_part p = 0; p < CALLGRAPH_PART_COUNT; p++) {
			const struct callgraph_range *r = &s->graph->entries[i].parts[p];

			check(r->first == line && r->end >= line);
			line = r->end;
			check_line_order(s->graph, r);
		}
	}
	check(line == s->graph->line_count);
	check(cycles == s->graph->cycle_count);
}

static bool same_entity(
	const struct callgraph *x, uint32_t a, const struct callgraph *y, uint32_t b)
{
	if (a == NO_ID || b == NO_ID)
		return a == b;
	return entity_compare(&x->entities[a], &y->entities[b]) == 0;
}

static void check_same(const struct callgraph *x, const struct callgraph *y)
{
	check(x->entry_count == y->entry_count && x->line_count == y->line_count);
	for (size_t i = 0; i < x->entry_count; i++) {
		const struct callgraph_entry *a = &x->entries[i], *b = &y->entries[i];

		check(same_entity(x, a->entity, y, b->entity) && a->cycle == b->cycle);
		check(a->self == b->self && a->children == b->children);
		check(memcmp(a->parts, b->parts, sizeof(a->parts)) == 0);
	}
	for (size_t i = 0; i < x->line_count; i++) {
		const struct callgraph_line *a = &x->lines[i], *b = &y->lines[i];

		check(same_entity(x, a->entity, y, b->entity) && a->entry == b->entry);
		check(a->self == b->self && a->children == b->children);
	}
}

static void test_order_of_samples(struct subject *s)
{
	struct profile *other =
		random_profile_shuffled(s->seed, random_next(&s->random), &s->shape);
	const struct entity_tree *tree = subject_tree(s, other);

	check_same(callgraph_analyse(s->tree, NULL, 0, 0, s->arena),
		callgraph_analyse(tree, NULL, 0, 0, s->arena));
	profile_destroy(other);
}

#define PROPERTY(name)                                                                             \
	TEST(run_##name)                                                                           \
	{                                                                                          \
		for_each_subject(test_##name);                                                     \
	}

PROPERTY(agrees_with_slow)
PROPERTY(sums)
PROPERTY(order)
PROPERTY(order_of_samples)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_agrees_with_slow),
		cmocka_unit_test(run_sums),
		cmocka_unit_test(run_order),
		cmocka_unit_test(run_order_of_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
