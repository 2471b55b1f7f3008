/*
 * Inclusive figures of arcs with costs: worked out by hand for calls without recursion, to itself
 * and in a cycle; and what must hold of all, on random profiles.
 */

#include "../random_profile.h"
#include "../unit.h"
#include "analysis/callers.h"
#include "analysis/functions.h"
#include "analysis/measured.h"
#include "model/merge.h"

struct world {
	struct builder *b;
	struct profile *p;
	struct arena *arena;
	struct entity_tree *tree;
};

static struct world begin(void)
{
	struct world w = {.b = builder_create(), .arena = arena_create()};

	(void)builder_metric(w.b, STR("Ir"), STR("count"));
	builder_header(w.b)->has_stacks = false;
	return w;
}

static function_id named(struct world *w, const char *name)
{
	return builder_function(
		w->b, builder_string(w->b, str_from(name)), (object_id){NO_ID}, (string_id){0}, 0);
}

static void spent(struct world *w, const char *name, int64_t weight)
{
	frame_id frame = builder_frame(w->b, named(w, name), (string_id){0}, 0, false, 0);

	builder_weight(w->b, builder_stack(w->b, (stack_id){0}, frame), &weight, UINT64_MAX);
}

static void called(struct world *w, const char *from, const char *to, uint64_t calls, int64_t cost)
{
	(void)builder_arc_cost(w->b, named(w, from), named(w, to), calls, &cost);
}

static void end(struct world *w)
{
	assert_null(builder_finish(w->b, &w->p));
	w->tree = entity_tree_of(w->p, LEVEL_FUNCTION, (metric_id){0}, w->arena);
}

static void world_deinit(struct world *w)
{
	arena_destroy(w->arena);
	profile_destroy(w->p);
}

static const struct function_row *row_of(const struct world *w, const char *name)
{
	struct functions *f = functions_analyse(w->tree, w->arena);

	assert_true(f->is_measured && !f->is_estimated && f->knows_inclusive);
	for (size_t i = 0; i < f->count; i++)
		if (str_equal(w->tree->entities[f->rows[i].entity].name, str_from(name)))
			return &f->rows[i];
	fail_msg("no %s", name);
	return NULL;
}

/* The manual's own example, main → func1 → func2. */
TEST(costs_of_calls_are_inclusive)
{
	struct world w = begin();

	spent(&w, "main", 20);
	spent(&w, "func1", 100);
	spent(&w, "func2", 700);
	called(&w, "main", "func1", 1, 400);
	called(&w, "main", "func2", 3, 400);
	called(&w, "func1", "func2", 2, 300);
	end(&w);
	assert_int_equal(row_of(&w, "main")->inclusive, 820);
	assert_int_equal(row_of(&w, "func1")->inclusive, 400);
	assert_int_equal(row_of(&w, "func2")->inclusive, 700);
	assert_int_equal(row_of(&w, "func2")->calls, 5);
	assert_false(row_of(&w, "main")->is_bound);
	world_deinit(&w);
}

/* f calls itself nine times; the costs of these calls overlap, and are left out. */
TEST(calls_to_itself_count_once)
{
	struct world w = begin();

	spent(&w, "main", 1);
	spent(&w, "f", 10);
	spent(&w, "leaf", 30);
	called(&w, "main", "f", 1, 40);
	called(&w, "f", "f", 9, 180);
	called(&w, "f", "leaf", 10, 30);
	end(&w);
	assert_int_equal(row_of(&w, "f")->inclusive, 40);
	assert_false(row_of(&w, "f")->is_bound);
	assert_int_equal(row_of(&w, "main")->inclusive, 41);
	assert_int_equal(row_of(&w, "f")->calls, 1);
	world_deinit(&w);
}

/*
 * main → even ⇄ odd, five deep, each 1 a call: even 3, odd 2.  even is the only entry, so it has
 * what main's call cost; odd is under even: at most 5, at most what the calls of it cost, 4 + 2.
 */
TEST(in_a_cycle_the_entry_is_exact)
{
	struct world w = begin();

	spent(&w, "main", 1);
	spent(&w, "even", 3);
	spent(&w, "odd", 2);
	called(&w, "main", "even", 1, 5);
	called(&w, "even", "odd", 2, 4 + 2);
	called(&w, "odd", "even", 2, 3 + 1);
	end(&w);
	assert_int_equal(row_of(&w, "even")->inclusive, 5);
	assert_false(row_of(&w, "even")->is_bound);
	assert_int_equal(row_of(&w, "odd")->inclusive, 5);
	assert_true(row_of(&w, "odd")->is_bound);
	assert_int_equal(row_of(&w, "main")->inclusive, 6);
	world_deinit(&w);
}

