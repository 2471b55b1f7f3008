/*
 * What must hold on every profile: sums and bounds of semantics.md sections 1 and 2, agreement with
 * the plain slow implementations, independence of the order of samples, linearity in the weights.
 *
 * Each test runs over many random profiles.  A failure names the profile's number; SEED=number in
 * the environment runs that one alone.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../property.h"
#include "../random_profile.h"
#include "../slow/slow_analysis.h"
#include "../unit.h"
#include "analysis/calltree.h"
#include "analysis/functions.h"
#include "analysis/stats.h"
#include "base/alloc.h"

/*
 * Sanitizers make a profile twenty times as slow.  They look for errors of memory, which hundreds
 * show as well as thousands; rare figures are for the plain build to find.
 */
#define ROUNDS		 500
#define ROUNDS_SANITIZED 100

/* One random profile, looked at in one way. */
struct subject {
	uint64_t seed;
	struct random random;
	struct random_shape shape;
	struct profile *profile;
	enum level level;
	metric_id metric;
	bool spread;
	struct arena *arena;
	struct entity_tree *tree;
	struct slow_stacks *slow;
};

/* Mostly few functions and much recursion; now and then anything at all. */
static struct random_shape subject_shape(struct random *r)
{
	if (random_below(r, 16) == 0)
		return random_shape_any(r);
	struct random_shape s = random_shape_small;
	s.functions = 1 + random_below(r, 7);
	s.objects = random_below(r, 4);
	s.stacks = random_below(r, 30);
	s.depth_max = 1 + random_below(r, 20);
	s.metrics = 1 + random_below(r, 2);
	s.weight_max = 1u << random_below(r, 10);
	s.negative = random_below(r, 3) == 0;
	s.places = random_below(r, 2);
	s.hostile = random_below(r, 4) == 0;
	return s;
}

static struct entity_tree *subject_tree(const struct subject *s, const struct profile *p)
{
	struct entity_tree *tree = entity_tree_of(p, s->level, s->metric, s->arena);

	return s->spread ? entity_tree_spread(tree, s->arena) : tree;
}

static void subject_init(struct subject *s, uint64_t seed)
{
	struct random r = random_from(seed);

	*s = (struct subject){.seed = seed};
	s->shape = subject_shape(&r);
	s->profile = random_profile(seed, &s->shape);
	s->level = random_below(&r, 4) ? LEVEL_FUNCTION : LEVEL_MODULE;
	s->metric.i = random_below(&r, s->shape.metrics);
	s->spread = random_below(&r, 6) == 0;
	s->random = r;
	s->arena = arena_create();
	s->tree = subject_tree(s, s->profile);
	s->slow = slow_stacks_create(s->profile, s->level, s->metric);
	if (s->spread)
		slow_stacks_spread(s->slow);
}

