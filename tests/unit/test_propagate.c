/*
 * gprof's propagation: the manual's worked figure, what is not obvious, and on random graphs that
 * nothing is lost and that no figure is far from the same reckoning in fractions.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../random_profile.h"
#include "../slow/text_callgraph.h"
#include "../slow/text_profile.h"
#include "../unit.h"
#include "analysis/propagate.h"
#include "base/alloc.h"

struct by_hand {
	struct profile *profile;
	struct arena *arena;
	struct entity_tree *tree;
	struct callgraph *graph;
	struct strbuf text;
};

static uint32_t entity_of(const struct entity_tree *tree, const char *name)
{
	for (uint32_t i = 0; i < tree->entity_count; i++)
		if (str_equal(tree->entities[i].name, str_from(name)))
			return i;
	return NO_ID; /* "*": <spontaneous> */
}

struct count_by_hand {
	const char *caller, *callee;
	uint64_t calls;
};

/* lines: a function and its own weight each. */
static void by_hand_init(
	struct by_hand *h, const char *lines, const struct count_by_hand *counts, size_t count)
{
	*h = (struct by_hand){.profile = text_profile(lines), .arena = arena_create()};
	h->tree = entity_tree_of(h->profile, LEVEL_FUNCTION, (metric_id){0}, h->arena);
	struct entity_arc *counted = ARENA_ARRAY(h->arena, struct entity_arc, count + 1);
	for (size_t i = 0; i < count; i++)
		counted[i] = (struct entity_arc){entity_of(h->tree, counts[i].caller),
			entity_of(h->tree, counts[i].callee), counts[i].calls};
	h->graph = callgraph_propagate(h->tree, counted, count, h->arena);
	assert_true(h->graph->is_estimated);
}

static void by_hand_deinit(struct by_hand *h)
{
	strbuf_deinit(&h->text);
	arena_destroy(h->arena);
	profile_destroy(h->profile);
}

#define check_text(h, i, expected)                                                                 \
	assert_string_equal(text_callgraph_entry((h)->graph, i, &(h)->text), expected)

/* The gprof manual, "How Mutually Recursive Functions Are Described", in hundredths of seconds. */
TEST(the_worked_figure)
{
	static const struct count_by_hand counts[] = {{"start", "main", 1}, {"main", "a", 1},
		{"a", "b", 3}, {"b", "a", 2}, {"a", "c", 3}, {"b", "c", 3}};
	struct by_hand h;

	by_hand_init(&h, "start 0\nmain 16\na 75\nb 102\nc 0\n", counts, ARRAY_SIZE(counts));
	assert_int_equal(h.graph->entry_count, 6);
	check_text(&h, 0, "start:0/193 < *:0/193 | > main:16/177(1/1)");
	check_text(&h, 1, "main:16/177(1+0) < start:16/177(1/1) | > a<1>:177/0(1/1)");
	check_text(&h, 2,
		"<1>:177/0(1+5) < main:177/0(1/1) | b<1>:102/0(3) a<1>:75/0(2)"
		" > c:0/0(6/6)");
	check_text(&h, 3, "b<1>:102/0(0+0) < a<1>(3) | > c:0/0(3/6) a<1>(2)");
	check_text(&h, 4, "a<1>:75/0(1+0) < main:177/0(1/1) b<1>(2) | > c:0/0(3/6) b<1>(3)");
	check_text(&h, 5, "c:0/0(6+0) < a<1>:0/0(3/6) b<1>:0/0(3/6) | >");
	by_hand_deinit(&h);
}

/* Time goes by calls, calls of a function to itself by none. */
TEST(shares_go_by_calls)
{
	static const struct count_by_hand counts[] = {{"main", "f", 1}, {"main", "g", 2},
		{"f", "h", 1}, {"g", "h", 2}, {"h", "h", 40}, {"h", "i", 5}};
	struct by_hand h;

	by_hand_init(&h, "main 0\nf 0\ng 0\nh 20\ni 10\n", counts, ARRAY_SIZE(counts));
	check_text(&h, 1, "main:0/30 < *:0/30 | > g:0/21(2/2) f:0/9(1/1)");
	check_text(&h, 0, "h:20/10(3+40) < g:14/7(2/3) f:6/3(1/3) | > i:10/0(5/5)");
	by_hand_deinit(&h);
}

