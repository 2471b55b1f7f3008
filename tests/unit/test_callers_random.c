/*
 * Callers on random profiles: both equations, agreement with the plain slow implementation and with
 * gprofng's way of adding and subtracting along each stack, for every entity, for fragments, for
 * several metrics at once.
 *
 * Runs over many random profiles; SEED=number in the environment runs one of them.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_callers.h"
#include "../unit.h"
#include "analysis/callers.h"
#include "base/alloc.h"

#define ROUNDS		 250
#define ROUNDS_SANITIZED 50
#define METRICS_MAX	 3

/* One random profile, looked at in one way, with some of its metrics. */
struct subject {
	struct random random;
	struct profile *profile;
	enum level level;
	bool spread;
	metric_id metrics[METRICS_MAX];
	size_t metric_count;
	struct arena *arena;
	struct entity_tree *tree;
	struct slow_stacks *slow[METRICS_MAX]; /* [metric] equal stacks merged */
};

static struct random_shape subject_shape(struct random *r)
{
	if (random_below(r, 32) == 0)
		return random_shape_any(r);
	struct random_shape s = random_shape_small;
	s.functions = 1 + random_below(r, 6);
	s.objects = random_below(r, 4);
	s.stacks = random_below(r, 25);
	s.depth_max = 1 + random_below(r, 14);
	s.metrics = 1 + random_below(r, METRICS_MAX);
	s.weight_max = 1u << random_below(r, 10);
	s.negative = random_below(r, 3) == 0;
	s.places = random_below(r, 2);
	s.hostile = random_below(r, 4) == 0;
	return s;
}

static void subject_init(struct subject *s, uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = subject_shape(&r);

	*s = (struct subject){.arena = arena_create()};
	s->profile = random_profile(seed, &shape);
	s->level = random_below(&r, 3) ? LEVEL_FUNCTION : LEVEL_MODULE;
	s->spread = random_below(&r, 6) == 0;
	s->metric_count = 1 + random_below(&r, shape.metrics);
	uint32_t first = random_below(&r, shape.metrics);
	for (uint32_t m = 0; m < s->metric_count; m++)
		s->metrics[m].i = (first + m) % shape.metrics;
	s->tree =
		entity_tree_of_metrics(s->profile, s->level, s->metrics, s->metric_count, s->arena);
	if (s->spread)
		s->tree = entity_tree_spread(s->tree, s->arena);
	for (size_t m = 0; m < s->metric_count; m++) {
		s->slow[m] = slow_stacks_create(s->profile, s->level, s->metrics[m]);
		if (s->spread)
			slow_stacks_spread(s->slow[m]);
		slow_stacks_merge(s->slow[m]);
	}
	s->random = r;
}

static void subject_deinit(struct subject *s)
{
	for (size_t m = 0; m < s->metric_count; m++)
		slow_stacks_destroy(s->slow[m]);
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

/* The centre in the names of one metric's slow stacks; places is freed by the caller. */
static struct slow_run slow_run(
	const struct subject *s, size_t metric, const struct centre *centre, uint64_t *places)
{
	for (uint32_t e = 0; e < s->tree->entity_count; e++) {
		uint32_t name = slow_stacks_find(s->slow[metric], &s->tree->entities[e]);
		if (name != NO_ID)
			places[name] = centre->places[e];
	}
	return (struct slow_run){.places = places, .length = centre->length};
}

/* What the definition says of one line of a centre, in every metric. */
struct expected_line {
	int64_t attributed[METRICS_MAX];
	bool is_recursive, is_shown;
};

static struct expected_line expect_line(
	const struct subject *s, const struct slow_run *runs, bool is_caller, uint32_t entity)
{
	struct expected_line line = {0};
	struct slow_edge any = {0};

	for (size_t m = 0; m < s->metric_count; m++) {
		const struct slow_stacks *slow = s->slow[m];
		uint32_t name = entity == NO_ID
					? NO_ID
					: slow_stacks_find(slow, &s->tree->entities[entity]);
		if (name == NO_ID && entity != NO_ID)
			continue;
		struct slow_edge edge = is_caller ? slow_caller_edge(slow, &runs[m], name)
						  : slow_callee_edge(slow, &runs[m], name);
		any.innermost |= edge.innermost;
		any.elsewhere |= edge.elsewhere;
		line.attributed[m] = is_caller ? slow_from_caller(slow, &runs[m], name)
					       : slow_to_callee(slow, &runs[m], name);
		check(line.attributed[m] ==
			(is_caller ? slow_from_caller_by_walk(slow, &runs[m], name)
				   : slow_to_callee_by_walk(slow, &runs[m], name)));
		line.is_shown |= line.attributed[m] != 0;
	}
	line.is_recursive = any.elsewhere && !any.innermost;
	line.is_shown |= line.is_recursive;
	return line;
}

static const struct callers *of_metric(const struct callers *c, size_t m)
{
	return m == 0 ? c : c->others[m - 1];
}

/* The lines of one side of a row are just the expected ones. */
static void check_side(const struct subject *s, const struct callers *c, size_t row,
	const struct slow_run *runs, bool is_caller)
{
	const struct callers_row *r = &c->rows[row];
	uint32_t first = r->first_line + (is_caller ? 0 : r->caller_count);
	uint32_t count = is_caller ? r->caller_count : r->callee_count, expected = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct callers_line *line = &c->lines[first + i];
		struct expected_line e = expect_line(s, runs, is_caller, line->entity);
		check(e.is_shown && e.is_recursive == line->is_recursive);
		check(is_caller || line->entity != NO_ID);
		for (size_t m = 0; m < s->metric_count; m++) {
			const struct callers_line *of = &of_metric(c, m)->lines[first + i];
			check(of->entity == line->entity);
			check(of->is_recursive == line->is_recursive);
			check(of->attributed == e.attributed[m]);
			check(!of->is_recursive || of->attributed == 0);
		}
		for (uint32_t k = 0; k < i; k++)
			check(c->lines[first + k].entity != line->entity);
	}
	for (uint32_t e = 0; e < s->tree->entity_count; e++)
		expected += expect_line(s, runs, is_caller, e).is_shown;
	expected += is_caller && expect_line(s, runs, true, NO_ID).is_shown;
	check(count == expected);
}