static void subject_deinit(struct subject *s)
{
	slow_stacks_destroy(s->slow);
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

/* All degrees in both orders: i from 0 to TREES - 1. */
#define TREES (2 * COLLAPSE_COUNT)

static struct calltree *subject_calltree(const struct subject *s, int i)
{
	return calltree_analyse(s->tree, (enum collapse)(i / 2),
		i % 2 ? CALLTREE_FIRST_SEEN : CALLTREE_BY_WEIGHT, NULL, s->arena);
}

/* ---- the entity tree ---- */

static void check_node(const struct entity_tree *t, const uint32_t *first_seen, uint32_t i)
{
	int64_t below = entity_tree_weight(t, i);
	uint32_t last_seen = first_seen[i], end = entity_tree_end(t, i);

	check(i == 0 ? entity_tree_parent(t, i) == 0 : entity_tree_parent(t, i) < i);
	check(end > i && end <= t->node_count);
	check(i == 0 ? t->entity[i] == NO_ID : t->entity[i] < t->entity_count);
	for (uint32_t c = i + 1; c < end; c = entity_tree_end(t, c)) {
		check(entity_tree_parent(t, c) == i);
		check(first_seen[c] > last_seen);
		last_seen = first_seen[c];
		below += entity_tree_weight_below(t, c);
		for (uint32_t d = entity_tree_end(t, c); d < end; d = entity_tree_end(t, d))
			check(t->entity[d] != t->entity[c]);
	}
	check(entity_tree_weight_below(t, i) == below);
}

static void test_entity_tree(struct subject *s)
{
	const struct entity_tree *t = s->tree;
	uint32_t depth_max = 0, *first_seen = entity_tree_first_seen(t);

	check(t->node_count >= 1 && entity_tree_end(t, 0) == t->node_count);
	for (uint32_t i = 0; i < t->node_count; i++)
		check_node(t, first_seen, i);
	free(first_seen);
	for (size_t i = 0; i < s->slow->stacks.count; i++)
		if (s->slow->stacks.data[i].depth > depth_max)
			depth_max = s->slow->stacks.data[i].depth;
	check(t->depth_max == depth_max);
	check(t->total == slow_total(s->slow));
	check(t->total == entity_tree_weight_below(t, 0));
}

static void test_stats(struct subject *s)
{
	struct stats stats = stats_analyse(selection_all(s->profile, s->arena), s->tree, s->arena);

	check(stats.total == slow_total(s->slow));
	check(stats.recursive == slow_recursive(s->slow));
	check(stats.stack_count <= s->slow->stacks.count);
	check(stats.entity_count <= s->slow->names.count);
	check(!s->spread || stats.recursive == 0);
}

/* ---- functions ---- */

static void check_function_row(
	const struct subject *s, const struct functions *f, const struct function_row *r)
{
	uint32_t name = slow_stacks_find(s->slow, &f->tree->entities[r->entity]);

	/* One that was called only, and never found at it. */
	if (name == NO_ID) {
		check(r->exclusive == 0 && r->inclusive == 0);
		check(r->calls != 0 && r->calls != UINT64_MAX);
		return;
	}
	check(r->exclusive == slow_exclusive(s->slow, name));
	check(r->inclusive == slow_inclusive(s->slow, name));
	if (!s->shape.negative)
		check(r->exclusive <= r->inclusive && r->inclusive <= f->tree->total);
}

/* Calls are the profile's, entity for entity, and in no row but that of who was called. */
static void check_calls(const struct subject *s, const struct functions *f)
{
	uint64_t sum = 0, expected = 0;

	check(f->tree->arc_count == 0 || f->tree->arc_count == s->profile->arc_count);
	for (size_t i = 0; i < f->tree->arc_count; i++) {
		const struct entity_arc *c = &f->tree->arcs[i];
		const struct arc *a = &s->profile->arcs[i];
		struct str name =
			profile_string(s->profile, s->profile->functions[a->callee.i].name);

		check(c->calls == a->calls && (c->caller == NO_ID) == (a->caller.i == NO_ID));
		if (s->level == LEVEL_FUNCTION)
			check(str_equal(f->tree->entities[c->callee].name, name));
		expected += c->caller != c->callee ? c->calls : 0;
	}
	for (size_t i = 0; i < f->count; i++)
		sum += f->rows[i].calls != UINT64_MAX ? f->rows[i].calls : 0;
	check(sum == expected);
}

static void test_functions(struct subject *s)
{
	struct functions *f = functions_analyse(s->tree, s->arena);
	int64_t sum = entity_tree_weight(s->tree, 0);
	size_t expected = 0;

	check_calls(s, f);
	for (size_t i = 0; i < f->count; i++) {
		check_function_row(s, f, &f->rows[i]);
		sum += f->rows[i].exclusive;
		if (i == 0)
			continue;
		const struct function_row *before = &f->rows[i - 1], *r = &f->rows[i];
		check(before->exclusive >= r->exclusive);
		if (before->exclusive == r->exclusive)
			check(before->inclusive >= r->inclusive);
	}
	check(sum == s->tree->total);
	for (uint32_t i = 0; i < s->slow->names.count; i++)
		expected += slow_exclusive(s->slow, i) != 0 || slow_inclusive(s->slow, i) != 0;
	size_t with_weight = 0;
	for (size_t i = 0; i < f->count; i++)
		with_weight += f->rows[i].exclusive != 0 || f->rows[i].inclusive != 0;
	check(with_weight == expected);
}

/* ---- the call tree ---- */

static void check_same_stub(const struct calltree_stub *x, const struct calltree_stub *y)
{
	check(x->weight == y->weight);
	check(x->jumps_max == y->jumps_max);
	check(fabs(x->jumps_mean - y->jumps_mean) <= 1e-9 * (1 + fabs(y->jumps_mean)));
}

static void check_same_row(
	const struct subject *s, const struct calltree_row *fast, const struct calltree_row *slow)
{
	check(slow_stacks_find(s->slow, &s->tree->entities[fast->entity]) == slow->entity);
	check(fast->level == slow->level);
	check(fast->parent == slow->parent);
	check(fast->is_stub == slow->is_stub);
	check(fast->target == slow->target);
	check(fast->direct == slow->direct);
	check(fast->indirect == slow->indirect);
	check(fast->in_only == slow->in_only);
}

static void test_agrees_with_slow(struct subject *s)
{
	for (int i = 0; i < TREES; i++) {
		struct calltree *fast = subject_calltree(s, i);
		struct slow_calltree *slow = slow_calltree_create(
			s->slow, fast->collapse, i % 2 ? CALLTREE_FIRST_SEEN : CALLTREE_BY_WEIGHT);
		check(fast->count == slow->rows.count);
		for (size_t k = 0; k < fast->count; k++)
			check_same_row(s, &fast->rows[k], &slow->rows.data[k]);
		check(fast->stub_count == slow->stubs.count);
		for (size_t k = 0; k < fast->count; k++)
			if (fast->rows[k].is_stub)
				check_same_stub(&fast->stubs[fast->rows[k].stub],
					&slow->stubs.data[slow->rows.data[k].stub]);
		slow_calltree_destroy(slow);
	}
}

/* In-only partitions the total, and per function it is the flat exclusive in every degree. */
static void test_in_only_sums(struct subject *s)
{
	struct functions *f = functions_analyse(s->tree, s->arena);
	int64_t *exclusive = xcalloc(s->tree->entity_count, sizeof(*exclusive));

	for (int i = 0; i < TREES; i++) {
		struct calltree *t = subject_calltree(s, i);
		int64_t sum = entity_tree_weight(s->tree, 0);
		for (size_t k = 0; k < t->count; k++) {
			exclusive[t->rows[k].entity] += t->rows[k].in_only;
			sum += t->rows[k].in_only;
		}
		check(sum == s->tree->total);
		for (size_t k = 0; k < f->count; k++) {
			check(exclusive[f->rows[k].entity] == f->rows[k].exclusive);
			exclusive[f->rows[k].entity] = 0;
		}
		for (size_t k = 0; k < s->tree->entity_count; k++)
			check(exclusive[k] == 0);
	}
	free(exclusive);
}

static bool is_ancestor_or_self(const struct calltree *t, uint32_t a, uint32_t row)
{
	while (row != NO_ID && row != a)
		row = t->rows[row].parent;
	return row == a;
}

static void check_row_shape(const struct calltree *t, uint32_t i)
{
	const struct calltree_row *r = &t->rows[i];

	check(r->parent == NO_ID ? r->level == 1 : r->level == t->rows[r->parent].level + 1);
	check(r->parent == NO_ID || r->parent < i);
	check(r->parent == NO_ID || !t->rows[r->parent].is_stub);
	check(i == 0 ? r->level == 1 : r->level <= t->rows[i - 1].level + 1);
	if (r->is_stub) {
		check(is_ancestor_or_self(t, r->target, r->parent));
		check(t->rows[r->target].entity == r->entity);
		check(r->direct == 0 && r->indirect == 0 && r->in_only == 0);
		check(r->stub < t->stub_count && t->stubs[r->stub].jumps_max >= 1);
	} else {
		check(r->target == NO_ID && r->stub == NO_ID);
	}
}

/* Among siblings an entity stands once, as a node or as a stub. */
static void check_siblings(const struct calltree *t, uint32_t i)
{
	for (uint32_t k = i; k-- > 0 && t->rows[k].level >= t->rows[i].level;)
		check(t->rows[k].parent != t->rows[i].parent ||
			t->rows[k].entity != t->rows[i].entity);
}

static void check_weights_fall(const struct calltree *t, uint32_t i)
{
	const struct calltree_row *r = &t->rows[i];
	int64_t above = r->parent == NO_ID
				? t->tree->total
				: t->rows[r->parent].direct + t->rows[r->parent].indirect;

	check(r->direct >= 0 && r->indirect >= 0 && r->in_only >= 0);
	check(r->direct + r->indirect <= above);
	check(r->in_only <= r->direct + r->indirect || r->is_stub);
	check(!r->is_stub || t->stubs[r->stub].weight <= above);
}

static void test_tree_shape(struct subject *s)
{
	for (int i = 0; i < TREES; i++) {
		struct calltree *t = subject_calltree(s, i);
		uint32_t level_max = 0;
		for (uint32_t k = 0; k < t->count; k++) {
			check_row_shape(t, k);
			check_siblings(t, k);
			if (!s->shape.negative)
				check_weights_fall(t, k);
			if (t->rows[k].level > level_max)
				level_max = t->rows[k].level;
		}
		check(t->level_max == level_max);
	}
}

/* Nodes are at most k deep (full) or k(k+1)/2 (conservative); a stub stands one level below. */
static void test_depth_bounds(struct subject *s)
{
	size_t k = s->tree->entity_count;
	struct calltree *full = subject_calltree(s, 2 * COLLAPSE_FULL);
	struct calltree *conservative = subject_calltree(s, 2 * COLLAPSE_CONSERVATIVE);
	struct calltree *none = subject_calltree(s, 2 * COLLAPSE_NONE);

	for (size_t i = 0; i < full->count; i++)
		check(full->rows[i].is_stub || full->rows[i].level <= k);
	for (size_t i = 0; i < conservative->count; i++)
		check(conservative->rows[i].is_stub ||
			conservative->rows[i].level <= k * (k + 1) / 2);
	for (size_t i = 0; i < none->count; i++)
		check(!none->rows[i].is_stub);
}

/* ---- order and weights ---- */

static bool same_entity(
	const struct entity_tree *x, uint32_t a, const struct entity_tree *y, uint32_t b)
{
	return entity_compare(&x->entities[a], &y->entities[b]) == 0;
}

static void check_same_functions(const struct functions *x, const struct functions *y)
{
	check(x->count == y->count);
	for (size_t i = 0; i < x->count; i++) {
		check(same_entity(x->tree, x->rows[i].entity, y->tree, y->rows[i].entity));
		check(x->rows[i].exclusive == y->rows[i].exclusive);
		check(x->rows[i].inclusive == y->rows[i].inclusive);
	}
}

static void check_same_calltree(const struct calltree *x, const struct calltree *y)
{
	check(x->count == y->count);
	for (size_t i = 0; i < x->count; i++) {
		const struct calltree_row *a = &x->rows[i], *b = &y->rows[i];
		check(same_entity(x->tree, a->entity, y->tree, b->entity));
		check(a->level == b->level && a->target == b->target);
		check(a->direct == b->direct && a->indirect == b->indirect);
		check(a->in_only == b->in_only);
		if (a->is_stub)
			check_same_stub(&x->stubs[a->stub], &y->stubs[b->stub]);
	}
}

static void test_order_of_samples(struct subject *s)
{
	struct profile *other =
		random_profile_shuffled(s->seed, random_next(&s->random), &s->shape);
	struct entity_tree *tree = subject_tree(s, other);

	check_same_functions(
		functions_analyse(s->tree, s->arena), functions_analyse(tree, s->arena));
	for (enum collapse c = 0; c < COLLAPSE_COUNT; c++)
		check_same_calltree(
			calltree_analyse(s->tree, c, CALLTREE_BY_WEIGHT, NULL, s->arena),
			calltree_analyse(tree, c, CALLTREE_BY_WEIGHT, NULL, s->arena));
	profile_destroy(other);
}

/* Whether a row is to be kept, by what stands in the rows of the whole tree. */
struct ranked {
	uint64_t *rank; /* [row] */
	uint64_t threshold;
	size_t equals; /* rows of that rank that there is room for */
};

static int descending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x < y) - (x > y);
}

