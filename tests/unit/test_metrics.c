/*
 * Several metrics at once: of each of them, every figure is what it is of that metric alone.
 *
 * Runs over many random profiles; SEED=number in the environment runs one of them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../unit.h"
#include "analysis/calltree.h"
#include "analysis/functions.h"
#include "base/alloc.h"

#define ROUNDS		 500
#define ROUNDS_SANITIZED 100
#define METRICS_MAX	 3

/* One random profile, looked at in one way. */
struct subject {
	struct random random;
	struct profile *profile;
	enum level level;
	bool spread;
	struct arena *arena;
};

static void subject_init(struct subject *s, uint64_t seed)
{
	struct random r = random_from(seed);
	struct random_shape shape = random_shape_any(&r);

	/* Few functions and much recursion, mostly. */
	if (random_below(&r, 8)) {
		shape = random_shape_small;
		shape.stacks = random_below(&r, 30);
		shape.depth_max = 1 + random_below(&r, 16);
		shape.negative = random_below(&r, 3) == 0;
		shape.weight_max = 1u << random_below(&r, 6);
	}
	shape.metrics = 1 + random_below(&r, METRICS_MAX);
	*s = (struct subject){
		.profile = random_profile(seed, &shape),
		.level = random_below(&r, 4) ? LEVEL_FUNCTION : LEVEL_MODULE,
		.spread = random_below(&r, 6) == 0,
		.arena = arena_create(),
	};
	s->random = r;
}

static void subject_deinit(struct subject *s)
{
	arena_destroy(s->arena);
	profile_destroy(s->profile);
}

static bool same_entity(
	const struct entity_tree *x, uint32_t a, const struct entity_tree *y, uint32_t b)
{
	return entity_compare(&x->entities[a], &y->entities[b]) == 0;
}

/* All metrics, in any order. */
static void choose_metrics(struct subject *s, metric_id *metrics)
{
	uint32_t count = (uint32_t)s->profile->metric_count;
	uint32_t first = random_below(&s->random, count);

	for (uint32_t m = 0; m < count; m++)
		metrics[m].i = (first + m) % count;
}

static struct entity_tree *tree_of(const struct subject *s, const metric_id *metrics, size_t count)
{
	struct entity_spec spec = {.level = s->level, .metrics = metrics, .metric_count = count};
	struct entity_tree *tree =
		entity_tree_create(selection_all(s->profile, s->arena), &spec, s->arena);

	return s->spread ? entity_tree_spread(tree, s->arena) : tree;
}

static void check_functions_alone(const struct functions *among, const struct functions *alone)
{
	size_t found = 0;

	for (size_t i = 0; i < among->count; i++) {
		const struct function_row *x = &among->rows[i], *y = NULL;

		for (size_t k = 0; k < alone->count && y == NULL; k++)
			if (same_entity(among->tree, x->entity, alone->tree, alone->rows[k].entity))
				y = &alone->rows[k];
		check(x->exclusive == (y ? y->exclusive : 0));
		check(x->inclusive == (y ? y->inclusive : 0));
		found += y != NULL;
	}
	check(found == alone->count);
}

/* The row among several metrics' that stands for row i of one alone. */
static uint32_t find_row(const struct calltree *among, uint32_t parent,
	const struct calltree *alone, const struct calltree_row *row)
{
	for (uint32_t i = parent == NO_ID ? 0 : parent + 1; i < among->count; i++)
		if (among->rows[i].parent == parent &&
			same_entity(among->tree, among->rows[i].entity, alone->tree, row->entity))
			return i;
	return NO_ID;
}

/* How many rows have a figure, or one below that has. */
static size_t count_rows(const struct calltree *t)
{
	bool *kept = xcalloc(t->count, sizeof(*kept));
	size_t count = 0;

	for (size_t i = t->count; i-- > 0;) {
		const struct calltree_row *r = &t->rows[i];

		kept[i] |= r->direct != 0 || r->indirect != 0 || r->in_only != 0 ||
			   (r->is_stub && t->stubs[r->stub].weight != 0);
		if (kept[i] && r->parent != NO_ID)
			kept[r->parent] = true;
		count += kept[i];
	}
	free(kept);
	return count;
}

static void check_stub(const struct calltree_stub *x, const struct calltree_stub *y)
{
	check(x->weight == y->weight);
	check(x->jumps_max == y->jumps_max);
	check(fabs(x->jumps_mean - y->jumps_mean) <= 1e-9 * (1 + fabs(y->jumps_mean)));
}

static void check_calltree_alone(const struct calltree *among, const struct calltree *alone)
{
	uint32_t *match = xcalloc(alone->count, sizeof(*match));

	for (uint32_t i = 0; i < alone->count; i++) {
		const struct calltree_row *y = &alone->rows[i];
		uint32_t parent = y->parent == NO_ID ? NO_ID : match[y->parent];

		match[i] = find_row(among, parent, alone, y);
		check(match[i] != NO_ID);
		const struct calltree_row *x = &among->rows[match[i]];
		check(x->level == y->level && x->is_stub == y->is_stub);
		check(x->direct == y->direct && x->indirect == y->indirect);
		check(x->in_only == y->in_only);
		if (!y->is_stub)
			continue;
		check(x->target == match[y->target]);
		check_stub(&among->stubs[x->stub], &alone->stubs[y->stub]);
	}
	check(count_rows(among) == alone->count);
	free(match);
}

static void check_tree(const struct entity_tree *among, const struct entity_tree *alone)
{
	int64_t sum = 0;

	check(among->total == alone->total && among->has_negative == alone->has_negative);
	check(among->node_count >= alone->node_count);
	for (uint32_t i = 0; i < among->node_count; i++)
		sum += entity_tree_weight(among, i);
	check(sum == alone->total && entity_tree_weight_below(among, 0) == sum);
}

static void test_several(struct subject *s)
{
	enum collapse collapse = (enum collapse)random_below(&s->random, COLLAPSE_COUNT);
	enum calltree_order order =
		random_below(&s->random, 2) ? CALLTREE_BY_WEIGHT : CALLTREE_FIRST_SEEN;
	metric_id metrics[METRICS_MAX + 2]; /* and the two of zones */

	choose_metrics(s, metrics);
	struct entity_tree *among = tree_of(s, metrics, s->profile->metric_count);
	struct functions *functions = functions_analyse(among, s->arena);
	struct calltree *calltree = calltree_analyse(among, collapse, order, NULL, s->arena);

	check(among->other_count + 1 == s->profile->metric_count);
	for (size_t k = 0; k <= among->other_count; k++) {
		struct entity_tree *alone = tree_of(s, &metrics[k], 1);

		check_tree(k ? among->others[k - 1] : among, alone);
		check_functions_alone(k ? functions->others[k - 1] : functions,
			functions_analyse(alone, s->arena));
		check_calltree_alone(k ? calltree->others[k - 1] : calltree,
			calltree_analyse(alone, collapse, order, NULL, s->arena));
	}
}

TEST(each_is_what_it_is_alone)
{
	for (struct property_seeds p = property_seeds(ROUNDS, ROUNDS_SANITIZED);
		property_next(&p);) {
		struct subject s;

		subject_init(&s, property_seed);
		test_several(&s);
		subject_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_is_what_it_is_alone)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