/* By weight, then name; what is recursive last. */
static void check_order(const struct callers *c, uint32_t first, uint32_t count)
{
	for (uint32_t i = first + 1; i < first + count; i++) {
		const struct callers_line *x = &c->lines[i - 1], *y = &c->lines[i];
		check(!x->is_recursive || y->is_recursive);
		if (x->is_recursive == y->is_recursive)
			check(x->attributed >= y->attributed);
	}
}

/* Whether the centre's figures deserve a row, which must be the given one, or NULL. */
static void check_centre(const struct subject *s, const struct callers *c,
	const struct centre *centre, const struct callers_row *r)
{
	struct slow_run runs[METRICS_MAX];
	uint64_t *places[METRICS_MAX];
	bool any = false;

	for (size_t m = 0; m < s->metric_count; m++) {
		places[m] = xcalloc(s->slow[m]->names.count, sizeof(*places[m]));
		runs[m] = slow_run(s, m, centre, places[m]);
		int64_t exclusive = slow_run_exclusive(s->slow[m], &runs[m]);
		int64_t inclusive = slow_run_inclusive(s->slow[m], &runs[m]);
		any |= exclusive != 0 || inclusive != 0;
		if (r) {
			const struct callers_row *of = &of_metric(c, m)->rows[r - c->rows];
			check(of->exclusive == exclusive && of->inclusive == inclusive);
			check(of->first_line == r->first_line && of->entity == r->entity);
			check(of->caller_count == r->caller_count);
			check(of->callee_count == r->callee_count);
		}
	}
	for (uint32_t e = 0; e < s->tree->entity_count && !any; e++)
		for (int side = 0; side < 2; side++) {
			struct expected_line line = expect_line(s, runs, side, e);
			any |= line.is_shown && !line.is_recursive;
		}
	check(any == (r != NULL));
	for (int side = 0; side < 2 && r; side++)
		check_side(s, c, (size_t)(r - c->rows), runs, side);
	if (r)
		check_order(c, r->first_line, r->caller_count);
	if (r)
		check_order(c, r->first_line + r->caller_count, r->callee_count);
	for (size_t m = 0; m < s->metric_count; m++)
		free(places[m]);
}

static void test_each_entity(struct subject *s)
{
	struct callers *c = callers_analyse(s->tree, NULL, s->arena);
	size_t lines = 0;

	check(callers_check(c));
	for (uint32_t e = 0; e < s->tree->entity_count; e++) {
		uint64_t *places = ARENA_ARRAY(s->arena, uint64_t, s->tree->entity_count);
		struct centre centre = {.length = 1, .places = places};
		const struct callers_row *row = NULL;
		for (size_t i = 0; i < c->count; i++)
			if (c->rows[i].entity == e)
				row = &c->rows[i];
		places[e] = 1;
		check_centre(s, c, &centre, row);
	}
	for (size_t i = 0; i < c->count; i++) {
		const struct callers_row *r = &c->rows[i];
		check(r->first_line == lines);
		lines += r->caller_count + r->callee_count;
		if (i > 0)
			check(r[-1].exclusive > r->exclusive ||
				(r[-1].exclusive == r->exclusive &&
					r[-1].inclusive >= r->inclusive));
	}
	check(lines == c->line_count);
}