static struct ranked rank_rows(const struct calltree *t, size_t limit, struct arena *arena)
{
	struct ranked r = {.rank = ARENA_ARRAY(arena, uint64_t, t->count)};
	uint64_t *sorted = ARENA_ARRAY(arena, uint64_t, t->count);

	for (size_t i = t->count; i-- > 0;) {
		const struct calltree_row *row = &t->rows[i];
		uint64_t own = (uint64_t)llabs(row->direct) + (uint64_t)llabs(row->indirect);

		if (own > r.rank[i])
			r.rank[i] = own;
		if (row->parent != NO_ID && r.rank[row->parent] < r.rank[i])
			r.rank[row->parent] = r.rank[i];
	}
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].is_stub && t->rows[i].parent != NO_ID)
			r.rank[i] = r.rank[t->rows[i].parent];
	memcpy(sorted, r.rank, t->count * sizeof(*sorted));
	qsort(sorted, t->count, sizeof(*sorted), descending);
	r.threshold = sorted[limit - 1];
	for (size_t i = 0; i < limit; i++)
		r.equals += sorted[i] == r.threshold;
	return r;
}

/* The rows of a limit are those of the whole tree that rank highest, with the same figures. */
static void check_limit(
	const struct subject *s, enum collapse collapse, enum calltree_order order, size_t rows)
{
	struct calltree_limit limit = {.rows = rows}, keeps = {.rows = rows, .keeps_others = true};
	const struct calltree *whole = calltree_analyse(s->tree, collapse, order, NULL, s->arena);
	const struct calltree *few = calltree_analyse(s->tree, collapse, order, &limit, s->arena);
	const struct calltree *both = calltree_analyse(s->tree, collapse, order, &keeps, s->arena);
	size_t count = 0;

	check(few->whole_count == whole->count && both->count == whole->count);
	if (rows >= whole->count) {
		check_same_calltree(few, whole);
		return;
	}
	struct ranked r = rank_rows(whole, rows, s->arena);
	uint32_t *place = ARENA_ARRAY(s->arena, uint32_t, whole->count);
	check(few->count == rows && few->shown_count == rows && both->shown_count == rows);
	for (uint32_t i = 0; i < whole->count; i++) {
		const struct calltree_row *a = &whole->rows[i], *b = &few->rows[count];

		if (r.rank[i] < r.threshold || (r.rank[i] == r.threshold && r.equals == 0))
			continue;
		r.equals -= r.rank[i] == r.threshold;
		check(both->shown[count] == i);
		place[i] = (uint32_t)count++;
		check(a->entity == b->entity && a->level == b->level && a->is_stub == b->is_stub);
		check(a->direct == b->direct && a->indirect == b->indirect);
		check(a->in_only == b->in_only);
		check(b->parent == (a->parent == NO_ID ? NO_ID : place[a->parent]));
		check(b->target == (a->target == NO_ID ? NO_ID : place[a->target]));
		if (a->is_stub)
			check_same_stub(&whole->stubs[a->stub], &few->stubs[b->stub]);
	}
	check(count == rows);
}