static int64_t line_of(const struct callers *c, const char *centre, const char *other)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct callers_row *row = &c->rows[i];

		if (!str_equal(c->tree->entities[row->entity].name, str_from(centre)))
			continue;
		for (uint32_t k = 0; k < row->caller_count + row->callee_count; k++) {
			const struct callers_line *line = &c->lines[row->first_line + k];
			struct str name = line->entity == NO_ID
						  ? STR("<Total>")
						  : c->tree->entities[line->entity].name;
			if (str_equal(name, str_from(other)))
				return line->attributed;
		}
	}
	return -1;
}

TEST(callers_are_those_that_were_measured)
{
	struct world w = begin();

	spent(&w, "main", 20);
	spent(&w, "func1", 100);
	spent(&w, "func2", 700);
	called(&w, "main", "func1", 1, 400);
	called(&w, "main", "func2", 3, 400);
	called(&w, "func1", "func2", 2, 300);
	end(&w);
	struct callers *c = callers_analyse(w.tree, NULL, w.arena);
	assert_int_equal(line_of(c, "func2", "main"), 400);
	assert_int_equal(line_of(c, "func2", "func1"), 300);
	assert_int_equal(line_of(c, "func1", "func2"), 300);
	assert_int_equal(line_of(c, "main", "<Total>"), 820);
	world_deinit(&w);
}

TEST(the_graph_shares_out_what_was_measured)
{
	struct world w = begin();

	spent(&w, "main", 20);
	spent(&w, "f", 30);
	spent(&w, "g", 10);
	called(&w, "main", "f", 1, 40);
	called(&w, "f", "g", 5, 10);
	end(&w);
	struct callgraph *g = callgraph_measured(w.tree, w.arena);
	assert_true(g->is_measured && !g->is_estimated && g->has_calls);
	assert_int_equal(g->entry_count, 3);
	assert_int_equal(g->entries[0].self, 20);
	assert_int_equal(g->entries[0].children, 40);
	assert_int_equal(g->entries[1].self, 30);
	assert_int_equal(g->entries[1].outside.count, 1);
	const struct callgraph_line *line = &g->lines[g->entries[1].parts[CALLGRAPH_CALLERS].first];
	assert_int_equal(line->self, 30);
	assert_int_equal(line->children, 10);
	world_deinit(&w);
}

/* ---- what must hold, however little the costs fit each other ---- */

static struct profile *random_costs(uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = {.functions = 1 + random_below(&r, 12),
		.objects = random_below(&r, 4),
		.stacks = random_below(&r, 40),
		.depth_max = 1,
		.metrics = 1 + random_below(&r, 3),
		.weight_max = 1u << random_below(&r, 31),
		.arcs = true,
		.arc_costs = true,
		.no_stacks = true};

	return random_profile(seed, &shape);
}

static void check_graph(const struct callgraph *g)
{
	for (size_t i = 0; i < g->entry_count; i++) {
		const struct callgraph_entry *e = &g->entries[i];
		int64_t callers = 0, callees = 0;

		for (uint32_t k = e->parts[CALLGRAPH_CALLERS].first;
			k < e->parts[CALLGRAPH_CALLERS].end; k++)
			callers += g->lines[k].self + g->lines[k].children;
		for (uint32_t k = e->parts[CALLGRAPH_CALLEES].first;
			k < e->parts[CALLGRAPH_CALLEES].end; k++)
			callees += g->lines[k].self + g->lines[k].children;
		assert_int_equal(callees, e->children);
		if (e->cycle == 0 || e->entity == NO_ID)
			assert_int_equal(callers, e->self + e->children);
	}
}

static void check_profile(const struct profile *p, bool is_difference)
{
	struct arena *arena = arena_create();
	metric_id metrics[9];
	struct entity_spec spec = {.metrics = metrics,
		.metric_count = is_difference ? 3 : p->metric_count,
		.is_difference = is_difference};

	for (uint32_t i = 0; i < ARRAY_SIZE(metrics); i++)
		metrics[i].i = i;
	for (enum level level = LEVEL_FUNCTION; level <= LEVEL_FILE; level++) {
		spec.level = level;
		const struct entity_tree *tree =
			entity_tree_create(selection_all(p, arena), &spec, arena);
		if (tree->arc_cost == NULL)
			continue;
		const struct callgraph *g = callgraph_measured(tree, arena);
		assert_true(callers_check(callers_analyse(tree, NULL, arena)));
		check_graph(g);
		for (size_t k = 0; k < g->other_count; k++)
			check_graph(g->others[k]);
	}
	arena_destroy(arena);
}

TEST(sums_hold)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct profile *a = random_costs(seed), *b = random_costs(seed + 1000), *d;

		check_profile(a, false);
		assert_null(profile_difference(a, b, &d));
		check_profile(d, true);
		profile_destroy(a);
		profile_destroy(b);
		profile_destroy(d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(costs_of_calls_are_inclusive),
		cmocka_unit_test(calls_to_itself_count_once),
		cmocka_unit_test(in_a_cycle_the_entry_is_exact),
		cmocka_unit_test(callers_are_those_that_were_measured),
		cmocka_unit_test(the_graph_shares_out_what_was_measured),
		cmocka_unit_test(sums_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