/* What nobody called stands for itself, next to others' counted calls from nowhere. */
TEST(spontaneous_has_the_rest)
{
	static const struct count_by_hand counts[] = {{"*", "f", 1}, {"g", "f", 3}, {"*", "g", 0}};
	struct by_hand h;

	by_hand_init(&h, "f 8\ng 1\nalone 4\n", counts, ARRAY_SIZE(counts));
	check_text(&h, 0, "f:8/0(4+0) < g:6/0(3/4) *:2/0(1/4) | >");
	check_text(&h, 1, "g:1/6 < *:1/6 | > f:6/0(3/4)");
	check_text(&h, 2, "alone:4/0 < *:4/0 | >");
	by_hand_deinit(&h);
}

/* A main that is called again by what it calls: the cycle begins with it. */
TEST(a_cycle_at_the_root)
{
	static const struct count_by_hand counts[] = {
		{"main", "f", 6}, {"f", "main", 5}, {"f", "g", 1}};
	struct by_hand h;

	by_hand_init(&h, "f 10\nmain 2\ng 3\n", counts, ARRAY_SIZE(counts));
	check_text(&h, 0, "<1>:12/3(0+11) < *:12/3 | f<1>:10/3(6) main<1>:2/0(5) > g:3/0(1/1)");
	check_text(&h, 3, "main<1>:2/0(0+0) < *:12/3 f<1>(5) | > f<1>(6)");
	by_hand_deinit(&h);
}

/* ---- random graphs ---- */

#define FUNCTIONS_MAX 24

struct random_graph {
	struct by_hand h;
	struct entity_arc counted[80];
	size_t count, functions;
};

static void random_graph_init(struct random_graph *g, uint64_t seed)
{
	struct random r = random_from(seed);
	struct strbuf lines = {0};

	*g = (struct random_graph){.functions = 1 + random_below(&r, FUNCTIONS_MAX)};
	for (size_t i = 0; i < g->functions; i++)
		strbuf_printf(&lines, "f%zu %" PRIu32 "\n", i,
			random_below(&r, 3) ? random_below(&r, 1000000) : 0);
	g->h.profile = text_profile(lines.data);
	g->h.arena = arena_create();
	g->h.tree = entity_tree_of(g->h.profile, LEVEL_FUNCTION, (metric_id){0}, g->h.arena);
	g->count = random_below(&r, (uint32_t)g->functions * 3);
	uint32_t n = (uint32_t)g->functions;
	for (size_t i = 0; i < g->count; i++) {
		struct entity_arc *c = &g->counted[i];
		c->callee = random_below(&r, n);
		c->caller = random_below(&r, 20) ? random_below(&r, n) : NO_ID;
		/* Mostly downwards, so that not all is one cycle. */
		if (c->caller != NO_ID && c->caller > c->callee && random_below(&r, 4)) {
			uint32_t swap = c->caller;
			c->caller = c->callee;
			c->callee = swap;
		}
		c->calls = random_below(&r, 6);
	}
	g->h.graph = callgraph_propagate(g->h.tree, g->counted, g->count, g->h.arena);
	strbuf_deinit(&lines);
}

static int64_t part_sum(const struct callgraph *g, size_t entry, enum callgraph_part part)
{
	const struct callgraph_range *r = &g->entries[entry].parts[part];
	int64_t sum = 0;

	for (uint32_t i = r->first; i < r->end; i++)
		if (g->lines[i].has_times)
			sum += g->lines[i].self + g->lines[i].children;
	return sum;
}