static void test_limits(struct subject *s)
{
	for (enum collapse c = 0; c < COLLAPSE_COUNT; c++)
		for (int order = CALLTREE_BY_WEIGHT; order <= CALLTREE_BY_CHANGE; order++)
			check_limit(s, c, (enum calltree_order)order,
				1 + random_below(&s->random, (uint32_t)s->tree->node_count + 1));
}

/* The subject's stacks with other weights. */
struct reweighted {
	struct profile profile;
	int64_t *weight; /* [stack] */
	const int64_t *weights[1];
	int64_t total;
};

static struct entity_tree *reweighted_tree(struct reweighted *w, const struct subject *s)
{
	w->profile = *s->profile;
	size_t count = s->profile->stack_count;
	int64_t *rows = ARENA_ARRAY(s->arena, int64_t, count + 1);
	uint64_t *all = rank_set_bits(count, s->arena);
	w->total = 0;
	for (uint32_t i = 0; i < count; i++) {
		rank_set_put(all, i);
		rows[i + 1] = w->weight[i];
		w->total += w->weight[i];
	}
	w->profile.weighted = rank_set_make(all, count, s->arena);
	w->profile.row_count = count + 1;
	w->weights[0] = rows;
	w->profile.row_weight = w->weights;
	w->profile.total = &w->total;
	w->profile.metric_count = 1;
	return entity_tree_of(&w->profile, s->level, (metric_id){0}, s->arena);
}