/* A run out of some path of the tree, with further entities at its places now and then. */
static struct centre random_centre(struct subject *s)
{
	uint64_t *places = ARENA_ARRAY(s->arena, uint64_t, s->tree->entity_count);
	struct centre centre = {.places = places};
	uint32_t length = 1 + random_below(&s->random, 4);
	uint32_t node = 1 + random_below(&s->random, (uint32_t)s->tree->node_count - 1);
	uint32_t above = node;

	for (; centre.length < length && above != 0; centre.length++)
		above = entity_tree_parent(s->tree, above);
	for (uint32_t place = centre.length; place-- > 0; node = entity_tree_parent(s->tree, node))
		places[s->tree->entity[node]] |= 1ull << place;
	for (uint32_t more = random_below(&s->random, 3); more-- > 0;)
		places[random_below(&s->random, (uint32_t)s->tree->entity_count)] |=
			1ull << random_below(&s->random, centre.length);
	return centre;
}

static void test_fragments(struct subject *s)
{
	for (int i = 0; i < 3 && s->tree->node_count > 1; i++) {
		struct centre centre = random_centre(s);
		struct callers *c = callers_analyse(s->tree, &centre, s->arena);
		check(callers_check(c));
		check(c->count <= 1 && c->centre == &centre);
		check(c->count == 0 || c->rows[0].entity == NO_ID);
		check_centre(s, c, &centre, c->count ? &c->rows[0] : NULL);
	}
}

/* An entity as a centre of its own is what it is among all. */
static void test_alone_and_among_all(struct subject *s)
{
	struct callers *all = callers_analyse(s->tree, NULL, s->arena);

	for (size_t i = 0; i < all->count; i++) {
		const struct callers_row *x = &all->rows[i];
		uint64_t *places = ARENA_ARRAY(s->arena, uint64_t, s->tree->entity_count);
		struct centre centre = {.length = 1, .places = places};
		places[x->entity] = 1;
		struct callers *alone = callers_analyse(s->tree, &centre, s->arena);
		check(alone->count == 1 && alone->rows[0].inclusive == x->inclusive);
		check(alone->rows[0].caller_count == x->caller_count);
		check(alone->rows[0].callee_count == x->callee_count);
		for (size_t k = 0; k < alone->line_count; k++) {
			const struct callers_line *a = &alone->lines[k];
			const struct callers_line *b = &all->lines[x->first_line + k];
			check(a->entity == b->entity && a->attributed == b->attributed);
			check(a->is_recursive == b->is_recursive);
		}
	}
}

static void check_same_row(const struct callers *x, const struct callers *y, size_t row)
{
	const struct callers_row *a = &x->rows[row], *b = &y->rows[row];

	check(a->entity == b->entity && a->first_line == b->first_line);
	check(a->exclusive == b->exclusive && a->inclusive == b->inclusive);
	check(a->caller_count == b->caller_count && a->callee_count == b->callee_count);
	for (size_t k = 0; k < a->caller_count + a->callee_count; k++) {
		const struct callers_line *p = &x->lines[a->first_line + k];
		const struct callers_line *q = &y->lines[b->first_line + k];

		check(p->entity == q->entity && p->is_recursive == q->is_recursive);
		check(p->attributed == q->attributed);
	}
}

/* The first rows are those of all, and the others are counted. */
static void test_first_rows(struct subject *s)
{
	struct callers *all = callers_analyse(s->tree, NULL, s->arena);
	struct functions *functions = functions_analyse(s->tree, s->arena);
	size_t limit = 1 + random_below(&s->random, (uint32_t)s->tree->entity_count + 1);
	struct callers *first = callers_analyse_first(s->tree, functions, limit, s->arena);

	check(callers_check(first));
	check(first->count + first->left_out == all->count);
	check(first->count == all->count || first->count == limit);
	for (size_t i = 0; i < first->count; i++) {
		check_same_row(first, all, i);
		for (size_t k = 0; k < s->tree->other_count; k++)
			check_same_row(first->others[k], all->others[k], i);
	}
}

#define PROPERTY(name)                                                                             \
	TEST(run_##name)                                                                           \
	{                                                                                          \
		for_each_subject(test_##name);                                                     \
	}

PROPERTY(each_entity)
PROPERTY(fragments)
PROPERTY(alone_and_among_all)
PROPERTY(first_rows)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_each_entity),
		cmocka_unit_test(run_fragments),
		cmocka_unit_test(run_alone_and_among_all),
		cmocka_unit_test(run_first_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