TEST(nothing_is_lost)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct random_graph g;
		int64_t from_nobody = 0;
		random_graph_init(&g, seed);
		for (size_t i = 0; i < g.h.graph->entry_count; i++) {
			const struct callgraph_entry *e = &g.h.graph->entries[i];
			bool is_member = e->cycle && e->entity != NO_ID;
			assert_true(part_sum(g.h.graph, i, CALLGRAPH_CALLEES) == e->children);
			if (!is_member)
				assert_true(part_sum(g.h.graph, i, CALLGRAPH_CALLERS) ==
					    e->self + e->children);
			const struct callgraph_range *callers = &e->parts[CALLGRAPH_CALLERS];
			for (uint32_t k = callers->first; k < callers->end && !is_member; k++)
				if (g.h.graph->lines[k].entity == NO_ID)
					from_nobody += g.h.graph->lines[k].self +
						       g.h.graph->lines[k].children;
		}
		/* All time comes from somewhere. */
		assert_true(from_nobody == g.h.graph->total);
		by_hand_deinit(&g.h);
	}
}

/* ---- the same in fractions ---- */

static void close_reach(bool reach[FUNCTIONS_MAX][FUNCTIONS_MAX], size_t n)
{
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j < n; j++)
				reach[i][j] |= reach[i][k] && reach[k][j];
}

/* self + children of the unit that holds f, by recursion over the arcs into lower units. */
static double unit_total(
	const struct random_graph *g, bool reach[FUNCTIONS_MAX][FUNCTIONS_MAX], size_t f)
{
	double sum = 0;

	for (size_t m = 0; m < g->functions; m++)
		if (m == f || (reach[m][f] && reach[f][m]))
			for (uint32_t i = 1; i < g->h.tree->node_count; i++)
				if (g->h.tree->entity[i] == m)
					sum += (double)entity_tree_weight(g->h.tree, i);
	for (size_t i = 0; i < g->count; i++) {
		uint32_t caller = g->counted[i].caller, callee = g->counted[i].callee;
		bool in_unit =
			caller != NO_ID && (caller == f || (reach[caller][f] && reach[f][caller]));
		if (!in_unit || callee == caller ||
			(reach[callee][caller] && reach[caller][callee]))
			continue;
		double calls = 0;
		for (size_t k = 0; k < g->count; k++) {
			uint32_t from = g->counted[k].caller, to = g->counted[k].callee;
			bool same = to == callee || (reach[to][callee] && reach[callee][to]);
			bool inner = from != NO_ID &&
				     (from == to || (reach[from][to] && reach[to][from]));
			if (same && !inner)
				calls += (double)g->counted[k].calls;
		}
		if (calls > 0)
			sum += unit_total(g, reach, callee) * (double)g->counted[i].calls / calls;
	}
	return sum;
}

TEST(figures_are_near_fractions)
{
	for (uint64_t seed = 0; seed < 150; seed++) {
		struct random_graph g;
		bool reach[FUNCTIONS_MAX][FUNCTIONS_MAX] = {0};
		random_graph_init(&g, seed);
		if (g.functions > 10) {
			by_hand_deinit(&g.h);
			continue;
		}
		for (size_t i = 0; i < g.count; i++)
			if (g.counted[i].caller != NO_ID)
				reach[g.counted[i].caller][g.counted[i].callee] = true;
		close_reach(reach, g.functions);
		for (size_t i = 0; i < g.h.graph->entry_count; i++) {
			const struct callgraph_entry *e = &g.h.graph->entries[i];
			if (e->cycle)
				continue;
			double wanted = unit_total(&g, reach, e->entity);
			/* Each arc rounds by less than one, and passes that on. */
			assert_true(fabs((double)(e->self + e->children) - wanted) <
				    2.0 * (double)g.count + 1);
		}
		by_hand_deinit(&g.h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worked_figure),
		cmocka_unit_test(shares_go_by_calls),
		cmocka_unit_test(spontaneous_has_the_rest),
		cmocka_unit_test(a_cycle_at_the_root),
		cmocka_unit_test(nothing_is_lost),
		cmocka_unit_test(figures_are_near_fractions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