static int64_t stub_weight(const struct calltree *t, const struct calltree_row *r)
{
	return r->is_stub ? t->stubs[r->stub].weight : 0;
}

/*
 * Rows of the difference, in first-seen order, are among those of the minuend; what is missing is
 * equal in both.
 */
static void check_difference(
	const struct calltree *x, const struct calltree *y, const struct calltree *diff)
{
	size_t d = 0;

	check(x->count == y->count);
	for (size_t i = 0; i < x->count; i++) {
		const struct calltree_row *a = &x->rows[i], *b = &y->rows[i];
		const struct calltree_row *r = d < diff->count ? &diff->rows[d] : NULL;
		check(a->level == b->level && a->entity == b->entity);
		if (r && r->level == a->level && r->entity == a->entity) {
			check(r->direct == a->direct - b->direct);
			check(r->indirect == a->indirect - b->indirect);
			check(r->in_only == a->in_only - b->in_only);
			check(stub_weight(diff, r) == stub_weight(x, a) - stub_weight(y, b));
			d++;
		} else {
			check(a->direct == b->direct && a->indirect == b->indirect);
			check(a->in_only == b->in_only);
			check(stub_weight(x, a) == stub_weight(y, b));
		}
	}
	check(d == diff->count);
}

static void test_linear_in_weights(struct subject *s)
{
	enum { X, Y, DIFF, COUNT };
	size_t stacks = s->profile->stack_count;
	struct reweighted w[COUNT];
	struct entity_tree *trees[COUNT];

	for (int k = 0; k < COUNT; k++)
		w[k].weight = xcalloc(stacks, sizeof(*w[k].weight));
	for (size_t i = 0; i < stacks; i++) {
		/* Different, so that the same stacks are seen in all three. */
		w[X].weight[i] = 1 + random_below(&s->random, 5);
		w[Y].weight[i] = w[X].weight[i] + 1 + random_below(&s->random, 5);
		if (random_below(&s->random, 2) && w[X].weight[i] > 1)
			w[Y].weight[i] = 1;
		w[DIFF].weight[i] = w[X].weight[i] - w[Y].weight[i];
	}
	for (int k = 0; k < COUNT; k++)
		trees[k] = reweighted_tree(&w[k], s);
	for (enum collapse c = 0; c < COLLAPSE_COUNT; c++) {
		struct calltree *t[COUNT];
		for (int k = 0; k < COUNT; k++)
			t[k] = calltree_analyse(trees[k], c, CALLTREE_FIRST_SEEN, NULL, s->arena);
		check_difference(t[X], t[Y], t[DIFF]);
	}
	for (int k = 0; k < COUNT; k++)
		free(w[k].weight);
}

#define PROPERTY(name)                                                                             \
	TEST(run_##name)                                                                           \
	{                                                                                          \
		for_each_subject(test_##name);                                                     \
	}

PROPERTY(entity_tree)
PROPERTY(stats)
PROPERTY(functions)
PROPERTY(agrees_with_slow)
PROPERTY(in_only_sums)
PROPERTY(tree_shape)
PROPERTY(depth_bounds)
PROPERTY(order_of_samples)
PROPERTY(limits)
PROPERTY(linear_in_weights)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_entity_tree),
		cmocka_unit_test(run_stats),
		cmocka_unit_test(run_functions),
		cmocka_unit_test(run_agrees_with_slow),
		cmocka_unit_test(run_in_only_sums),
		cmocka_unit_test(run_tree_shape),
		cmocka_unit_test(run_depth_bounds),
		cmocka_unit_test(run_order_of_samples),
		cmocka_unit_test(run_limits),
		cmocka_unit_test(run_linear_in_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
